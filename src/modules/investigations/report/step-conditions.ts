/** Conditions of steps in words: why a step was left out. The pages of a case say the same. */
import type { playbookModel } from '#modules/playbooks/index.ts'

const comparisons: Readonly<Record<string, string>> = {
  '>=': 'is at least',
  '<=': 'is at most',
  '>': 'is more than',
  '<': 'is less than',
}

const toWords = (code: string): string => code.replaceAll(/[-_]/g, ' ')

const toAlternatives = (values: string): string =>
  values
    .split(',')
    .map((value) => toWords(value.trim().replace(/^"(.*)"$/, '$1')))
    .join(' or ')

/** What has no plain form is shown as it is written. */
function describeTest(test: string): string {
  const text = test.trim()
  const [, comparison = '', bound = ''] = /^(>=|<=|>|<)\s*([^,]+)$/.exec(text) ?? []
  if (comparisons[comparison] !== undefined) return `${comparisons[comparison]} ${bound}`
  const [, list] = /^in list\(\s*([a-z0-9-]+)\s*\)$/.exec(text) ?? []
  if (list !== undefined) return `is in the list ${toWords(list)}`
  const [, excluded] = /^not\(((?:"[^"]*"|[\w.-]+)(?:\s*,\s*(?:"[^"]*"|[\w.-]+))*)\)$/.exec(text) ?? []
  if (excluded !== undefined) return `is not ${toAlternatives(excluded)}`
  if (/^(?:"[^"]*"|[\d.]+)(?:\s*,\s*(?:"[^"]*"|[\d.]+))*$/.test(text)) return `is ${toAlternatives(text)}`
  return `fulfils ${text}`
}

/** By the key of the step; those that apply to every subject have none. */
export const describeConditions = ({
  steps,
}: Pick<playbookModel.Playbook, 'steps'>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    steps.flatMap(({ key, when }) => {
      const tests = Object.entries(when ?? {}).map(([fact, test]) => `${toWords(fact)} ${describeTest(test)}`)
      return tests.length === 0 ? [] : [[key, tests.join(' and ')]]
    }),
  )
