/**
 * Pointers remembered between requests. Every activation moves a number in its own transaction; where that number, read inside
 * the request, has not moved, and no activation has begun or ended by the clock, what was resolved before holds on every replica.
 */
import { declareCache } from '#kernel/cache/caches.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { DatasetFamily } from '../datasets/queries.ts'
import { type EpochRow, findEpochs, type ListPointer, type PointerRow, type VersionPointer } from './queries.ts'

export interface PointerKey {
  readonly family: DatasetFamily
  readonly key: string
}

/** A definition with every list that was asked for beside it, all of one statement. */
interface CachedDefinition {
  readonly definition: VersionPointer
  /** In this order, and no others. */
  readonly list_keys: readonly string[]
  readonly lists: ReadonlyMap<string, ListPointer>
  /** The first instant at which any of them changes by itself. */
  readonly until: string | null
}

const versionPointers = declareCache<VersionPointer>({
  name: 'version_pointers',
  summary: 'The version in force of one list.',
  bound: { max_entries: 50_000 },
})

const definitionPointers = declareCache<CachedDefinition>({
  name: 'definition_pointers',
  summary: 'The version in force of one definition and of the lists it reads, usually about ten.',
  bound: { max_entries: 5_000 },
})

/** Nothing was activated since, and nothing has begun or ended by the clock. */
const isCurrent = (known: Pick<PointerRow, keyof EpochRow>, until: string | null, current: EpochRow): boolean =>
  known.own_epoch === current.own_epoch &&
  known.shared_epoch === current.shared_epoch &&
  (until === null || current.now < until)

const toCacheKey = (tenant_id: string, family: DatasetFamily, key: string): string => `${tenant_id}:${family}:${key}`

/** All of them, in the order asked for, or null when any must be asked for anew. Sends at most one statement. */
export async function getCachedPointers(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  wanted: readonly PointerKey[],
): Promise<VersionPointer[] | null> {
  const cache = kernel.caches.get(versionPointers)
  const pointers: VersionPointer[] = []
  for (const { family, key } of wanted) {
    const pointer = cache.get(toCacheKey(tx.tenant_id, family, key))
    if (!pointer) return null
    pointers.push(pointer)
  }
  const current = await findEpochs(tx)
  if (!current) return null
  if (!pointers.every((pointer) => isCurrent(pointer, pointer.until, current))) return null
  return pointers.map((pointer) => ({ ...pointer, now: current.now }))
}

/** A row as it comes is a dictionary to the engine, and dear to copy each time it is recalled; a copy of it is not. */
const toPlainPointer = (row: VersionPointer): VersionPointer => ({ ...row })

/** Only what is in force now is kept: rows of another instant, or of nothing, are not. */
export function cachePointers(kernel: Capabilities<'caches'>, tx: Tx, rows: readonly PointerRow[]): void {
  const cache = kernel.caches.get(versionPointers)
  for (const row of rows) {
    if (row.via !== null)
      cache.set(toCacheKey(tx.tenant_id, row.family, row.list_key), toPlainPointer(row as VersionPointer))
  }
}

/**
 * A definition with all of these lists, or null when it must be asked for anew. While nothing moves the map of lists is the very
 * same object: whoever derives something from it may keep that by it.
 */
export async function getCachedDefinition(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { family, key }: PointerKey,
  list_keys: readonly string[],
): Promise<Pick<CachedDefinition, 'definition' | 'lists'> | null> {
  const known = kernel.caches.get(definitionPointers).get(toCacheKey(tx.tenant_id, family, key))
  if (!known || !isSameKeys(known.list_keys, list_keys)) return null
  const current = await findEpochs(tx)
  if (!current || !isCurrent(known.definition, known.until, current)) return null
  return { definition: { ...known.definition, now: current.now }, lists: known.lists }
}

const isSameKeys = (known: readonly string[], keys: readonly string[]): boolean =>
  known === keys || (known.length === keys.length && known.every((key, index) => key === keys[index]))

/** To be given what one statement gave, and all of the lists: one that is missing may be there a moment later. */
export function cacheDefinition(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  definition: VersionPointer,
  list_keys: readonly string[],
  lists: ReadonlyMap<string, ListPointer>,
): void {
  const ends = [definition, ...lists.values()].flatMap(({ until }) => until ?? []).sort()
  const id = toCacheKey(tx.tenant_id, definition.family, definition.list_key)
  kernel.caches.get(definitionPointers).set(id, {
    definition: toPlainPointer(definition),
    list_keys,
    lists,
    until: ends[0] ?? null,
  })
}
