/**
 * The resolver: which version of each list is in force for a tenant, and its entries. Pointers are cached until something
 * changes; content is cached by its hash, which never becomes stale.
 */
import { declareCache } from '#kernel/cache/caches.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import type { Entry } from '#registry/adapter.ts'
import { entryHash } from '#registry/content/hashes.ts'
import { createMerkleBuilder } from '#registry/content/merkle.ts'
import { type BaseType, computeContentHash, evaluateOverlay, type OverlayEntry } from '#registry/overlay.ts'
import { getOrigin } from '../datasets/origin.ts'
import type { DatasetFamily } from '../datasets/queries.ts'
import { getBaseType } from '../types/dataset-type.ts'
import { findTypeVersion } from '../types/queries.ts'
import { parseEntry } from '../versions/entries.ts'
import { type EntryRow, listEntries, listEntriesByKey } from '../versions/queries.ts'
import { cacheDefinition, getCachedDefinition } from './pointer-cache.ts'
import {
  type ContentPointer,
  type ListPointer,
  listDefinitionPointers,
  listPinnedVersions,
  listPointers,
  lockActivationsShared,
  type PinnedVersion,
  type PointerRow,
  type VersionPointer,
} from './queries.ts'

export type { ContentPointer, ListPointer, VersionPointer } from './queries.ts'

export interface Clocks {
  readonly valid_at?: string | undefined
  readonly known_at?: string | undefined
}

/** Lists up to this size are cached whole; larger ones are read by key. */
export const MAX_CACHED_LIST_BYTES = 1024 * 1024
const CACHE_BYTES = 64 * 1024 * 1024
const BATCH = 5_000
const RECENT_MS = 60_000

export interface HashedEntry {
  readonly entry: Entry
  readonly hash: string
}
export interface ListContent {
  readonly entries: ReadonlyMap<string, HashedEntry>
  readonly bytes: number
}

/** Keyed by tenant and hash, so entries never become stale. */
export const listContents = declareCache<ListContent>({
  name: 'list_contents',
  summary: 'Whole lists of at most 1 MiB.',
  bound: { max_bytes: CACHE_BYTES, sizeOf: ({ bytes }) => bytes + 200 },
})

/** Fails with 404 when a list does not exist, and with another 404 code when no version of it is in force. */
export function assertInForce(
  rows: readonly PointerRow[],
  keys: readonly string[],
  family: DatasetFamily = 'list',
): VersionPointer[] {
  const byKey = new Map(rows.map((row) => [row.list_key, row]))
  return keys.map((key) => {
    const row = byKey.get(key)
    // With several keys the problem says which one; with one key the path does.
    const which = keys.length > 1 ? { members: { list_key: key } } : {}
    if (!row?.known)
      return fail('not_found', {
        detail: `There is no ${family === 'matrix' ? 'risk matrix' : family} with this key.`,
        ...which,
      })
    if (row.via === null) return fail('nothing_in_force', which)
    return row as VersionPointer
  })
}

/** True while activations being committed could still change the answer. */
export const isRecent = (known_at: string | undefined): boolean =>
  known_at !== undefined && Date.parse(known_at) > Date.now() - RECENT_MS

/** Resolves all lists at one instant. `tx` must be a write transaction when `known_at` is recent. */
export async function resolveVersions(
  tx: Tx,
  keys: readonly string[],
  clocks: Clocks,
  family: DatasetFamily = 'list',
): Promise<VersionPointer[]> {
  if (isRecent(clocks.known_at)) await lockActivationsShared(tx, family, keys)
  const rows = await listPointers(
    tx,
    keys,
    { valid_at: clocks.valid_at ?? null, known_at: clocks.known_at ?? null },
    family,
  )
  return assertInForce(rows, keys, family)
}

/**
 * A definition and those of the lists that are in force at the same instant. The definition must be in force; missing lists
 * are omitted, since only the resolved version says which lists it reads. Without a kernel no cache is used: a transaction
 * that changes what is in force may be rolled back.
 */
export async function resolveWithLists(
  kernel: Capabilities<'caches'> | null,
  tx: Tx,
  { list_keys, ...definition }: { family: DatasetFamily; key: string; list_keys: readonly string[] },
  clocks: Clocks,
): Promise<{ definition: VersionPointer; lists: ReadonlyMap<string, ListPointer> }> {
  if (isRecent(clocks.known_at)) {
    await lockActivationsShared(tx, definition.family, [definition.key])
    await lockActivationsShared(tx, 'list', list_keys)
  }
  const cacheKernel = clocks.valid_at === undefined && clocks.known_at === undefined ? kernel : null
  const cachedResult = cacheKernel && (await getCachedDefinition(cacheKernel, tx, definition, list_keys))
  if (cachedResult) return cachedResult
  const at = { valid_at: clocks.valid_at ?? null, known_at: clocks.known_at ?? null }
  const rows = await listDefinitionPointers(tx, definition, list_keys, at)
  const own = rows.filter(({ family }) => family !== 'list')
  const pointer = assertInForce(own, [definition.key], definition.family)[0] as VersionPointer
  const byKey = new Map(rows.filter(({ family }) => family === 'list').map((row) => [row.list_key, row]))
  const lists = new Map<string, ListPointer>()
  for (const list_key of list_keys) {
    const row = byKey.get(list_key)
    if (row && row.via !== null) lists.set(list_key, omitNow(row as VersionPointer))
  }
  if (cacheKernel && lists.size === list_keys.length) {
    cacheDefinition(cacheKernel, tx, { definition: pointer, list_keys, lists })
  }
  return { definition: pointer, lists }
}

const omitNow = ({ now: _, ...pointer }: VersionPointer): ListPointer => pointer

/** Those of the lists that are in force, in one statement; the others are absent. */
export async function findPointersInForce(
  tx: Tx,
  keys: readonly string[],
  clocks: Clocks,
  family: DatasetFamily = 'list',
): Promise<Map<string, VersionPointer>> {
  if (keys.length === 0) return new Map()
  if (isRecent(clocks.known_at)) await lockActivationsShared(tx, family, keys)
  const at = { valid_at: clocks.valid_at ?? null, known_at: clocks.known_at ?? null }
  const rows = (await listPointers(tx, keys, at, family)).filter((row): row is VersionPointer => row.via !== null)
  return new Map(rows.map((pointer) => [pointer.list_key, pointer]))
}

/** The content that a receipt pinned. Fails when the stored content has another hash. */
export async function resolvePins(tx: Tx, pins: readonly PinnedVersion[]): Promise<ContentPointer[]> {
  const rows = await listPinnedVersions(tx, pins)
  const byId = new Map(rows.map((row) => [`${row.family}:${row.list_key}`, row]))
  return pins.map((pin) => {
    const row = byId.get(`${pin.family ?? 'list'}:${pin.list_key}`)
    const same = row?.content_hash === pin.content_hash && row.overlay_hash === pin.overlay_hash
    if (!same) return fail('content_corrupt')
    const { configuration_hash, sandbox_hash } = pin
    return {
      ...(row as ContentPointer),
      overlay_policy: pin.overlay_policy ?? row.overlay_policy,
      ...(configuration_hash !== undefined && { configuration_hash }),
      ...(sandbox_hash !== undefined && { sandbox_hash }),
    }
  })
}

/** Entries by key as the tenant sees them: overlay applied, content verified by hash. Missing keys are absent. */
export async function lookUpEntries(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: ContentPointer,
  keys: readonly string[],
): Promise<Map<string, Entry>> {
  const hashed = await lookUpHashedEntries(kernel, tx, pointer, keys)
  return new Map([...hashed].map(([key, { entry }]) => [key, entry]))
}

/** Like lookUpEntries, with the hash of each entry. */
export async function lookUpHashedEntries(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: ContentPointer,
  keys: readonly string[],
): Promise<Map<string, HashedEntry>> {
  const whole = await loadList(kernel, tx, pointer)
  if (whole) {
    return new Map(
      keys.flatMap((key) => {
        const entry = whole.entries.get(key)
        return entry ? [[key, entry] as const] : []
      }),
    )
  }
  const of = { tenant_id: pointer.dataset_tenant_id, dataset_id: pointer.dataset_id, version: pointer.version }
  const rows = await listEntriesByKey(tx, of, keys)
  const base = new Map(rows.map((row) => [row.key, toHashedEntry(row)]))
  if (pointer.overlay_version === null) return base
  const found = new Map([...base].map(([key, { entry }]) => [key, entry]))
  const overlay = await loadOverlay(kernel, tx, pointer)
  const type = await loadBaseType(kernel, tx, pointer)
  for (const key of keys) {
    const change = overlay.get(key)
    if (change) applyOverlayChange(found, change, pointer, type)
  }
  return new Map([...found].map(([key, entry]) => [key, { entry, hash: entryHash(canonicalJson(entry)) }]))
}

/** True when a look-up sends exactly one statement. */
export const isSingleStatementLookup = (pointer: ContentPointer): boolean =>
  pointer.data_bytes > MAX_CACHED_LIST_BYTES && pointer.overlay_version === null

/** The result of an overlay also depends on its policy and on the base version it is pinned to, so the key has both. */
function toListCacheKey(tenant_id: string, pointer: ContentPointer): string {
  const over =
    pointer.overlay_version === null
      ? ''
      : `:${pointer.version}:${pointer.overlay_dataset_id}:${pointer.overlay_version}:${pointer.overlay_hash}:${pointer.overlay_policy}`
  return `${tenant_id}:${pointer.dataset_id}:${pointer.content_hash}${over}`
}

/** The whole list when it is cached. Sends no statement. */
export const getCachedList = (
  kernel: Capabilities<'caches'>,
  tenant_id: string,
  pointer: ContentPointer,
): ListContent | undefined => kernel.caches.get(listContents).get(toListCacheKey(tenant_id, pointer))

/** The whole list as the tenant sees it, or null when it is too large to cache. */
export async function loadList(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: ContentPointer,
): Promise<ListContent | null> {
  if (pointer.data_bytes > MAX_CACHED_LIST_BYTES) return null
  const known = getCachedList(kernel, tx.tenant_id, pointer)
  if (known) return known
  const base = await loadEntries(tx, {
    tenant_id: pointer.dataset_tenant_id,
    dataset_id: pointer.dataset_id,
    version: pointer.version,
    content_hash: pointer.content_hash,
  })
  let content: ListContent = { entries: base, bytes: pointer.data_bytes }
  if (pointer.overlay_version !== null) {
    const type = await loadBaseType(kernel, tx, pointer)
    const merged = new Map([...base].map(([key, { entry }]) => [key, entry]))
    for (const change of (await loadOverlay(kernel, tx, pointer)).values())
      applyOverlayChange(merged, change, pointer, type)
    const entries = new Map([...merged].map(([key, entry]) => [key, { entry, hash: entryHash(canonicalJson(entry)) }]))
    content = { entries: new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1))), bytes: pointer.data_bytes * 2 }
  }
  kernel.caches.get(listContents).set(toListCacheKey(tx.tenant_id, pointer), content)
  return content
}

async function loadEntries(
  tx: Tx,
  version: { tenant_id: string; dataset_id: string; version: number; content_hash: string },
): Promise<Map<string, { entry: Entry; hash: string }>> {
  const entries = new Map<string, { entry: Entry; hash: string }>()
  const tree = createMerkleBuilder()
  let after: string | null = null
  for (;;) {
    const rows: EntryRow[] = await listEntries(tx, version, after, BATCH)
    for (const row of rows) {
      const { entry, hash } = toHashedEntry(row)
      tree.addHash(row.key, hash)
      entries.set(row.key, { entry, hash })
    }
    if (rows.length < BATCH) break
    after = rows.at(-1)?.key ?? null
  }
  if (tree.finish().root !== version.content_hash) fail('content_corrupt')
  return entries
}

const toHashedEntry = (row: EntryRow): { entry: Entry; hash: string } => ({
  entry: parseEntry(row),
  hash: row.hash.toString('hex'),
})

const overlays = declareCache<ReadonlyMap<string, OverlayEntry>>({
  name: 'overlays',
  summary: 'Changes of one version of an overlay.',
  bound: { max_entries: 1000 },
})

async function loadOverlay(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: ContentPointer,
): Promise<ReadonlyMap<string, OverlayEntry>> {
  const cache = kernel.caches.get(overlays)
  const id = `${tx.tenant_id}:${pointer.overlay_dataset_id}:${pointer.overlay_hash}`
  const known = cache.get(id)
  if (known) return known
  const rows = await readOverlay(tx, {
    dataset_id: pointer.overlay_dataset_id as string,
    version: pointer.overlay_version as number,
    content_hash: pointer.overlay_hash as string,
  })
  const changes = new Map(rows.map((row) => [row.key, row]))
  cache.set(id, changes)
  return changes
}

/** Reads the changes of an overlay version and verifies its hash. */
export async function readOverlay(
  tx: Tx,
  version: { dataset_id: string; version: number; content_hash: string },
): Promise<OverlayEntry[]> {
  const rows = await listEntries(tx, { tenant_id: tx.tenant_id, ...version }, null, 100_000)
  const tree = createMerkleBuilder()
  const changes = rows.map((row): OverlayEntry => {
    const hash = row.hash.toString('hex')
    const base_hash = row.base_hash?.toString('hex') ?? null
    if (entryHash(row.data ?? '') !== hash) fail('content_corrupt')
    tree.addHash(row.key, computeContentHash({ op: row.op, hash, base_hash }))
    return { key: row.key, op: row.op, base_hash, value: row.data === null ? null : (JSON.parse(row.data) as Entry) }
  })
  if (tree.finish().root !== version.content_hash) fail('content_corrupt')
  return changes
}

/** The type by which overlay changes are applied. */
export async function loadBaseType(kernel: Capabilities<'caches'>, tx: Tx, pointer: ContentPointer): Promise<BaseType> {
  const type = await findTypeVersion(tx, pointer.type_tenant_id, pointer.type_key, pointer.type_version)
  return getBaseType(kernel, type ?? fail('internal'))
}

/** Keeps the base entry when policy or type refuse the change, or when the overlay is pinned to another base version. */
function applyOverlayChange(
  entries: Map<string, Entry>,
  change: OverlayEntry,
  pointer: ContentPointer,
  type: BaseType,
): void {
  if (pointer.overlay_base_version !== null && pointer.overlay_base_version !== pointer.version) return
  const { key } = change
  const { effective, refusal } = evaluateOverlay(entries.get(key), change, pointer.overlay_policy, type)
  if (refusal) return
  if (effective === undefined) entries.delete(key)
  else entries.set(key, effective)
}

/** Applies the overlay of a list to one entry at a time, for streaming a large list. */
export async function createOverlayApplier(kernel: Capabilities<'caches'>, tx: Tx, pointer: ContentPointer) {
  const type = await loadBaseType(kernel, tx, pointer)
  const changes = await loadOverlay(kernel, tx, pointer)
  return {
    keys: [...changes.keys()],
    applyTo: (key: string, base: Entry | undefined): Entry | undefined => {
      const entries = new Map(base === undefined ? [] : [[key, base]])
      const change = changes.get(key)
      if (change) applyOverlayChange(entries, change, pointer, type)
      return entries.get(key)
    },
  }
}

export const toResolvedListView = (pointer: VersionPointer) => ({
  list_key: pointer.list_key,
  via: pointer.via,
  origin: getOrigin(pointer.dataset_tenant_id),
  shadows_shared: pointer.shadows_shared ?? false,
  version: pointer.version,
  label: pointer.label,
  type_key: pointer.type_key,
  type_version: pointer.type_version,
  content_hash: pointer.content_hash,
  entry_count: pointer.entry_count,
  data_bytes: pointer.data_bytes,
  effective_from: pointer.effective_from,
  expires_at: pointer.expires_at,
  activation_id: pointer.activation_id,
  overlay:
    pointer.overlay_version === null
      ? null
      : {
          version: pointer.overlay_version,
          content_hash: pointer.overlay_hash as string,
          entry_count: pointer.overlay_count as number,
          base_version: pointer.overlay_base_version,
          activation_id: pointer.overlay_activation_id as string,
        },
})
