/** Which of the rows that a request names its readers see. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { ErasureRow } from './queries.ts'
import { listErasureClasses } from './run-erasure.ts'

/** The job and the ledger take all of them. What no longer exists is left out: nobody can tell who might see it. */
export async function hideNamedRows(
  kernel: Capabilities<'modules'>,
  tx: Tx,
  erasures: readonly ErasureRow[],
): Promise<ErasureRow[]> {
  const named = erasures.flatMap(({ also }) => also)
  const visible = new Set<string>()
  for (const one of listErasureClasses(kernel)) {
    const ids = new Set(named.filter((row) => row.class === one.name).map(({ id }) => id))
    if (ids.size === 0) continue
    for (const id of await one.findVisible(tx, [...ids])) visible.add(`${one.name} ${id}`)
  }
  return erasures.map((erasure) => ({
    ...erasure,
    also: erasure.also.filter((row) => visible.has(`${row.class} ${row.id}`)),
  }))
}
