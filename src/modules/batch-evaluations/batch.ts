/** What a batch is, how far it is after a step, and what a decided item means for its subject. */
import type { JobView } from '#kernel/job/schema.ts'
import type { Static } from '#kernel/schema.ts'
import type { NewRating, SubjectFilter } from '#modules/subjects/index.ts'
import type { BandChange, ItemRow } from './decide/item-results.ts'
import type { FileOptions, InlineItem } from './source/input-rows.ts'

export type ItemSource =
  | { readonly file: FileOptions; readonly file_name?: string | null }
  | { readonly items: readonly InlineItem[] }
  | { readonly filter: SubjectFilter }

export interface BatchRow {
  readonly batch_id: string
  readonly job_id: string
  readonly family: 'matrix' | 'rule'
  readonly definition_key: string
  readonly definition_version: number
  readonly engine: number
  readonly receipt_id: string
  readonly receipt_hash: string
  readonly asked_at: string | null
  readonly valid_at: string
  readonly known_at: string
  readonly source_kind: 'upload' | 'items' | 'filter'
  readonly source: ItemSource
  readonly upload_id: string | null
  readonly note: string | null
  readonly stage: 'first' | 'again'
  readonly after_subject: string | null
  readonly after_seq: number
  /** Null as long as nobody has counted. */
  readonly total: number | null
  readonly done: number
  readonly failed: number
  readonly created_at: string
  readonly created_by: string
  readonly finished_at: string | null
  readonly state: Static<typeof JobView>['state']
  readonly problem: Record<string, unknown> | null
  readonly manifest: string
  /** Null where it came from no upload, and once that is removed: the hash of a file of people goes with the file. */
  readonly upload_sha256: string | null
}

export type NewBatch = Omit<
  BatchRow,
  | 'stage'
  | 'after_subject'
  | 'after_seq'
  | 'done'
  | 'failed'
  | 'created_at'
  | 'created_by'
  | 'finished_at'
  | 'state'
  | 'problem'
  | 'manifest'
  | 'upload_sha256'
>

export interface ItemTally {
  readonly state: ItemRow['state']
  readonly known: boolean
  readonly previous_band: string | null
  readonly band: string | null
  readonly hit: boolean | null
  readonly change: BandChange | null
  readonly failure_code: string | null
  readonly count: number
}

/** What the audit record keeps a code of. */
export const toDigest = ({ seq, state, document_hash, failure_code }: ItemRow) => [
  seq,
  state,
  document_hash ?? failure_code,
]

/** How far the batch is with these items. Those that are tried again have been counted as failed. */
export function advanceBatch(batch: BatchRow, items: readonly ItemRow[]): BatchRow {
  const done = items.filter(({ state }) => state === 'done').length
  const last = items.at(-1) as ItemRow
  const failed = batch.stage === 'again' ? -done : items.length - done
  return {
    ...batch,
    done: batch.done + done,
    failed: batch.failed + failed,
    after_seq: last.seq,
    after_subject: batch.source_kind === 'filter' && batch.stage === 'first' ? last.subject_id : batch.after_subject,
  }
}

export function toRating(
  batch: BatchRow,
  { subject_id, band, score_bps }: ItemRow,
  rating_id: string,
): NewRating | null {
  if (subject_id === null || band === null || score_bps === null) return null
  return {
    rating_id,
    subject_id,
    band,
    score_bps,
    cause: 'batch',
    matrix_key: batch.definition_key,
    matrix_version: batch.definition_version,
    batch_id: batch.batch_id,
    valid_at: batch.valid_at,
  }
}
