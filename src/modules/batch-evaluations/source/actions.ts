/** Where the items of a batch come from: a stored file, the order itself, or the tenant's subjects; always in the same order. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Input } from '../../../decision/model.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import { fail } from '../../../kernel/problem.ts'
import { type Adapter, type Batch, type Source, SourceFault } from '../../../registry/adapter.ts'
import { csv } from '../../../registry/adapters/csv.ts'
import { ndjson } from '../../../registry/adapters/json.ts'
import { listSubjectsAfter, type SubjectFilter } from '../../subjects/index.ts'
import { readUpload } from '../../system/index.ts'
import type { BatchRow, SourceOrder } from '../rules.ts'
import {
  adapterOptions,
  countRecords,
  type FileOrder,
  type GivenItem,
  givenRow,
  type Row,
  rowsOf,
  subjectRow,
} from './rules.ts'

export type ReadTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

const adapters: Readonly<Record<'csv' | 'ndjson', Adapter>> = { csv, ndjson }

/** How long one thing may follow another before whatever else the process has to do gets its turn. */
const SLICE_MS = 8

/** To be awaited often: it only waits when it is time to. */
export function takeTurns(): () => Promise<void> {
  let until_ms = performance.now() + SLICE_MS
  return async () => {
    if (performance.now() < until_ms) return
    await nextTurn()
    until_ms = performance.now() + SLICE_MS
  }
}

/** Throws `source_invalid` where the file itself is broken, or holds nothing. */
async function* readings(source: Source, order: FileOrder): AsyncGenerator<Batch, void, undefined> {
  const turn = takeTurns()
  let isEmpty = true
  try {
    for await (const read of adapters[order.format].read(source, adapterOptions(order))) {
      isEmpty &&= countRecords(read) === 0
      yield read
      await turn()
    }
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
    refuseSource(error.message, { code: error.code, ...(error.at && { at: error.at }) })
  }
  if (isEmpty) refuseSource('The file holds no rows.', { code: 'empty_source' })
}

/** A bad record of the file is a row that says so. */
async function* fileRows(source: Source, order: FileOrder, declared: readonly Input[]) {
  let seen = 0
  for await (const read of readings(source, order)) {
    const rows = rowsOf(read, seen, order, declared)
    seen += rows.length
    yield rows
  }
}

export const refuseSource = (detail: string, source_fault: object): never =>
  fail('source_invalid', { detail, members: { source_fault } })

/** Those behind the first `skip`, in portions of a size. */
export async function* portionsOf(
  groups: AsyncIterable<readonly Row[]>,
  skip: number,
  size: number,
): AsyncGenerator<Row[], void, undefined> {
  let held: Row[] = []
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
export type Standing = Pick<BatchRow, 'batch_id' | 'upload_id' | 'source' | 'done' | 'failed' | 'after_subject'>

/** Every active subject that fits, oldest first. Whoever was added after the order was given is not part of it. */
async function* subjectRows(
  read: ReadTx,
  filter: SubjectFilter,
  { batch_id, after_subject, done, failed }: Standing,
  size: number,
): AsyncGenerator<Row[], void, undefined> {
  let after = after_subject
  let seq = done + failed
  for (;;) {
    const page = await read((tx) => listSubjectsAfter(tx, activeOnly(filter), after, size))
    const rows = page.filter(({ subject_id }) => subject_id < batch_id).map((subject) => subjectRow(subject, ++seq))
    if (rows.length > 0) yield rows
    if (page.length < size || rows.length < page.length) return
    after = rows.at(-1)?.subject_id ?? null
  }
}

export const activeOnly = (filter: SubjectFilter): SubjectFilter => ({ ...filter, state: 'active' })

function fileOf(read: ReadTx, { source, upload_id }: Standing) {
  const { file } = source as Extract<SourceOrder, { file: FileOrder }>
  return { order: file, bytes: readUpload(read, upload_id ?? fail('not_found', 'The upload is no longer there.')) }
}

/** How many rows the file of a batch has, read to its end: a half or unreadable one fails here. */
export async function countFile(read: ReadTx, batch: Standing, signal: AbortSignal): Promise<number> {
  const { order, bytes } = fileOf(read, batch)
  let total = 0
  for await (const group of readings(bytes, order)) {
    signal.throwIfAborted()
    total += countRecords(group)
  }
  return total
}

/** The items a batch has not taken yet. */
export function remaining(read: ReadTx, batch: Standing, declared: readonly Input[], size: number) {
  const { source, done, failed } = batch
  if ('filter' in source) return subjectRows(read, source.filter, batch, size)
  if ('items' in source) return portionsOf(inlineRows(source.items), done + failed, size)
  const { order, bytes } = fileOf(read, batch)
  return portionsOf(fileRows(bytes, order, declared), done + failed, size)
}

async function* inlineRows(items: readonly GivenItem[]): AsyncGenerator<Row[], void, undefined> {
  yield items.map((item, n) => givenRow(item, n + 1))
}
