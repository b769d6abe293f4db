/** Reads the rows of a bulk file, and imports one step of them in one transaction. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { type Adapter, type Batch, type Reject, type Source, SourceFault } from '#registry/adapter.ts'
import { findOptionFaults } from '#registry/adapter-options.ts'
import { csv } from '#registry/adapters/csv.ts'
import { ndjson } from '#registry/adapters/json.ts'
import { type SubjectInput, upsertSubjects } from '../records/upsert-subjects.ts'
import {
  type BulkItem,
  countRows,
  type RowCounts,
  toDuplicateReject,
  toItems,
  toOffboardedReject,
} from './file-rows.ts'
import { claimExternalIds, insertBulkRejects, updateBulkCounts } from './queries.ts'

export const bulkAdapters: Readonly<Record<'csv' | 'ndjson', Adapter>> = { csv, ndjson }

export function bulkOptionFaults(format: 'csv' | 'ndjson', options: Record<string, unknown>) {
  const faults = findOptionFaults(bulkAdapters[format], options)
  if (options['group_rows'] === undefined) return faults
  return [...faults, { pointer: '/group_rows', detail: 'is not possible here: each row is one subject' }]
}

/** Maximum number of stored faults; all are counted. */
export const MAX_KEPT_REJECTS = 100_000

/** Throws `source_invalid` where the file itself is broken. */
export async function* readBatches(
  source: Source,
  format: 'csv' | 'ndjson',
  options: Record<string, unknown>,
): AsyncGenerator<Batch> {
  try {
    // The encoding is not guessed: a wrong guess could not be reported here and would garble names silently.
    yield* bulkAdapters[format].read(source, { encoding: 'utf-8', ...options })
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
    fail('source_invalid', {
      detail: error.message,
      members: { source_fault: { code: error.code, ...(error.at && { at: error.at }) } },
    })
  }
}

/** Items after the first `skip`, in groups of `size`. */
export async function* toPortions(
  batches: AsyncIterable<Batch>,
  format: 'csv' | 'ndjson',
  skip: number,
  size: number,
): AsyncGenerator<BulkItem[]> {
  let left = skip
  let held: BulkItem[] = []
  for await (const batch of batches) {
    const rows = countRows(batch)
    // Rows that were imported before are skipped without checking.
    if (left < rows) held.push(...toItems(batch, format === 'csv').slice(left))
    left = Math.max(0, left - rows)
    for (; held.length >= size; held = held.slice(size)) yield held.slice(0, size)
  }
  if (held.length > 0) yield held
}

interface ReadableItem extends BulkItem {
  readonly subject: SubjectInput
}
const isReadable = (item: BulkItem): item is ReadableItem => item.subject !== undefined

/** Splits rows: the first use of an external id is imported, later uses are rejected. */
async function filterFirstUses(
  tx: Tx,
  bulk_id: string,
  items: readonly ReadableItem[],
  rejects: Reject[],
): Promise<ReadableItem[]> {
  const first = new Map<string, number>()
  for (const { at, subject } of items) {
    const { external_id } = subject
    if (external_id !== undefined && !first.has(external_id)) first.set(external_id, at.row)
  }
  const used = first.size === 0 ? [] : await claimExternalIds(tx, bulk_id, first)
  for (const { external_id, first_row } of used) first.set(external_id, first_row)
  return items.filter(({ at, subject: { external_id } }) => {
    if (external_id === undefined || first.get(external_id) === at.row) return true
    rejects.push(toDuplicateReject(at, external_id, first.get(external_id) as number))
    return false
  })
}

export interface BulkProgress {
  readonly counts: RowCounts
  /** Number of stored faults. */
  readonly kept: number
}

/** One step: every row is created, changed, left unchanged or rejected, and counted once. */
export async function importPortion(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  bulk_id: string,
  { items, before }: { readonly items: readonly BulkItem[]; readonly before: BulkProgress },
): Promise<BulkProgress> {
  const rejects = items.flatMap((item) => item.rejects ?? [])
  const taken = await filterFirstUses(tx, bulk_id, items.filter(isReadable), rejects)
  const outcomes = await upsertSubjects(
    kernel,
    tx,
    taken.map(({ subject }) => subject),
  )
  const count = (outcome: string): number => outcomes.filter((upserted) => upserted.outcome === outcome).length
  for (const [index, { outcome, subject }] of outcomes.entries()) {
    if (outcome === 'offboarded')
      rejects.push(toOffboardedReject((taken[index] as ReadableItem).at, subject.external_id as string))
  }
  const [created, changed, unchanged] = [count('created'), count('changed'), count('unchanged')]
  const counts: RowCounts = {
    rows: before.counts.rows + items.length,
    created: before.counts.created + created,
    changed: before.counts.changed + changed,
    unchanged: before.counts.unchanged + unchanged,
    rejected: before.counts.rejected + items.length - created - changed - unchanged,
    faults: before.counts.faults + rejects.length,
  }
  const capacity = rejects.toSorted((a, b) => a.at.row - b.at.row).slice(0, MAX_KEPT_REJECTS - before.kept)
  if (capacity.length > 0) await insertBulkRejects(tx, bulk_id, before.kept + 1, capacity)
  await updateBulkCounts(tx, bulk_id, counts)
  return { counts, kept: before.kept + capacity.length }
}
