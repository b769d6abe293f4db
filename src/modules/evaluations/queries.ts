/** SQL of decisions, which are append-only: insert, find, and list by subject, definition, band and time. */
import { shownActor } from '#kernel/database/actor-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { IdRange } from '#kernel/search/source.ts'
import { type EvaluationRow, recordedColumns } from './records/record.ts'

/** One of the two: decisions of earlier releases are plain until a job has encrypted them. */
export interface StoredDocument {
  readonly document: string | null
  readonly document_encrypted: Buffer | null
}

/** A decision with its document and its receipt; NULLs where the receipt is missing. */
export type EvaluationWithReceipt = EvaluationRow & {
  readonly manifest: string | null
  readonly manifest_hash: string | null
  readonly receipt_valid_at: string | null
  readonly receipt_known_at: string | null
}

const stored = [...recordedColumns, 'mac'] as const
const columns = stored.join(', ')

/** Qualified with the table, for joins with tables that have columns of the same names. */
const qualifiedColumns = columns.replaceAll(/\w+/g, 'e.$&')

const shownBy = `${shownActor('e', 'created_by')} as shown_by`

/** Sent together with COMMIT, because nothing in this transaction reads it. */
export const deferEvaluation = (tx: Tx, row: EvaluationRow & { readonly document_encrypted: Buffer }): void =>
  tx.defer(
    `insert into app.evaluation (tenant_id, document_encrypted, ${columns})
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::text[], $16::text[], $17, $18, $19, $20)`,
    [tx.tenant_id, row.document_encrypted, ...stored.map((column) => row[column])],
  )

export const findEvaluation = (tx: Tx, evaluation_id: string) =>
  tx.find<EvaluationWithReceipt & StoredDocument>(
    `select ${qualifiedColumns}, ${shownBy}, e.document, e.document_encrypted, r.manifest, r.manifest_hash, r.valid_at as receipt_valid_at, r.known_at as receipt_known_at
       from app.evaluation e left join app.resolution_receipt r on r.tenant_id = e.tenant_id and r.receipt_id = e.receipt_id
      where e.tenant_id = $1 and e.evaluation_id = $2`,
    [tx.tenant_id, evaluation_id],
  )

/** Null: the subject was not erased, or is not there. */
export const findErasedAt = async (tx: Tx, subject_id: string): Promise<string | null> =>
  (
    await tx.find<{ erased_at: string | null }>(
      'select erased_at from app.subject where tenant_id = $1 and subject_id = $2',
      [tx.tenant_id, subject_id],
    )
  )?.erased_at ?? null

export type EvaluationListRow = EvaluationRow & StoredDocument & { readonly subject_name: string | null }

export interface EvaluationFilter {
  readonly subject_id?: string
  readonly family?: string
  readonly matrix_key?: string
  readonly rule_key?: string
  readonly band?: string
  readonly from_at?: string
  readonly until_at?: string
}

const conditions: Readonly<Record<keyof EvaluationFilter, string>> = {
  subject_id: 'subject_id =',
  family: 'family =',
  matrix_key: `family = 'matrix' and definition_key =`,
  rule_key: `family = 'rule' and definition_key =`,
  band: 'band =',
  from_at: 'decided_at >=',
  until_at: 'decided_at <',
}

/** Newest first. Contains only the conditions that are set: each has an index that a general statement would not use. */
export const listEvaluations = (tx: Tx, filter: EvaluationFilter, after: PagePosition, count: number) => {
  const values: unknown[] = [tx.tenant_id]
  const where = ['tenant_id = $1']
  for (const [name, condition] of Object.entries(conditions)) {
    const given = filter[name as keyof EvaluationFilter]
    if (given !== undefined) where.push(`${condition} $${values.push(given)}`)
  }
  if (after) {
    where.push(
      `(decided_at, evaluation_id) < ($${values.push(after[0])}::timestamptz, $${values.push(after[1])}::uuid)`,
    )
  }
  return tx.query<EvaluationListRow>(
    `select ${columns}, ${shownBy}, document, document_encrypted,
            (select s.name from app.subject s where s.tenant_id = e.tenant_id and s.subject_id = e.subject_id) as subject_name
       from app.evaluation e where ${where.join(' and ')}
      order by decided_at desc, evaluation_id desc limit $${values.push(count)}`,
    values,
  )
}

export interface FoundEvaluationRow {
  readonly evaluation_id: string
  readonly definition_key: string
  readonly band: string | null
  readonly hit: boolean | null
  readonly decided_at: string
  /** NULL: the decision is about inputs only. */
  readonly subject_name: string | null
}

const found = `e.evaluation_id, e.definition_key, e.band, e.hit, e.decided_at,
  (select s.name from app.subject s where s.tenant_id = e.tenant_id and s.subject_id = e.subject_id) as subject_name`

export const listEvaluationsInRange = (tx: Tx, { from, to }: IdRange, count: number) =>
  tx.query<FoundEvaluationRow>(
    `select ${found} from app.evaluation e
      where e.tenant_id = $1 and e.evaluation_id >= $2::uuid and e.evaluation_id <= $3::uuid order by e.evaluation_id limit $4`,
    [tx.tenant_id, from, to, count],
  )

/** Decisions are made at the known time of their receipt, which leads to them through the index by time. */
export const listEvaluationsByReceipt = (tx: Tx, { from, to }: IdRange, count: number) =>
  tx.query<FoundEvaluationRow>(
    `select ${found}
       from (select r.receipt_id, r.known_at from app.resolution_receipt r
              where r.tenant_id = $1 and r.receipt_id >= $2::uuid and r.receipt_id <= $3::uuid order by r.receipt_id limit $4) r
       join app.evaluation e on e.tenant_id = $1 and e.decided_at = r.known_at and e.receipt_id = r.receipt_id
      limit $4`,
    [tx.tenant_id, from, to, count],
  )

/** The newest decisions about each of the subjects, in the order of the subjects. */
export const listLatestEvaluations = (tx: Tx, subject_ids: readonly string[], per_subject: number) =>
  tx.query<FoundEvaluationRow>(
    `select x.* from unnest($2::uuid[]) with ordinality as w (subject_id, place)
      cross join lateral (select ${found} from app.evaluation e where e.tenant_id = $1 and e.subject_id = w.subject_id
        order by e.decided_at desc, e.evaluation_id desc limit $3) x
      order by w.place, x.decided_at desc`,
    [tx.tenant_id, subject_ids, per_subject],
  )

export type PlainDocumentRow = Pick<EvaluationRow, 'evaluation_id' | 'subject_id' | 'document_hash'> & {
  readonly document: string
}

/** Plain documents of earlier releases, of one subject or of all. Locked rows are left to whoever works on them. */
export const lockPlainDocuments = (tx: Tx, subject_id: string | null, count: number) =>
  tx.query<PlainDocumentRow>(
    `select evaluation_id, subject_id, document_hash, document from app.evaluation
      where tenant_id = $1 and document is not null ${subject_id === null ? '' : 'and subject_id = $3'}
      order by evaluation_id limit $2 for update skip locked`,
    [tx.tenant_id, count, ...(subject_id === null ? [] : [subject_id])],
  )

export const updateDocumentsEncrypted = (
  tx: Tx,
  documents: readonly { readonly evaluation_id: string; readonly document_encrypted: Buffer }[],
) =>
  tx.run(
    `update app.evaluation e set document = null, document_encrypted = g.document_encrypted
       from unnest($2::uuid[], $3::bytea[]) as g (evaluation_id, document_encrypted)
      where e.tenant_id = $1 and e.evaluation_id = g.evaluation_id`,
    [
      tx.tenant_id,
      documents.map(({ evaluation_id }) => evaluation_id),
      documents.map(({ document_encrypted }) => document_encrypted),
    ],
  )
