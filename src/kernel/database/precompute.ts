/**
 * Work that turns out to be necessary inside a transaction and must not be awaited there. The transaction is rolled back, the
 * work runs while no connection is held, and the transaction is retried and finds the result.
 */
import { fail } from '../problem.ts'

/** The state may have changed when the transaction is retried; after this many attempts it fails. */
const ATTEMPTS = 8

/** Thrown inside a transaction. The work must not use the transaction, which has ended by then. */
export class NeedsPrecompute extends Error {
  readonly work: () => Promise<unknown>
  /** How often the transaction may be attempted; more than usual where each attempt comes a known step further. */
  readonly attempts: number
  constructor(work: () => Promise<unknown>, options: { readonly attempts?: number } = {}) {
    super('There is work to be done before this transaction')
    this.name = 'NeedsPrecompute'
    this.work = work
    this.attempts = options.attempts ?? ATTEMPTS
  }
}

export async function retryAfterPrecompute<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof NeedsPrecompute)) throw error
      if (attempts >= error.attempts) {
        fail('overloaded', { detail: 'The data changed during every attempt. Repeat the request.', retry_after_s: 1 })
      }
      await error.work()
    }
  }
}

/** Runs `compute` for every item before it throws, so that all necessary work is known and done at once. */
export async function mapWithPrecompute<Item, Result>(
  items: readonly Item[],
  compute: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const needed: NeedsPrecompute[] = []
  for (const item of items) {
    try {
      results.push(await compute(item))
    } catch (error) {
      if (!(error instanceof NeedsPrecompute)) throw error
      needed.push(error)
    }
  }
  if (needed.length > 0) {
    const attempts = Math.max(...needed.map((one) => one.attempts))
    throw new NeedsPrecompute(
      async () => {
        for (const { work } of needed) await work()
      },
      { attempts },
    )
  }
  return results
}
