/** SQL of matrices beside that of definitions. */
import type { Tx } from '#kernel/database/tx.ts'

/** Instants after `from` and after now at which a matrix changes, earliest first. */
export const listMatrixChanges = (tx: Tx, from: string | null, count: number) =>
  tx.query<{ at: string }>(
    `select distinct a.effective_from as at from app.activation a
      where a.tenant_id in ($1, app.system_tenant()) and a.family = 'matrix' and a.revoked_at is null
        and a.effective_from > greatest(statement_timestamp(), $2::timestamptz)
      order by 1 limit $3`,
    [tx.tenant_id, from, count],
  )

/** Matrices in force with a factor of the plugin. Factors are parts of a version, stored as JSON texts. */
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

/** Matrices and rules in force with inputs from facts of source contracts; optional where every such input has a default. */
export const listContractReaders = (tx: Tx) =>
  tx.query<{
    family: 'matrix' | 'rule'
    key: string
    version: number
    title: string
    contract_key: string
    is_optional: boolean
  }>(
    `select f.family, r.list_key as key, r.version, d.title, e.data::jsonb #>> '{from,contract_key}' as contract_key,
            bool_and(e.data::jsonb ? 'default') as is_optional
       from unnest(array['matrix', 'rule']) as f (family)
      cross join lateral app.resolve_lists(f.family, array(select distinct b.list_key from app.dataset b
              where b.tenant_id in ($1, app.system_tenant()) and b.family = f.family and b.role = 'base'
                and exists (select 1 from app.definition_fact n
                             where n.tenant_id = b.tenant_id and n.dataset_id = b.dataset_id)),
              statement_timestamp(), null) r
       join app.dataset d on d.tenant_id = r.dataset_tenant_id and d.dataset_id = r.dataset_id
       join app.dataset_entry e on e.tenant_id = r.dataset_tenant_id and e.dataset_id = r.dataset_id
        and e.v_from <= r.version and e.v_to > r.version and e.key like 'input|%'
      where r.version is not null and e.data::jsonb #>> '{from,contract_key}' is not null
      group by 1, 2, 3, 4, 5 order by 1, 2, 5`,
    [tx.tenant_id],
  )
