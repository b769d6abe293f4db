/** Lists of policy that code reads as a whole, such as queues, alert rules or retention clocks, as the tenant sees them. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { cachePointers, getCachedPointers } from './pointer-cache.ts'
import { type ContentPointer, listPointers, type VersionPointer } from './queries.ts'
import { loadList } from './resolver.ts'

export interface PolicyList<E> {
  readonly pointer: VersionPointer
  readonly entries: readonly E[]
}

/** Null where no version is in force. One statement while the pointer is cached. */
export async function loadPolicyList<E>(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  list_key: string,
): Promise<PolicyList<E> | null> {
  const pointer = await findPointer(kernel, tx, list_key)
  return pointer && { pointer, entries: await readPolicyEntries<E>(kernel, tx, pointer) }
}

async function findPointer(kernel: Capabilities<'caches'>, tx: Tx, list_key: string): Promise<VersionPointer | null> {
  const [known] = (await getCachedPointers(kernel, tx, [{ family: 'list', key: list_key }])) ?? []
  if (known) return known
  const rows = await listPointers(tx, [list_key], { valid_at: null, known_at: null })
  cachePointers(kernel, tx, rows)
  return rows.find((row): row is VersionPointer => row.via !== null) ?? null
}

/** The entries of a list by their keys; null where nothing of it is in force. */
export async function loadPolicyEntries<E>(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  list_key: string,
): Promise<ReadonlyMap<string, E> | null> {
  const pointer = await findPointer(kernel, tx, list_key)
  return pointer && (await readEntries<E>(kernel, tx, pointer))
}

/** With the overlay of the tenant. Such lists are small: one that is too large to be cached is refused where it is read. */
export async function readPolicyEntries<E>(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: ContentPointer,
): Promise<readonly E[]> {
  return [...(await readEntries<E>(kernel, tx, pointer)).values()]
}

async function readEntries<E>(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: ContentPointer,
): Promise<ReadonlyMap<string, E>> {
  const list = await loadList(kernel, tx, pointer)
  if (!list) return fail('conflict', `The list ${pointer.list_key} is larger than 1 MiB.`)
  // Every entry was validated against the type of the list, which E describes.
  return new Map(Array.from(list.entries, ([key, { entry }]) => [key, entry as unknown as E]))
}
