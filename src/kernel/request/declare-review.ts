/** Declares a review of changes together with the capabilities it uses. */
import type { Tx } from '../database/tx.ts'
import type { Capabilities, Capability } from '../kernel.ts'
import type { ChangeReview, FinishReview } from './change-reviews.ts'

export const declareReview = <const U extends Capability = never>(spec: {
  readonly uses: readonly U[]
  readonly begin: (kernel: Capabilities<U>, tx: Tx, change: unknown) => Promise<FinishReview>
}): ChangeReview => spec as unknown as ChangeReview
