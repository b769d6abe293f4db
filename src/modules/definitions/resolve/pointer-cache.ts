/**
 * Caches resolved pointers between requests. Every activation increases the epoch of its tenant in the same transaction;
 * while the epoch read in the request is unchanged and no activation started or ended by the clock, cached pointers are
 * valid on every replica.
 */
import { declareCache } from '#kernel/cache/caches.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { DatasetFamily } from '../datasets/queries.ts'
import {
  type EpochRow,
  findEpochs,
  type ListPointer,
  listPointers,
  type PointerRow,
  type VersionPointer,
} from './queries.ts'

export interface PointerKey {
  readonly family: DatasetFamily
  readonly key: string
}

/** A definition and all requested lists, resolved by one statement. */
interface CachedDefinition {
  readonly definition: VersionPointer
  /** Exactly these keys, in this order. */
  readonly list_keys: readonly string[]
  readonly lists: ReadonlyMap<string, ListPointer>
  /** The first instant at which any of them changes by the clock. */
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

/** All lists in force among some keys, resolved by one statement. */
interface CachedLists extends EpochRow {
  readonly list_keys: readonly string[]
  readonly pointers: ReadonlyMap<string, ListPointer>
  /** The first instant at which any of them starts or ends by the clock. */
  readonly until: string | null
}

const listsInForce = declareCache<CachedLists>({
  name: 'lists_in_force',
  summary: 'The versions in force of all lists of a tenant, for search.',
  bound: { max_bytes: 16 * 1024 * 1024, sizeOf: ({ pointers }) => 200 + 1000 * pointers.size },
})

/** The epoch is unchanged, and nothing has started or ended by the clock. */
const isCurrent = (known: Pick<PointerRow, keyof EpochRow>, until: string | null, current: EpochRow): boolean =>
  known.own_epoch === current.own_epoch &&
  known.shared_epoch === current.shared_epoch &&
  (until === null || current.now < until)

const toCacheKey = (tenant_id: string, family: DatasetFamily, key: string): string => `${tenant_id}:${family}:${key}`

/** All pointers in the requested order, or null when any is missing or stale. Sends at most one statement. */
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

/** Rows from the driver are in dictionary mode, which makes every later copy slow; a plain copy is not. */
const toPlainPointer = (row: VersionPointer): VersionPointer => ({ ...row })

/** Caches only rows that are in force now. */
export function cachePointers(kernel: Capabilities<'caches'>, tx: Tx, rows: readonly PointerRow[]): void {
  const cache = kernel.caches.get(versionPointers)
  for (const row of rows) {
    if (row.via !== null)
      cache.set(toCacheKey(tx.tenant_id, row.family, row.list_key), toPlainPointer(row as VersionPointer))
  }
}

/**
 * The definition with all of these lists, or null when it is missing or stale. While it is valid the map of lists is the
 * same object, so callers may key derived data by it.
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

/** Callers pass the result of one statement with all lists: a missing list may come into force at any moment. */
export function cacheDefinition(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { definition, list_keys, lists }: Omit<CachedDefinition, 'until'>,
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

/** Those of the lists that are in force now. Sends no statement while the epochs are those of the cached result. */
export async function findListsInForce(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  list_keys: readonly string[],
  current: EpochRow | undefined,
): Promise<ReadonlyMap<string, ListPointer>> {
  if (list_keys.length === 0) return new Map()
  const cache = kernel.caches.get(listsInForce)
  const known = cache.get(tx.tenant_id)
  if (known && current && isSameKeys(known.list_keys, list_keys) && isCurrent(known, known.until, current)) {
    return known.pointers
  }
  const rows = await listPointers(tx, list_keys, { valid_at: null, known_at: null })
  const inForce = rows.filter((row): row is VersionPointer => row.via !== null)
  const pointers = new Map(inForce.map((row) => [row.list_key, toPlainPointer(row)]))
  const [first] = rows
  // A list that is not in force yet may be scheduled.
  const ends = rows.flatMap(({ until }) => until ?? []).sort()
  if (first) {
    const { own_epoch, shared_epoch, now } = first
    cache.set(tx.tenant_id, { own_epoch, shared_epoch, now, list_keys, pointers, until: ends[0] ?? null })
  }
  return pointers
}
