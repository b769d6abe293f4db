/** Answers the sources that search names of different kinds in the same turn of the event loop with one query. */
import type { Tx } from '#kernel/database/tx.ts'
import { listNamedObjects, type NamedObjectRow } from '#kernel/search/queries.ts'
import { MAX_NAMED_OBJECTS, type SearchContext } from '#kernel/search/source.ts'

interface PendingSearch {
  readonly kinds: Set<string>
  readonly rows: Promise<readonly NamedObjectRow[]>
}

export function createNameSearch(tx: Tx, text: string): SearchContext['findNamedObjects'] {
  let pending: PendingSearch | undefined

  const createPending = (): PendingSearch => {
    const kinds = new Set<string>()
    // After the synchronous part of every source, which names the kinds.
    const rows = Promise.resolve().then(() => {
      pending = undefined
      return listNamedObjects(tx, [...kinds], text, MAX_NAMED_OBJECTS)
    })
    return { kinds, rows }
  }

  return async (kind) => {
    pending ??= createPending()
    pending.kinds.add(kind)
    return (await pending.rows).filter((row) => row.kind === kind)
  }
}
