/** SQL of decisions, which are append-only: insert, find, and list by subject, definition, band and time. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import { type EvaluationRow, recordedColumns } from './records/record.ts'

/** A decision with its document and its receipt; NULLs where the receipt is missing. */
export type EvaluationWithReceipt = EvaluationRow & {
  readonly document: string
  readonly manifest: string | null
  readonly manifest_hash: string | null
  readonly receipt_valid_at: string | null
  readonly receipt_known_at: string | null
}

const stored = [...recordedColumns, 'mac'] as const
const columns = stored.join(', ')

/** Qualified with the table, for joins with tables that have columns of the same names. */
const qualifiedColumns = columns.replaceAll(/\w+/g, 'e.$&')

/** Sent together with COMMIT, because nothing in this transaction reads it. */
export const deferEvaluation = (tx: Tx, row: EvaluationRow & { readonly document: string }): void =>
  tx.defer(
    `insert into app.evaluation (tenant_id, document, ${columns})
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::text[], $16::text[], $17, $18, $19, $20)`,
    [tx.tenant_id, row.document, ...stored.map((column) => row[column])],
  )

export const findEvaluation = (tx: Tx, evaluation_id: string) =>
  tx.find<EvaluationWithReceipt>(
    `select ${qualifiedColumns}, e.document, r.manifest, r.manifest_hash, r.valid_at as receipt_valid_at, r.known_at as receipt_known_at
       from app.evaluation e left join app.resolution_receipt r on r.tenant_id = e.tenant_id and r.receipt_id = e.receipt_id
      where e.tenant_id = $1 and e.evaluation_id = $2`,
    [tx.tenant_id, evaluation_id],
  )

export type EvaluationListRow = EvaluationRow & { readonly document_fits: boolean }

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
    `select ${columns}, encode(sha256(convert_to(document, 'UTF8')), 'hex') = document_hash as document_fits
       from app.evaluation where ${where.join(' and ')}
      order by decided_at desc, evaluation_id desc limit $${values.push(count)}`,
    values,
  )
}
