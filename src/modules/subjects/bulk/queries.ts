/** SQL of bulk imports: progress, rejected rows, and the external ids that a file has used. */
import type { Tx } from '#kernel/database/tx.ts'
import type { JobState } from '#kernel/job/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { Reject, SourceLocation } from '#registry/adapter.ts'
import type { RowCounts } from './file-rows.ts'

export interface BulkRow {
  readonly bulk_id: string
  readonly job_id: string
  readonly upload_id: string | null
  readonly format: 'csv' | 'ndjson'
  readonly options: Record<string, unknown>
  /** `sha256` is removed with the upload: the hash of a file with personal data is not kept longer than the file. */
  readonly source: { readonly file_name: string | null; readonly size_bytes: number; readonly sha256: string | null }
  readonly counts: RowCounts
  readonly created_at: string
  readonly created_by: string
  readonly finished_at: string | null
  readonly state: JobState
  readonly progress: { readonly done: number; readonly total: number | null; readonly unit: string | null }
  readonly problem: Record<string, unknown> | null
  /** Number of stored faults. */
  readonly kept: number
}

export const insertBulk = (
  tx: Tx,
  row: Pick<BulkRow, 'bulk_id' | 'job_id' | 'upload_id' | 'format' | 'options' | 'counts'> & {
    readonly source: Omit<BulkRow['source'], 'sha256'>
  },
) =>
  tx.run(
    `insert into app.subject_bulk (tenant_id, bulk_id, job_id, upload_id, format, options, source, counts, created_by)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8::jsonb, $9)`,
    [
      tx.tenant_id,
      row.bulk_id,
      row.job_id,
      row.upload_id,
      row.format,
      JSON.stringify(row.options),
      JSON.stringify(row.source),
      JSON.stringify(row.counts),
      tx.actor,
    ],
  )

/** The state is that of the job; after the job is removed, only the outcome remains. */
export const findBulk = (tx: Tx, bulk_id: string) =>
  tx.find<BulkRow>(
    `select b.bulk_id, b.job_id, b.upload_id, b.format, b.options,
            b.source || jsonb_build_object('sha256', u.sha256) as source, b.counts, b.created_at, b.created_by,
            coalesce(b.finished_at, j.finished_at) as finished_at, j.problem,
            coalesce(j.state, case when b.finished_at is null then 'failed' else 'succeeded' end) as state,
            jsonb_build_object('done', coalesce(j.progress_done, 0), 'total', j.progress_total, 'unit', j.progress_unit) as progress,
            (select coalesce(max(r.seq), 0) from app.subject_bulk_reject r where r.tenant_id = $1 and r.bulk_id = $2) as kept
       from app.subject_bulk b left join app.job j on j.tenant_id = b.tenant_id and j.job_id = b.job_id
       left join app.upload u on u.tenant_id = b.tenant_id and u.upload_id = b.upload_id
      where b.tenant_id = $1 and b.bulk_id = $2`,
    [tx.tenant_id, bulk_id],
  )

export const updateBulkCounts = (tx: Tx, bulk_id: string, counts: RowCounts) =>
  tx.run('update app.subject_bulk set counts = $3::jsonb where tenant_id = $1 and bulk_id = $2', [
    tx.tenant_id,
    bulk_id,
    JSON.stringify(counts),
  ])

export const updateBulkFinished = (tx: Tx, bulk_id: string) =>
  tx.run('update app.subject_bulk set finished_at = now() where tenant_id = $1 and bulk_id = $2', [
    tx.tenant_id,
    bulk_id,
  ])

/**
 * Inserts the external ids that the file uses for the first time; returns, for the others, the row that used them first. Only those are
 * looked up: the plan of a look-up is made while the table is empty and reads all of it.
 */
export async function claimExternalIds(tx: Tx, bulk_id: string, keys: ReadonlyMap<string, number>) {
  const claimed = await tx.query<{ external_id: string }>(
    `insert into app.subject_bulk_key (tenant_id, bulk_id, external_id, first_row)
     select $1, $2, g.external_id, g.first_row from unnest($3::text[], $4::bigint[]) as g (external_id, first_row)
     on conflict on constraint subject_bulk_key_pkey do nothing returning external_id`,
    [tx.tenant_id, bulk_id, [...keys.keys()], [...keys.values()]],
  )
  if (claimed.length === keys.size) return []
  const own = new Set(claimed.map(({ external_id }) => external_id))
  return tx.query<{ external_id: string; first_row: number }>(
    `select external_id, first_row from app.subject_bulk_key
      where tenant_id = $1 and bulk_id = $2 and external_id = any($3::text[])`,
    [tx.tenant_id, bulk_id, [...keys.keys()].filter((key) => !own.has(key))],
  )
}

export const removeExternalIds = (tx: Tx, bulk_id: string) =>
  tx.run('delete from app.subject_bulk_key where tenant_id = $1 and bulk_id = $2', [tx.tenant_id, bulk_id])

export const insertBulkRejects = (tx: Tx, bulk_id: string, first_seq: number, items: readonly Reject[]) =>
  tx.run(
    `insert into app.subject_bulk_reject (tenant_id, bulk_id, seq, code, pointer, location, excerpt, message)
     select $1, $2, $3::bigint + r.n, r.code, r.pointer, r.at, r.excerpt, r.message
       from jsonb_to_recordset($4::jsonb) as r (n bigint, code text, pointer text, at jsonb, excerpt text, message text)`,
    [tx.tenant_id, bulk_id, first_seq, JSON.stringify(items.map((item, n) => ({ n, ...item })))],
  )

export interface BulkRejectRow {
  readonly seq: number
  readonly code: string
  readonly pointer: string
  readonly at: SourceLocation
  readonly excerpt: string | null
  readonly message: string
}

export const listBulkRejects = (tx: Tx, bulk_id: string, after: PagePosition, count: number) =>
  tx.query<BulkRejectRow>(
    `select seq, code, pointer, location as at, excerpt, message from app.subject_bulk_reject
      where tenant_id = $1 and bulk_id = $2 and ($3::bigint is null or seq > $3) order by seq limit $4`,
    [tx.tenant_id, bulk_id, after?.[0] ?? null, count],
  )

export interface RejectGroupRow {
  readonly code: string
  readonly pointer: string
  readonly message: string
  readonly rows: number
  readonly first_row: number
}

/** Equal faults of many rows as one, the most frequent first: usually a column that is named otherwise. */
export const listRejectGroups = (tx: Tx, bulk_id: string, count: number) =>
  tx.query<RejectGroupRow>(
    `select code, pointer, message, count(*) as rows, min((location ->> 'row')::bigint) as first_row from app.subject_bulk_reject
      where tenant_id = $1 and bulk_id = $2 group by code, pointer, message having count(*) > 1
      order by count(*) desc, min(seq) limit $3`,
    [tx.tenant_id, bulk_id, count],
  )
