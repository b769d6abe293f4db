/**
 * A module can review changes that another module makes: it is called inside the transaction before the change, and the function it
 * returns is called after the change and returns everything that must prevent the commit.
 */
import type { Tx } from '../database/tx.ts'

/** The review of a stored proposal, after it was stored. What it returns are members of the request that it changed. */
export const PROPOSAL_REVIEW = 'proposal'

export type FinishReview = () => Promise<readonly unknown[]>

/** A declared review with its types erased. */
export interface ChangeReview {
  readonly uses: readonly string[]
  readonly begin: (kernel: object, tx: Tx, change: unknown) => Promise<FinishReview>
}

interface ReviewingModule {
  readonly reviews?: Readonly<Record<string, ChangeReview>>
}

export class ChangeReviews {
  readonly #modules: readonly ReviewingModule[]
  readonly #pick: (uses: readonly string[]) => object

  /** `pick` gives each review the capabilities it declares. */
  constructor(modules: readonly ReviewingModule[], pick: (uses: readonly string[]) => object) {
    this.#modules = modules
    this.#pick = pick
  }

  /** Calls every review of that name, one after the other, and returns how each is finished after the change. */
  async begin(name: string, tx: Tx, change: unknown): Promise<FinishReview[]> {
    const finish: FinishReview[] = []
    for (const { reviews } of this.#modules) {
      const review = reviews?.[name]
      if (review) finish.push(await review.begin(this.#pick(review.uses), tx, change))
    }
    return finish
  }
}
