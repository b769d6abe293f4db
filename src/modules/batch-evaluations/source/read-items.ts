/** Reads the items of a batch from a stored file, the request itself or the tenant's subjects, always in the same order. */
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
  buildAdapterOptions,
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

/** How long a loop may run before it yields to the event loop. */
const MAX_SLICE_MS = 8

/** A function to await in a loop: it yields to the event loop only when the time is up. */
export function createEventLoopYield(): () => Promise<void> {
  let until_ms = performance.now() + MAX_SLICE_MS
  return async () => {
    if (performance.now() < until_ms) return
    await nextTurn()
    until_ms = performance.now() + MAX_SLICE_MS
  }
}

/** Throws `source_invalid` when the file is broken or empty. */
async function* readFileBatches(source: Source, options: FileOptions): AsyncGenerator<Batch, void, undefined> {
  const yieldToEventLoop = createEventLoopYield()
  let isEmpty = true
  try {
    for await (const read of adapters[options.format].read(source, buildAdapterOptions(options))) {
      isEmpty &&= countRecords(read) === 0
      yield read
      await yieldToEventLoop()
    }
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
    failSourceInvalid(error.message, { code: error.code, ...(error.at && { at: error.at }) })
  }
  if (isEmpty) failSourceInvalid('The file holds no rows.', { code: 'empty_source' })
}

/** A faulty record of the file becomes a row with findings. */
async function* readFileRows(source: Source, options: FileOptions, declared: readonly Input[]) {
  let seen = 0
  for await (const read of readFileBatches(source, options)) {
    const rows = toRows(read, seen, options, declared)
    seen += rows.length
    yield rows
  }
}

export const failSourceInvalid = (detail: string, source_fault: object): never =>
  fail('source_invalid', { detail, members: { source_fault } })

/** Rows after the first `skip`, in groups of `size`. */
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

/** The members of a batch that tell which items are still to be read. */
export type BatchProgress = Pick<BatchRow, 'batch_id' | 'upload_id' | 'source' | 'done' | 'failed' | 'after_subject'>

/** All active subjects that match the filter, oldest first. Subjects created after the batch are not part of it. */
async function* readSubjectRows(
  read: RunInTx,
  filter: SubjectFilter,
  { batch_id, after_subject, done, failed }: BatchProgress,
  size: number,
): AsyncGenerator<InputRow[], void, undefined> {
  let after = after_subject
  let seq = done + failed
  for (;;) {
    const page = await read((tx) => listSubjectsAfter(tx, withActiveState(filter), after, size))
    const rows = page.filter(({ subject_id }) => subject_id < batch_id).map((subject) => toSubjectRow(subject, ++seq))
    if (rows.length > 0) yield rows
    if (page.length < size || rows.length < page.length) return
    after = rows.at(-1)?.subject_id ?? null
  }
}

export const withActiveState = (filter: SubjectFilter): SubjectFilter => ({ ...filter, state: 'active' })

const FILE_GONE =
  'Its file is no longer there: its time was over, or an erasure removed it. Order the rows that are left as a new batch.'
const SOURCE_ERASED = 'An erasure overwrote what selects its items. Order the items that are left as a new batch.'

/** Why its items cannot be read any more; null: they can. */
export function explainUnreadable({ source, upload_id }: Pick<BatchRow, 'source' | 'upload_id'>): string | null {
  if (source.is_erased) return SOURCE_ERASED
  return 'file' in source && upload_id === null ? FILE_GONE : null
}

function assertReadable(batch: BatchProgress): void {
  const reason = explainUnreadable(batch)
  if (reason !== null) fail('not_found', reason)
}

function openFile(read: RunInTx, { source, upload_id }: BatchProgress) {
  const { file } = source as Extract<ItemSource, { file: FileOptions }>
  return { options: file, bytes: readUpload(read, upload_id ?? fail('not_found', FILE_GONE)) }
}

/** Counts the rows of a batch's file by reading it to its end; a truncated or unreadable file fails here. */
export async function countFileRows(read: RunInTx, batch: BatchProgress, signal: AbortSignal): Promise<number> {
  assertReadable(batch)
  const { options, bytes } = openFile(read, batch)
  let total = 0
  for await (const group of readFileBatches(bytes, options)) {
    signal.throwIfAborted()
    total += countRecords(group)
  }
  return total
}

/** The items that a batch has not decided yet. */
export function readRemainingRows(read: RunInTx, batch: BatchProgress, declared: readonly Input[], size: number) {
  assertReadable(batch)
  const { source, done, failed } = batch
  if ('filter' in source) return readSubjectRows(read, source.filter, batch, size)
  if ('items' in source) return toPortions(readInlineRows(source.items), done + failed, size)
  const { options, bytes } = openFile(read, batch)
  return toPortions(readFileRows(bytes, options, declared), done + failed, size)
}

async function* readInlineRows(items: readonly (InlineItem | null)[]): AsyncGenerator<InputRow[], void, undefined> {
  yield items.map((item, n) => toInlineRow(item, n + 1))
}
