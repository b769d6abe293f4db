/** Compares a decision with a golden case and describes the differences. */
import type { Decision, Finding } from '#decision/model.ts'

/** Maximum number of golden cases of a definition: all of them run with every proof. */
export const MAX_CASES = 500

export interface Expected {
  readonly band?: string
  readonly score_bps?: number
  readonly hit?: boolean
  readonly reason_codes?: readonly string[]
}
export interface GoldenCase {
  readonly name: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly expected: Expected
}

const toText = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value))

/** Each expectation that is not met; only members that the case names are compared. */
export function findDifferences(expected: Expected, decision: Decision): string[] {
  if (!decision.ok) return decision.findings.map(({ message }) => message)
  const outcome = decision.outcome as unknown as Record<string, unknown>
  return Object.entries(expected).flatMap(([name, wanted]) => {
    const actual = outcome[name]
    return JSON.stringify(actual) === JSON.stringify(wanted)
      ? []
      : [`${name} is ${toText(actual)}, and ${toText(wanted)} is expected`]
  })
}

/** Messages of refused decisions are sentences; here they become parts of one. */
const removeFullStop = (difference: string): string => difference.replace(/\.$/, '')

export const toCaseFinding = ({ name, inputs }: GoldenCase, differences: readonly string[]): Finding => ({
  code: 'golden_case_failed',
  pointer: '',
  message: `The golden case "${name}" is not met: ${differences.map(removeFullStop).join('; ')}.`.slice(0, 2000),
  severity: 'error',
  example: inputs,
})
