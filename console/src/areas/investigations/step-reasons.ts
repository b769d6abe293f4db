/** Why a step of a playbook is done or left out, in words. Pure. */
import { formatCondition } from '#console/ui/decision/format-condition.ts'
import { toWords } from '#console/ui/format.ts'
import type { Step } from './investigation-queries.ts'

/** Values by fact, as the playbook writes them: `{ ownership_layers: '>= 3' }`. */
export type StepCondition = Readonly<Record<string, string>>

const comparisons: Readonly<Record<string, string>> = {
  '>=': 'is at least',
  '<=': 'is at most',
  '>': 'is more than',
  '<': 'is less than',
}

const toAlternatives = (values: string): string =>
  values
    .split(',')
    .map((value) => toWords(value.trim().replace(/^"(.*)"$/, '$1')))
    .join(' or ')

/** `>= 3` → `is at least 3`. What has no plain form is shown as it is written. */
export function describeTest(test: string): string {
  const text = test.trim()
  const [, comparison = '', bound = ''] = /^(>=|<=|>|<)\s*([^,]+)$/.exec(text) ?? []
  if (comparisons[comparison] !== undefined) return `${comparisons[comparison]} ${formatCondition(bound)}`
  const [, list] = /^in list\(\s*([a-z0-9-]+)\s*\)$/.exec(text) ?? []
  if (list !== undefined) return `is in the list ${toWords(list)}`
  const [, excluded] = /^not\(((?:"[^"]*"|[\w.-]+)(?:\s*,\s*(?:"[^"]*"|[\w.-]+))*)\)$/.exec(text) ?? []
  if (excluded !== undefined) return `is not ${toAlternatives(excluded)}`
  if (/^(?:"[^"]*"|[\d.]+)(?:\s*,\s*(?:"[^"]*"|[\d.]+))*$/.test(text)) return `is ${toAlternatives(text)}`
  return `fulfils ${formatCondition(text)}`
}

export const describeCondition = (condition: StepCondition): string =>
  Object.entries(condition)
    .map(([fact, test]) => `${toWords(fact)} ${describeTest(test)}`)
    .join(' and ')

interface Reasoned extends Pick<Step, 'state' | 'problem' | 'is_required' | 'kind'> {
  /** Null: it applies to every subject. */
  readonly condition: StepCondition | null
  /** Titles of the steps that it follows. */
  readonly after: readonly string[]
}

/** Null where its state says enough. */
export function describeReason({ state, problem, is_required, condition, after }: Reasoned): string | null {
  const words = condition === null || Object.keys(condition).length === 0 ? null : describeCondition(condition)
  if (state === 'skipped') return words === null || problem !== null ? null : `Left out: needed only if ${words}.`
  if (state === 'pending') return words === null ? null : `Only if ${words}.`
  if (state !== 'waiting') return words === null ? null : `Needed because ${words}.`
  const why =
    words === null ? (after.length === 0 ? '' : `Opened after ${after.join(', ')}.`) : `Needed because ${words}.`
  return `${why}${is_required ? '' : ' The case can be closed without it.'}`.trim() || null
}
