/** The result of a check, step by step in the order of admission. Pure. */
import type { Schemas } from '@probity/client'
import type { Violation } from '#console/ui/definition/violations.ts'
import type { Contract } from './contract-model.ts'

type Check = Schemas['ContractCheck']
type Note = Check['notes'][number]

const names = ['size', 'format', 'records', 'schema', 'lists', 'provenance', 'freshness', 'checks'] as const
export type StepName = (typeof names)[number]

export interface AdmissionStep {
  readonly name: StepName
  readonly title: string
  /** `skipped`: the contract demands nothing there. `not_reached`: an earlier step could not read the payload. */
  readonly state: 'passed' | 'failed' | 'noted' | 'skipped' | 'not_reached'
  readonly violations: readonly Violation[]
  readonly notes: readonly Note[]
}

const stepByKeyword: Readonly<Record<string, StepName>> = {
  bytes: 'size',
  limits: 'size',
  json: 'format',
  xml: 'format',
  records: 'records',
  one_of: 'lists',
  provenance: 'provenance',
  freshness: 'freshness',
}

const findStep = ({ code, keyword }: Pick<Violation, 'code' | 'keyword'>): StepName =>
  code === 'check_failed' ? 'checks' : (stepByKeyword[keyword] ?? 'schema')

const findNoteStep = ({ code }: Pick<Note, 'code'>): StepName =>
  code.startsWith('check_failed:') ? 'checks' : code === 'age_unknown' ? 'freshness' : 'schema'

/** Where the contract demands nothing, the step is skipped. */
function isDemanded(name: StepName, { facts = [], provenance, freshness, checks = [] }: Contract): boolean {
  if (name === 'lists') return facts.some(({ one_of }) => one_of !== undefined)
  if (name === 'provenance') return (provenance?.required ?? []).length > 0
  if (name === 'freshness') return freshness !== undefined
  return name !== 'checks' || checks.length > 0
}

export function toAdmissionSteps(
  check: Pick<Check, 'violations' | 'notes'>,
  contract: Contract,
  isXml: boolean,
): AdmissionStep[] {
  const titles: Readonly<Record<StepName, string>> = {
    size: 'Size',
    format: isXml ? 'XML' : 'JSON',
    records: 'Records',
    schema: 'Schema and facts',
    lists: 'Lists',
    provenance: 'Source and date',
    freshness: 'Freshness',
    checks: 'Checks',
  }
  const failed = new Set(check.violations.map(findStep))
  const unreadable = names.slice(0, 3).findIndex((name) => failed.has(name))
  return names.map((name, place) => {
    const violations = check.violations.filter((violation) => findStep(violation) === name)
    const notes = check.notes.filter((note) => findNoteStep(note) === name)
    const isReached = unreadable === -1 || place <= unreadable
    const state = !isReached
      ? 'not_reached'
      : violations.length > 0
        ? 'failed'
        : notes.length > 0
          ? 'noted'
          : isDemanded(name, contract)
            ? 'passed'
            : 'skipped'
    return { name, title: titles[name], state, violations, notes }
  })
}
