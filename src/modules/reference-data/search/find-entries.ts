/**
 * Searches the entries of a version: through the index of a long list, else by a scan. Both compare the words of each entry,
 * so the index affects the duration of a search and never its result.
 */
import type { Tx } from '#kernel/database/tx.ts'
import { versionStore } from '#modules/definitions/index.ts'
import { MIN_TREE_ENTRIES } from '#registry/content/stored-tree.ts'
import { matchesWords } from '#registry/search/search-words.ts'
import { collectPrefix, EntrySet } from '#registry/search/segment.ts'

import { KEYS_PER_BLOCK } from './build-index.ts'
import {
  findIndexedVersion,
  listEntriesWithText,
  listKeyBlocks,
  listKeyPositions,
  listSegments,
  listWordBlocks,
  type SegmentRow,
} from './queries.ts'

/** A prefix of so many words filters little: a scan then finds enough matches quickly. */
const MAX_BLOCKS_PER_SEGMENT = 64
const SCAN_BATCH = 1000

export interface EntrySearch {
  readonly version: versionStore.VersionRow
  /** Folded. Without words nothing is found: a query of punctuation matches no entry. */
  readonly words: readonly string[]
  readonly key_prefix: string
  readonly after: string
  readonly count: number
}

/**
 * `ready`: answered from the index. `building`: the index does not cover the version yet. `not_needed`: the list is short.
 */
export type IndexState = 'ready' | 'building' | 'not_needed'

/** The first `count` entries after `after` with all words, in key order; fewer only at the end. */
export async function searchEntries(
  tx: Tx,
  search: EntrySearch,
): Promise<{ rows: versionStore.EntryRow[]; index: IndexState }> {
  const { version } = search
  if (search.words.length === 0) return { rows: [], index: 'not_needed' }
  if (version.entry_count < MIN_TREE_ENTRIES)
    return { rows: await scanEntries(tx, search, listAfter), index: 'not_needed' }
  if ((await findIndexedVersion(tx, version)) < version.version) {
    return { rows: await scanEntries(tx, search, listContaining), index: 'building' }
  }
  return { rows: await searchIndex(tx, search), index: 'ready' }
}

const isPastPrefix = (key: string, { key_prefix }: EntrySearch): boolean =>
  key_prefix !== '' && !key.startsWith(key_prefix) && Buffer.compare(Buffer.from(key), Buffer.from(key_prefix)) > 0

const isMatch = (row: versionStore.EntryRow, { words, key_prefix }: EntrySearch): boolean =>
  row.key.startsWith(key_prefix) && matchesWords(versionStore.parseEntry(row), words)

type ListAfter = (tx: Tx, search: EntrySearch, after: string, count: number) => Promise<versionStore.EntryRow[]>
const listAfter: ListAfter = (tx, { version }, after, count) => versionStore.listEntries(tx, version, after, count)
const listContaining: ListAfter = (tx, { version, words }, after, count) =>
  listEntriesWithText(tx, version, { words, after }, count)

async function scanEntries(tx: Tx, search: EntrySearch, list: ListAfter): Promise<versionStore.EntryRow[]> {
  const found: versionStore.EntryRow[] = []
  let after = search.after
  for (;;) {
    const rows = await list(tx, search, after, SCAN_BATCH)
    for (const row of rows) if (isMatch(row, search)) found.push(row)
    const last = rows.at(-1)
    if (!last || rows.length < SCAN_BATCH || found.length >= search.count || isPastPrefix(last.key, search)) {
      return found.slice(0, search.count)
    }
    after = last.key
  }
}

/** The segments of one version, with entries in key order from the first part to the last. */
interface VersionSegments {
  readonly segments: readonly SegmentRow[]
}

const toSegmentName = ({ version, part }: { version: number; part: number }): string => `${version} ${part}`

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

async function searchIndex(tx: Tx, search: EntrySearch): Promise<versionStore.EntryRow[]> {
  const segments = await listSegments(tx, search.version)
  const candidates = await collectCandidates(tx, search, segments)
  const streams: VersionSegments[] = [...groupBy(segments, ({ version }) => version).values()].map((of) => ({
    segments: of,
  }))
  const found: versionStore.EntryRow[] = []
  let after = search.after
  for (;;) {
    const { keys, is_end } = await findNextKeys(tx, { ...search, after }, streams, candidates)
    const rows = keys.length === 0 ? [] : await versionStore.listEntriesByKey(tx, search.version, keys)
    rows.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
    for (const row of rows) if (isMatch(row, search)) found.push(row)
    const last = keys.at(-1)
    if (is_end || last === undefined || found.length >= search.count || isPastPrefix(last, search)) {
      return found.slice(0, search.count)
    }
    after = last
  }
}

/** Per segment, the entries that may contain all words; absent where every entry may. */
async function collectCandidates(tx: Tx, { version, words }: EntrySearch, segments: readonly SegmentRow[]) {
  const candidates = new Map<string, EntrySet>()
  for (const word of words) {
    const blocks = groupBy(await listWordBlocks(tx, version, word, MAX_BLOCKS_PER_SEGMENT), toSegmentName)
    for (const segment of segments) {
      const name = toSegmentName(segment)
      const some = blocks.get(name) ?? []
      if (some.length === MAX_BLOCKS_PER_SEGMENT) continue
      const matches = new EntrySet(segment.entry_count)
      for (const { postings } of some) collectPrefix(postings, word, matches)
      const others = candidates.get(name)
      if (others) others.intersect(matches)
      else candidates.set(name, matches)
    }
  }
  return candidates
}

interface Position {
  readonly segment: SegmentRow
  readonly entry: number
}

/**
 * The next keys of candidates after `after`, in key order. Stops at the last key of a stream that has more, since the keys
 * of other streams beyond it could come out of order.
 */
async function findNextKeys(
  tx: Tx,
  { version, count, key_prefix, after }: EntrySearch,
  streams: readonly VersionSegments[],
  candidates: ReadonlyMap<string, EntrySet>,
): Promise<{ keys: string[]; is_end: boolean }> {
  const start = Buffer.compare(Buffer.from(key_prefix), Buffer.from(after)) > 0 ? key_prefix : after
  const blocks = new Map((await listKeyPositions(tx, version, start)).map((row) => [toSegmentName(row), row.block]))
  const taken = streams.map(({ segments }) =>
    takePositions(segments, candidates, { blocks, key: start }, count + KEYS_PER_BLOCK),
  )
  const wanted = new Map<string, { version: number; part: number; block: number }>()
  for (const { positions } of taken) {
    for (const { segment, entry } of positions) {
      const block = Math.floor(entry / KEYS_PER_BLOCK)
      wanted.set(`${toSegmentName(segment)} ${block}`, { version: segment.version, part: segment.part, block })
    }
  }
  const read = wanted.size === 0 ? [] : await listKeyBlocks(tx, version, [...wanted.values()])
  const keys_by_block = new Map(
    read.map((row) => [`${toSegmentName(row)} ${row.block}`, JSON.parse(row.keys) as string[]]),
  )
  const keyAt = ({ segment, entry }: Position): string =>
    keys_by_block.get(`${toSegmentName(segment)} ${Math.floor(entry / KEYS_PER_BLOCK)}`)?.[
      entry % KEYS_PER_BLOCK
    ] as string
  const all = new Map<string, Buffer>()
  let bound: Buffer | undefined
  for (const { positions, has_more } of taken) {
    for (const position of positions) all.set(keyAt(position), Buffer.from(keyAt(position)))
    if (!has_more) continue
    const last = Buffer.from(keyAt(positions.at(-1) as Position))
    if (!bound || Buffer.compare(last, bound) < 0) bound = last
  }
  const from = Buffer.from(after)
  const keys = [...all]
    .filter(([, bytes]) => Buffer.compare(bytes, from) > 0 && (!bound || Buffer.compare(bytes, bound) <= 0))
    .sort(([, a], [, b]) => Buffer.compare(a, b))
    .map(([key]) => key)
  return { keys, is_end: bound === undefined }
}

function takePositions(
  segments: readonly SegmentRow[],
  candidates: ReadonlyMap<string, EntrySet>,
  start: { readonly key: string; readonly blocks: ReadonlyMap<string, number> },
  count: number,
): { positions: Position[]; has_more: boolean } {
  const positions: Position[] = []
  const start_bytes = Buffer.from(start.key)
  for (const segment of segments) {
    if (segment.entry_count === 0 || Buffer.compare(Buffer.from(segment.last_key), start_bytes) < 0) continue
    const first = (start.blocks.get(toSegmentName(segment)) ?? 0) * KEYS_PER_BLOCK
    const set = candidates.get(toSegmentName(segment))
    for (const entry of set ? set.from(first) : range(first, segment.entry_count)) {
      if (positions.length === count) return { positions, has_more: true }
      positions.push({ segment, entry })
    }
  }
  return { positions, has_more: false }
}

function* range(from: number, to: number): Generator<number> {
  for (let n = from; n < to; n++) yield n
}
