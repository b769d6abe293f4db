/** The row of a batch, its progress after a step, and the ratings of decided items. */
import type { JobView } from '#kernel/job/schema.ts'
import type { Static } from '#kernel/schema.ts'
import type { ratingStore, SubjectFilter } from '#modules/subjects/index.ts'
import type { BandChange, ItemRow } from './decide/item-results.ts'
import type { FileOptions, InlineItem } from './source/input-rows.ts'

export type ItemSource = (
  | { readonly file: FileOptions; readonly file_name?: string | null }
  | { readonly items: readonly (InlineItem | null)[] }
  | { readonly filter: SubjectFilter }
) & {
  /** An erasure overwrote what selects the items. */
  readonly is_erased?: true
}

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
  /** Null until the items are counted. */
  readonly total: number | null
  readonly done: number
  readonly failed: number
  readonly created_at: string
  readonly created_by: string
  readonly finished_at: string | null
  readonly state: Static<typeof JobView>['state']
  readonly problem: Record<string, unknown> | null
  readonly manifest: string
  /** Null without an upload, and after it is removed: the hash of a file with personal data is not kept longer than the file. */
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

/** The members that the audit event covers by a keyed hash. */
export const toDigest = ({ seq, state, document_hash, failure_code }: ItemRow) => [
  seq,
  state,
  document_hash ?? failure_code,
]

/** The progress of a batch after these items. Retried items were counted as failed before. */
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
  { subject_id, band, score_bps }: Pick<ItemRow, 'subject_id' | 'band' | 'score_bps'>,
  rating_id: string,
): ratingStore.NewRating | null {
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
