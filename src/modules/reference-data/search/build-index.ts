/** Builds the search index of a list: the new entries of each version, one part at a time, each in its own transaction. */
import { setImmediate } from 'node:timers/promises'
import type { Tx } from '#kernel/database/tx.ts'
import { collectEntryWords } from '#registry/search/search-words.ts'
import { SegmentBuilder, type WordBlock } from '#registry/search/segment.ts'
import {
  findIndexedVersion,
  insertKeyBlocks,
  insertSegment,
  insertWordBlocks,
  listEntriesStartingAt,
  listSegments,
  type SegmentRow,
} from './queries.ts'

type RunInTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

/** Limits the memory of a part while it is built to about 50 MB. */
export const ENTRIES_PER_PART = 100_000
export const KEYS_PER_BLOCK = 64
const BATCH = 1000
const BLOCKS_PER_INSERT = 100

export interface IndexedList {
  readonly tenant_id: string
  readonly dataset_id: string
}

interface IndexRun {
  readonly read: RunInTx
  readonly write: RunInTx
  /** Called after each batch with the number of entries read. */
  onBatch?(entries: number): Promise<void>
  readonly entries_per_part?: number
}

/** Indexes all versions up to `head` that are not indexed yet, and continues an interrupted run. */
export async function buildSearchIndex(run: IndexRun, list: IndexedList, head: number): Promise<void> {
  const indexed = await run.read((tx) => findIndexedVersion(tx, list))
  for (let version = indexed + 1; version <= head; version++) await indexOneVersion(run, list, version)
}

async function indexOneVersion(run: IndexRun, list: IndexedList, version: number): Promise<void> {
  const of = { ...list, version }
  const written = (await run.read((tx) => listSegments(tx, of))).filter((segment) => segment.version === version)
  let part = written.length
  let after = written.at(-1)?.last_key ?? ''
  for (;;) {
    const segment = await readPart(run, of, after)
    const row = {
      version,
      part,
      entry_count: segment.keys.length,
      last_key: segment.last_key,
      is_last: segment.is_last,
    }
    await run.write((tx) => writePart(tx, list.dataset_id, row, segment))
    if (segment.is_last) return
    after = segment.last_key
    part++
  }
}

interface PartContent {
  readonly keys: readonly string[]
  readonly blocks: readonly WordBlock[]
  readonly last_key: string
  readonly is_last: boolean
}

async function readPart(run: IndexRun, of: IndexedList & { version: number }, start: string): Promise<PartContent> {
  const entries_per_part = run.entries_per_part ?? ENTRIES_PER_PART
  const builder = new SegmentBuilder()
  const keys: string[] = []
  let after = start
  let is_last = false
  while (!is_last && keys.length < entries_per_part) {
    const wanted = Math.min(BATCH, entries_per_part - keys.length)
    const rows = await run.read((tx) => listEntriesStartingAt(tx, of, after, wanted))
    for (const { key, data } of rows) {
      keys.push(key)
      builder.add(data === null ? [] : collectEntryWords(JSON.parse(data)))
    }
    is_last = rows.length < wanted
    after = rows.at(-1)?.key ?? after
    await run.onBatch?.(rows.length)
  }
  const blocks: WordBlock[] = []
  for (const block of builder.blocks()) {
    blocks.push(block)
    // Yields to the event loop.
    if (blocks.length % 32 === 0) await setImmediate()
  }
  return { keys, blocks, last_key: after, is_last }
}

async function writePart(tx: Tx, dataset_id: string, row: SegmentRow, { keys, blocks }: PartContent): Promise<void> {
  if (!(await insertSegment(tx, dataset_id, row))) return
  const key_blocks = toChunks(keys, KEYS_PER_BLOCK)
  for (const [n, some] of toChunks(key_blocks, BLOCKS_PER_INSERT).entries()) {
    await insertKeyBlocks(tx, { dataset_id, ...row }, n * BLOCKS_PER_INSERT, some)
  }
  for (const [n, some] of toChunks(blocks, BLOCKS_PER_INSERT).entries()) {
    await insertWordBlocks(tx, { dataset_id, ...row }, n * BLOCKS_PER_INSERT, some)
  }
}

const toChunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size))
