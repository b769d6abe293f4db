/**
 * Work that is found necessary inside a transaction and must not be waited for there. The transaction is undone, the work is
 * done while no connection is held, and the transaction is run again, where the work has left its result within reach.
 */
import { fail } from '../problem.ts'

/** Thrown inside a transaction. Nothing of the transaction may be used by the work: by then it is gone. */
export class NeedsPrecompute extends Error {
  readonly work: () => Promise<unknown>
  constructor(work: () => Promise<unknown>) {
    super('There is work to be done before this transaction')
    this.name = 'NeedsPrecompute'
    this.work = work
  }
}

/** What was prepared may have moved when the transaction looks again; beyond so many times others should have their turn. */
const ATTEMPTS = 8

export async function retryAfterPrecompute<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof NeedsPrecompute)) throw error
      if (attempts === ATTEMPTS) {
        fail('overloaded', { detail: 'What this rests on is being changed again and again; repeat.', retry_after_s: 1 })
      }
      await error.work()
    }
  }
}

/** Asks about each in turn, to the last, so that all the work there is beforehand is known and done at once. */
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
    throw new NeedsPrecompute(async () => {
      for (const { work } of needed) await work()
    })
  }
  return results
}
