/** SQL of export archives. */
import type { Tx } from '#kernel/database/tx.ts'

export interface ExportRow {
  readonly export_id: string
  readonly job_id: string
  readonly state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  readonly parameters: Record<string, unknown>
  readonly manifest: Record<string, unknown> | null
  readonly upload_id: string | null
  readonly created_at: string
  readonly created_by: string
}

export const insertExport = (tx: Tx, row: Pick<ExportRow, 'export_id' | 'job_id' | 'parameters'>) =>
  tx.run(
    `insert into app.dataset_export (tenant_id, export_id, job_id, parameters, created_by) values ($1, $2, $3, $4::jsonb, $5)`,
    [tx.tenant_id, row.export_id, row.job_id, JSON.stringify(row.parameters), tx.actor],
  )

export const findExport = (tx: Tx, export_id: string) =>
  tx.find<ExportRow>(
    `select e.export_id, e.job_id, coalesce(j.state, 'succeeded') as state, e.parameters, e.manifest, e.upload_id,
            e.created_at, e.created_by
       from app.dataset_export e left join app.job j on j.tenant_id = e.tenant_id and j.job_id = e.job_id
      where e.tenant_id = $1 and e.export_id = $2`,
    [tx.tenant_id, export_id],
  )

export const updateExport = (tx: Tx, export_id: string, manifest: object, upload_id: string) =>
  tx.run('update app.dataset_export set manifest = $3::jsonb, upload_id = $4 where tenant_id = $1 and export_id = $2', [
    tx.tenant_id,
    export_id,
    JSON.stringify(manifest),
    upload_id,
  ])

/** Keys of all lists that the tenant can resolve. */
export const listAllKeys = (tx: Tx) =>
  tx.query<{ list_key: string }>(
    `select distinct list_key from app.dataset where tenant_id in ($1, app.system_tenant()) and family = 'list' and role = 'base'
      order by list_key limit 2000`,
    [tx.tenant_id],
  )
