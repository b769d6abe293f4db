/** What a change does to the agreement with people who overrode a rating, in words. Pure. */
import { formatCount } from '../format.ts'

interface Counts {
  readonly decisions: number
  readonly agreed_before: number
  readonly agreed_after: number
}

/** The sum of it, as an approver reads it first. */
export function describeAgreement({ decisions, agreed_before, agreed_after }: Counts): string {
  const gain = agreed_after - agreed_before
  const change = gain === 0 ? 'as many' : `${Math.abs(gain)} ${gain > 0 ? 'more' : 'fewer'}`
  const whom = `${formatCount(decisions, 'decision')} about subjects whose rating a person has overridden`
  return `Of ${whom}, ${agreed_before} ${agreed_before === 1 ? 'agrees' : 'agree'} with that person today; with this change it would be ${agreed_after}, ${change}.`
}

interface Outcome {
  readonly outcome: string
  readonly before: string | null
  readonly after: string | null
}

/** What becomes of one combination. */
export function classifyTurn({
  outcome,
  before,
  after,
}: Outcome): 'agrees' | 'comes to agree' | 'no longer agrees' | 'differs' {
  if (before === outcome) return after === outcome ? 'agrees' : 'no longer agrees'
  return after === outcome ? 'comes to agree' : 'differs'
}
