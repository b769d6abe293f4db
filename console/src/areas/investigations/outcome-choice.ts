/** Outcomes of a case, with what is missing for each. Pure. */
import type { Step } from './investigation-queries.ts'

export interface WrittenOutcome {
  readonly code?: string
  readonly needs?: readonly string[]
}

type KnownStep = Pick<Step, 'step_key' | 'title' | 'state' | 'problem'>

/** Nobody will do it: an officer waived it, or its condition does not apply. One that could not be asked may still be. */
const isGivenUp = ({ state, problem }: KnownStep): boolean =>
  state === 'waived' || (state === 'skipped' && problem === null)

/** Outcomes in their short form, a code alone, need nothing. */
export const toOutcomes = (definition: object | undefined): readonly WrittenOutcome[] => {
  const outcomes = (definition as { readonly outcomes?: unknown } | undefined)?.outcomes
  if (!Array.isArray(outcomes)) return []
  return outcomes.map((one) => (typeof one === 'string' ? { code: one } : (one as WrittenOutcome)))
}

/**
 * Titles of the steps that an outcome needs and that are not done, by its code. A case may end without steps that were given up only where every outcome
 * that is left needs one of them.
 */
export function listMissingSteps(
  outcomes: readonly WrittenOutcome[],
  allowed: readonly string[],
  steps: readonly KnownStep[],
): ReadonlyMap<string, readonly string[]> {
  const find = (key: string) => steps.find(({ step_key }) => step_key === key)
  const isLost = (key: string) => {
    const step = find(key)
    return step !== undefined && isGivenUp(step)
  }
  const isLeft = outcomes.some(({ code = '', needs = [] }) => allowed.includes(code) && !needs.some(isLost))
  const isMissing = (key: string) => find(key)?.state !== 'succeeded' && (isLeft || !isLost(key))
  return new Map(
    outcomes.map(({ code = '', needs = [] }) => [code, needs.filter(isMissing).map((key) => find(key)?.title ?? key)]),
  )
}
