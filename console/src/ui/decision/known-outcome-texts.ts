/** Describes how a change affects the agreement with overrides. Pure. */
import { formatCount } from '../format.ts'

interface Counts {
  readonly decisions: number
  readonly agreed_before: number
  readonly agreed_after: number
}

/** The summary for an approver. */
export function describeAgreement({ decisions, agreed_before, agreed_after }: Counts): string {
  const gain = agreed_after - agreed_before
  const change = gain === 0 ? 'no change' : `${Math.abs(gain)} ${gain > 0 ? 'more' : 'fewer'}`
  const whom = `${formatCount(decisions, 'decision')} about subjects with an overridden rating`
  return `Of ${whom}, ${agreed_before} ${agreed_before === 1 ? 'agrees' : 'agree'} with the override today; with this change ${agreed_after} would (${change}).`
}

interface Outcome {
  readonly outcome: string
  readonly before: string | null
  readonly after: string | null
}

/** Classifies one combination of override, current and new band. */
export function classifyChange({
  outcome,
  before,
  after,
}: Outcome): 'agrees' | 'agrees after the change' | 'no longer agrees' | 'differs' {
  if (before === outcome) return after === outcome ? 'agrees' : 'no longer agrees'
  return after === outcome ? 'agrees after the change' : 'differs'
}
