/** Whether a decision is what a golden case expects, in words where it is not. */
import type { Decision, Finding } from '#decision/model.ts'

/** A definition has at most so many golden cases: each is run whenever it is proved. */
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

/** Each expectation that is not met; only what a case names is compared. */
export function findDifferences(expected: Expected, decision: Decision): string[] {
  if (!decision.ok) return decision.findings.map(({ message }) => message)
  const outcome = decision.outcome as unknown as Record<string, unknown>
  return Object.entries(expected).flatMap(([name, wanted]) => {
    const got = outcome[name]
    return JSON.stringify(got) === JSON.stringify(wanted)
      ? []
      : [`${name} is ${toText(got)}, and ${toText(wanted)} is expected`]
  })
}

/** What a refused decision says comes as whole sentences; here they are parts of one. */
const withoutStop = (difference: string): string => difference.replace(/\.$/, '')

export const toCaseFinding = ({ name, inputs }: GoldenCase, differences: readonly string[]): Finding => ({
  code: 'golden_case_failed',
  pointer: '',
  message: `The golden case "${name}" is not met: ${differences.map(withoutStop).join('; ')}.`.slice(0, 2000),
  severity: 'error',
  example: inputs,
})
