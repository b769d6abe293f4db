/**
 * Sends the queries that several sources issue in the same turn of the event loop in one round trip. Two sources that ask the same
 * question get one answer.
 */
import type { Tx } from '#kernel/database/tx.ts'

interface PendingQuery {
  readonly text: string
  readonly values: readonly unknown[]
  readonly rows: Promise<object[]>
  resolve(rows: object[]): void
  reject(error: unknown): void
}

function createPending(text: string, values: readonly unknown[]): PendingQuery {
  const settle = {} as Pick<PendingQuery, 'resolve' | 'reject'>
  const rows = new Promise<object[]>((resolve, reject) => Object.assign(settle, { resolve, reject }))
  return { text, values, rows, resolve: (found) => settle.resolve(found), reject: (error) => settle.reject(error) }
}

/** Handles `query` and `find`; everything else is left to the transaction. */
export function batchQueries(tx: Tx): Tx {
  let pending = new Map<string, PendingQuery>()

  const flush = async (): Promise<void> => {
    const queries = [...pending.values()]
    pending = new Map()
    try {
      const results = await tx.queryAll(queries.map(({ text, values }) => ({ text, values })))
      for (const [n, query] of queries.entries()) query.resolve(results[n] ?? [])
    } catch (error) {
      for (const query of queries) query.reject(error)
    }
  }

  const query = (text: string, values: readonly unknown[] = []): Promise<object[]> => {
    const key = `${text} ${JSON.stringify(values)}`
    const known = pending.get(key)
    if (known) return known.rows
    // After the microtasks of this turn: sources that await something already settled still join.
    if (pending.size === 0) setImmediate(() => void flush())
    const made = createPending(text, values)
    pending.set(key, made)
    return made.rows
  }

  return {
    ...tx,
    // The caller states the type of its rows.
    query: (text, values) => query(text, values) as never,
    find: async (text, values) => (await query(text, values))[0] as never,
  }
}
