/** Where the items of a batch come from: a stored file, the order itself, or the tenant's subjects; always in the same order. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Input } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { listSubjectsAfter, type SubjectFilter } from '#modules/subjects/index.ts'
import { readUpload } from '#modules/system/index.ts'
import { type Adapter, type Batch, type Source, SourceFault } from '#registry/adapter.ts'
import { csv } from '#registry/adapters/csv.ts'
import { ndjson } from '#registry/adapters/json.ts'
import type { BatchRow, ItemSource } from '../batch.ts'
import {
  adapterOptions,
  countRecords,
  type FileOptions,
  type InlineItem,
  type InputRow,
  toInlineRow,
  toRows,
  toSubjectRow,
} from './input-rows.ts'

export type RunInTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

const adapters: Readonly<Record<'csv' | 'ndjson', Adapter>> = { csv, ndjson }

/** How long one thing may follow another before whatever else the process has to do gets its turn. */
const MAX_SLICE_MS = 8

/** To be awaited often: it only waits when it is time to. */
export function createEventLoopYield(): () => Promise<void> {
  let until_ms = performance.now() + MAX_SLICE_MS
  return async () => {
    if (performance.now() < until_ms) return
    await nextTurn()
    until_ms = performance.now() + MAX_SLICE_MS
  }
}

/** Throws `source_invalid` where the file itself is broken, or holds nothing. */
async function* readFileBatches(source: Source, order: FileOptions): AsyncGenerator<Batch, void, undefined> {
  const turn = createEventLoopYield()
  let isEmpty = true
  try {
    for await (const read of adapters[order.format].read(source, adapterOptions(order))) {
      isEmpty &&= countRecords(read) === 0
      yield read
      await turn()
    }
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
    failSourceInvalid(error.message, { code: error.code, ...(error.at && { at: error.at }) })
  }
  if (isEmpty) failSourceInvalid('The file holds no rows.', { code: 'empty_source' })
}

/** A bad record of the file is a row that says so. */
async function* readFileRows(source: Source, order: FileOptions, declared: readonly Input[]) {
  let seen = 0
  for await (const read of readFileBatches(source, order)) {
    const rows = toRows(read, seen, order, declared)
    seen += rows.length
    yield rows
  }
}

export const failSourceInvalid = (detail: string, source_fault: object): never =>
  fail('source_invalid', { detail, members: { source_fault } })

/** Those behind the first `skip`, in portions of a size. */
export async function* toPortions(
  groups: AsyncIterable<readonly InputRow[]>,
  skip: number,
  size: number,
): AsyncGenerator<InputRow[], void, undefined> {
  let held: InputRow[] = []
  for await (const group of groups) {
    for (const row of group) {
      if (row.seq <= skip) continue
      held.push(row)
      if (held.length < size) continue
      yield held
      held = []
    }
  }
  if (held.length > 0) yield held
}

/** What of a batch says which items it has not taken yet. */
export type BatchProgress = Pick<BatchRow, 'batch_id' | 'upload_id' | 'source' | 'done' | 'failed' | 'after_subject'>

/** Every active subject that fits, oldest first. Whoever was added after the order was given is not part of it. */
async function* readSubjectRows(
  read: RunInTx,
  filter: SubjectFilter,
  { batch_id, after_subject, done, failed }: BatchProgress,
  size: number,
): AsyncGenerator<InputRow[], void, undefined> {
  let after = after_subject
  let seq = done + failed
  for (;;) {
    const page = await read((tx) => listSubjectsAfter(tx, activeOnly(filter), after, size))
    const rows = page.filter(({ subject_id }) => subject_id < batch_id).map((subject) => toSubjectRow(subject, ++seq))
    if (rows.length > 0) yield rows
    if (page.length < size || rows.length < page.length) return
    after = rows.at(-1)?.subject_id ?? null
  }
}

export const activeOnly = (filter: SubjectFilter): SubjectFilter => ({ ...filter, state: 'active' })

function openFile(read: RunInTx, { source, upload_id }: BatchProgress) {
  const { file } = source as Extract<ItemSource, { file: FileOptions }>
  return { order: file, bytes: readUpload(read, upload_id ?? fail('not_found', 'The upload is no longer there.')) }
}

/** How many rows the file of a batch has, read to its end: a half or unreadable one fails here. */
export async function countFileRows(read: RunInTx, batch: BatchProgress, signal: AbortSignal): Promise<number> {
  const { order, bytes } = openFile(read, batch)
  let total = 0
  for await (const group of readFileBatches(bytes, order)) {
    signal.throwIfAborted()
    total += countRecords(group)
  }
  return total
}

/** The items a batch has not taken yet. */
export function readRemainingRows(read: RunInTx, batch: BatchProgress, declared: readonly Input[], size: number) {
  const { source, done, failed } = batch
  if ('filter' in source) return readSubjectRows(read, source.filter, batch, size)
  if ('items' in source) return toPortions(readInlineRows(source.items), done + failed, size)
  const { order, bytes } = openFile(read, batch)
  return toPortions(readFileRows(bytes, order, declared), done + failed, size)
}

async function* readInlineRows(items: readonly InlineItem[]): AsyncGenerator<InputRow[], void, undefined> {
  yield items.map((item, n) => toInlineRow(item, n + 1))
}
