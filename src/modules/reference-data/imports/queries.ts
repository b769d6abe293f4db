/** SQL of imports and of the rows they rejected. */

import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { Reject, SourceLocation } from '#registry/adapter.ts'
import { UNSTORABLE } from '#registry/types/entry-fault-messages.ts'

export interface ImportSource {
  readonly file_name: string | null
  readonly size_bytes: number
  /** Null where the file has dropped or hashed members, which could be guessed from its hash. */
  readonly sha256: string | null
  /** A keyed hash in place of it: equal for the same file of one tenant, and useless without the key. */
  readonly fingerprint?: string
}

export interface ImportRow {
  readonly import_id: string
  readonly dataset_id: string
  readonly list_key: string
  readonly state: string
  readonly job_id: string | null
  readonly upload_id: string | null
  readonly adapter_key: string
  readonly adapter_version: number
  readonly options: Record<string, unknown>
  readonly order_text: Record<string, unknown>
  readonly source: ImportSource
  /** Counts of the file and, for a delta, of its changes. */
  readonly counts: Record<string, unknown>
  readonly rejects: unknown[]
  readonly gates: unknown[]
  readonly warnings: unknown[]
  readonly files: unknown[]
  readonly version: number | null
  readonly created_at: string
  readonly created_by: string
  readonly finished_at: string | null
  readonly progress_done: number | null
  readonly progress_total: number | null
  readonly progress_unit: string | null
  readonly problem: Record<string, unknown> | null
}

/**
 * A cancelled or failed job has more information than the import could store itself. Until the job has ended, the import has
 * not ended either.
 */
const state = `case when i.state in ('queued', 'running') and j.state in ('failed', 'cancelled') then j.state
  when i.state not in ('published', 'unchanged') and j.state = 'running' then 'running' else i.state end`
const view = `i.import_id, i.dataset_id, i.list_key, ${state} as state, i.job_id, i.upload_id, i.adapter_key, i.adapter_version,
  i.options, i.order_text, i.source, i.counts, i.rejects, i.gates, i.warnings, i.files, i.version, i.created_at, i.created_by,
  case when j.state = 'running' then null else coalesce(i.finished_at, j.finished_at) end as finished_at, j.progress_done, j.progress_total, j.progress_unit, j.problem`
const from = 'app.dataset_import i left join app.job j on j.tenant_id = i.tenant_id and j.job_id = i.job_id'

export const insertImport = (
  tx: Tx,
  row: Pick<
    ImportRow,
    | 'import_id'
    | 'dataset_id'
    | 'list_key'
    | 'job_id'
    | 'upload_id'
    | 'adapter_key'
    | 'adapter_version'
    | 'options'
    | 'order_text'
    | 'source'
  >,
) =>
  tx.run(
    `insert into app.dataset_import (tenant_id, import_id, dataset_id, list_key, job_id, upload_id, adapter_key, adapter_version,
       options, order_text, source, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10::jsonb, $11::jsonb, $12)`,
    [
      tx.tenant_id,
      row.import_id,
      row.dataset_id,
      row.list_key,
      row.job_id,
      row.upload_id,
      row.adapter_key,
      row.adapter_version,
      JSON.stringify(row.options),
      JSON.stringify(row.order_text),
      JSON.stringify(row.source),
      tx.actor,
    ],
  )

export const findImport = (tx: Tx, import_id: string) =>
  tx.find<ImportRow>(`select ${view} from ${from} where i.tenant_id = $1 and i.import_id = $2`, [
    tx.tenant_id,
    import_id,
  ])

export const listImports = (
  tx: Tx,
  filter: { list_key: string | null; state: string | null },
  after: PagePosition,
  count: number,
) =>
  tx.query<ImportRow>(
    `select ${view} from ${from}
      where i.tenant_id = $1 and ($2::text is null or i.list_key = $2) and ($3::text is null or ${state} = $3)
        and ($4::timestamptz is null or (i.created_at, i.import_id) < ($4, $5::uuid))
      order by i.created_at desc, i.import_id desc limit $6`,
    [tx.tenant_id, filter.list_key, filter.state, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const updateImport = (
  tx: Tx,
  import_id: string,
  end: {
    state: string
    counts?: object
    rejects?: readonly unknown[]
    gates?: readonly unknown[]
    warnings?: readonly unknown[]
    files?: readonly unknown[]
    version?: number | null
  },
) =>
  tx.run(
    `update app.dataset_import set state = $3, counts = coalesce($4::jsonb, counts), rejects = coalesce($5::jsonb, rejects),
        gates = coalesce($6::jsonb, gates), warnings = coalesce($7::jsonb, warnings), version = coalesce($8, version),
        files = coalesce($9::jsonb, files),
        finished_at = case when $3 in ('queued', 'running') then null else clock_timestamp() end
      where tenant_id = $1 and import_id = $2`,
    [
      tx.tenant_id,
      import_id,
      end.state,
      end.counts ? JSON.stringify(end.counts) : null,
      end.rejects ? JSON.stringify(end.rejects) : null,
      end.gates ? JSON.stringify(end.gates) : null,
      end.warnings ? JSON.stringify(end.warnings) : null,
      end.version ?? null,
      end.files ? JSON.stringify(end.files) : null,
    ],
  )

export const removeRejects = (tx: Tx, import_id: string) =>
  tx.run('delete from app.dataset_import_reject where tenant_id = $1 and import_id = $2', [tx.tenant_id, import_id])

export const insertRejects = (tx: Tx, import_id: string, first_seq: number, items: readonly Reject[]) =>
  tx.run(
    `insert into app.dataset_import_reject (tenant_id, import_id, seq, code, pointer, location, excerpt, message)
     select $1, $2, $3::bigint + n, r.code, r.pointer, r.location, r.excerpt, r.message
       from jsonb_to_recordset($4::jsonb) as r (n bigint, code text, pointer text, location jsonb, excerpt text, message text)`,
    [
      tx.tenant_id,
      import_id,
      first_seq,
      JSON.stringify(
        items.map(({ code, pointer, at, excerpt, message }, n) => ({
          n,
          code,
          pointer,
          location: at,
          excerpt,
          message,
        })),
        replaceUnstorable,
      ),
    ],
  )

/** A reject quotes the source, which may include the character that cannot be stored. */
const replaceUnstorable = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll(UNSTORABLE, '\ufffd') : value

export interface RejectRow {
  readonly seq: number
  readonly code: string
  readonly pointer: string
  readonly at: SourceLocation
  readonly excerpt: string | null
  readonly message: string
}

export const listRejects = (
  tx: Tx,
  { import_id, code }: { readonly import_id: string; readonly code: string | null },
  after: PagePosition,
  count: number,
) =>
  tx.query<RejectRow>(
    `select seq, code, pointer, location as at, excerpt, message from app.dataset_import_reject
      where tenant_id = $1 and import_id = $2 and ($3::text is null or code = $3) and ($4::bigint is null or seq > $4)
      order by seq limit $5`,
    [tx.tenant_id, import_id, code, after?.[0] ?? null, count],
  )

export const countRejects = async (tx: Tx, import_id: string): Promise<number> =>
  (
    await tx.find<{ n: number }>(
      'select count(*) as n from app.dataset_import_reject where tenant_id = $1 and import_id = $2',
      [tx.tenant_id, import_id],
    )
  )?.n ?? 0

/** Imports with this adapter that are not finished, the list of each. */
export const listOpenImports = (tx: Tx, adapter_key: string) =>
  tx.query<{ readonly import_id: string; readonly list_key: string }>(
    `select import_id, list_key from app.dataset_import
      where tenant_id = $1 and adapter_key = $2 and state in ('queued', 'running') order by created_at limit 100`,
    [tx.tenant_id, adapter_key],
  )

export const importRejectErasure = createErasureClass('import-rejects', 'Excerpts of rejected rows of imports', [
  {
    table: 'dataset_import_reject',
    id: 'r.import_id',
    owner: null,
    text: `concat_ws(E'\\n', app.json_texts(r.excerpt), r.message, app.json_texts(r.location))`,
    set: null,
  },
])
