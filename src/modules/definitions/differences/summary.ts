/**
 * Counts differences between two versions by kind and by field. Few differences are counted in the request; many are counted
 * once by a job and stored, so that the first page never waits for them.
 */
import type { Tx } from '#kernel/database/tx.ts'
import { listFieldChanges } from '#registry/content/json-patch.ts'
import type { DatasetRow } from '../datasets/queries.ts'
import { parseDifference } from '../versions/entries.ts'
import { type DifferenceRow, listVersionDifferences, type VersionRow } from '../versions/queries.ts'
import {
  type DifferenceCounts,
  findSummary,
  insertSummary,
  type SummaryRow,
  sumDifferences,
  type VersionRange,
} from './queries.ts'

type RunInTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>
type DatasetId = Pick<DatasetRow, 'tenant_id' | 'dataset_id'>

const BATCH = 2000
/** Each batch reads both lists. */
const TWO_LIST_BATCH = 50_000
/** At most this many keys are compared in the request: about 30 ms. */
const MAX_SYNC_KEYS = 1000
const MAX_FIELDS = 200

export interface DifferenceSummary extends DifferenceCounts {
  readonly fields: { pointer: string; changed: number }[]
  /** False: the fields are not counted yet. */
  readonly exact: boolean
}

/** `partial`: the fields are still to be counted. `pending`: nothing is counted yet. */
export interface SummaryResult {
  readonly summary: DifferenceSummary | null
  readonly summary_state: 'complete' | 'partial' | 'pending'
}

export async function getDifferenceSummary(tx: Tx, from: VersionRow, to: VersionRow): Promise<SummaryResult> {
  const read: RunInTx = (body) => body(tx)
  // Versions of two lists have no shared history from which to estimate the size, and both must be read fully anyway.
  if (from.dataset_id !== to.dataset_id) return toCompleteResult(await countDifferences(read, from, to))
  const range = { from: from.version, to: to.version }
  if ((await sumDifferences(tx, to, range)) <= MAX_SYNC_KEYS)
    return toCompleteResult(await countDifferences(read, from, to))
  const stored = await findSummary(tx, to, range)
  if (stored) return toCompleteResult(stored)
  const counts = getNeighbourCounts(from, to)
  return counts
    ? { summary: { ...counts, fields: [], exact: false }, summary_state: 'partial' }
    : { summary: null, summary_state: 'pending' }
}

const toCompleteResult = ({ fields, ...counts }: SummaryRow): SummaryResult => ({
  summary: { ...counts, fields: [...fields], exact: true },
  summary_state: 'complete',
})

/** Adjacent versions: their counts were stored when the later one was published. */
function getNeighbourCounts(from: VersionRow, to: VersionRow): DifferenceCounts | null {
  if (to.version === from.version + 1) return to.difference
  if (from.version !== to.version + 1) return null
  const { added, removed, changed } = from.difference
  return { added: removed, removed: added, changed }
}

type VersionId = Pick<VersionRow, 'tenant_id' | 'dataset_id' | 'version'>

/** Compares every differing entry field by field. */
export async function countDifferences(
  read: RunInTx,
  older: VersionId,
  newer: VersionId,
  onBatch = async (_keys: number) => {},
): Promise<SummaryRow> {
  const counts = { added: 0, removed: 0, changed: 0 }
  const fields = new Map<string, number>()
  const batch = older.dataset_id === newer.dataset_id ? BATCH : TWO_LIST_BATCH
  let after: string | null = null
  for (;;) {
    const from = after
    const rows: DifferenceRow[] = await read((tx) =>
      listVersionDifferences(tx, older, newer, { after: from, prefix: null, count: batch }),
    )
    for (const row of rows) {
      const [before, later] = parseDifference(row)
      counts[before ? (later ? 'changed' : 'removed') : 'added']++
      if (!before || !later) continue
      const pointers = listFieldChanges(before, later).map(({ pointer }) => pointer.replace(/\/\d+(?=\/|$)/g, '/*'))
      for (const field of pointers) fields.set(field, (fields.get(field) ?? 0) + 1)
    }
    await onBatch(rows.length)
    if (rows.length < batch) break
    after = rows.at(-1)?.key ?? null
  }
  const sorted = [...fields].map(([pointer, changed]) => ({ pointer, changed })).sort((a, b) => b.changed - a.changed)
  return { ...counts, fields: sorted.slice(0, MAX_FIELDS) }
}

interface SummaryRun {
  readonly read: RunInTx
  readonly write: RunInTx
  /** Called after each batch with the number of compared keys. */
  readonly onBatch?: (keys: number) => Promise<void>
}

export async function storeSummary({ read, write, onBatch }: SummaryRun, dataset: DatasetId, range: VersionRange) {
  const stored = await read((tx) => findSummary(tx, dataset, range))
  if (stored) return stored
  const toVersionId = (version: number): VersionId => ({ ...dataset, version })
  const summary = await countDifferences(read, toVersionId(range.from), toVersionId(range.to), onBatch)
  await write((tx) => insertSummary(tx, dataset, range, summary))
  return summary
}
