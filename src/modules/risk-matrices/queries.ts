/** SQL of matrices beside that of definitions. */
import type { Tx } from '#kernel/database/tx.ts'

/** Matrices in force with a factor of the plugin. Factors are parts of a version, stored as JSON texts. */
/** Instants after `from` and after now at which a matrix changes, earliest first. */
export const listMatrixChanges = (tx: Tx, from: string | null, count: number) =>
  tx.query<{ at: string }>(
    `select distinct a.effective_from as at from app.activation a
      where a.tenant_id in ($1, app.system_tenant()) and a.family = 'matrix' and a.revoked_at is null
        and a.effective_from > greatest(statement_timestamp(), $2::timestamptz)
      order by 1 limit $3`,
    [tx.tenant_id, from, count],
  )

export const listMatricesByPlugin = (tx: Tx, plugin_key: string, valid_at: string | null = null) =>
  tx.query<{ key: string; version: number; title: string }>(
    `select distinct r.list_key as key, r.version, d.title
       from app.resolve_lists('matrix', array(select distinct list_key from app.dataset
              where tenant_id in ($1, app.system_tenant()) and family = 'matrix' and role = 'base'),
              coalesce($3::timestamptz, statement_timestamp()), null) r
       join app.dataset d on d.tenant_id = r.dataset_tenant_id and d.dataset_id = r.dataset_id
       join app.dataset_entry e on e.tenant_id = r.dataset_tenant_id and e.dataset_id = r.dataset_id
        and e.v_from <= r.version and e.v_to > r.version and e.key like 'factor|%'
      where r.version is not null and e.data::jsonb ->> 'plugin_key' = $2
      order by 1`,
    [tx.tenant_id, plugin_key, valid_at],
  )
