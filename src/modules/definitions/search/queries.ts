/** SQL of searching lists, matrices, rules and types by name. */
import type { Tx } from '#kernel/database/tx.ts'
import type { NamedObjectRow } from '#kernel/search/queries.ts'

export interface FoundDefinitionRow {
  readonly list_key: string
  readonly title: string
  readonly origin: 'own' | 'shared'
  readonly state: 'live' | 'archived'
  /** NULL: nothing is in force. */
  readonly version: number | null
}

/**
 * Definitions with their versions in force; the tenant's own come first. A shared one is left out where the tenant has its own with
 * that key: reading by key gives the own one.
 */
export const listFoundDefinitions = (tx: Tx, objects: readonly NamedObjectRow[]) =>
  tx.query<FoundDefinitionRow>(
    `select d.list_key, d.title, case when d.tenant_id = $1 then 'own' else 'shared' end as origin, d.state, r.version
       from unnest($2::uuid[], $3::uuid[]) as n (tenant_id, dataset_id)
      cross join lateral (select * from app.dataset x
                           where x.tenant_id = n.tenant_id and x.dataset_id = n.dataset_id offset 0) d
       left join lateral app.resolve_lists(d.family, array[d.list_key], statement_timestamp(), null) r
         on r.dataset_tenant_id = d.tenant_id and r.dataset_id = d.dataset_id
      where d.tenant_id = $1 or not exists (
              select 1 from app.dataset o where o.tenant_id = $1 and o.family = d.family and o.list_key = d.list_key and o.role = 'base')
      order by d.tenant_id = $1 desc, d.list_key`,
    [tx.tenant_id, objects.map(({ tenant_id }) => tenant_id), objects.map(({ object_id }) => object_id)],
  )

export interface FoundTypeRow {
  readonly type_key: string
  readonly title: string
  readonly type_version: number
  readonly origin: 'own' | 'shared'
}

/** The latest version of each type, of a key once, as for definitions. */
export const listFoundTypes = (tx: Tx, objects: readonly NamedObjectRow[]) =>
  tx.query<FoundTypeRow>(
    `select t.type_key, coalesce(t.definition ->> 'title', t.type_key) as title, t.type_version,
            case when t.tenant_id = $1 then 'own' else 'shared' end as origin
       from unnest($2::uuid[], $3::text[]) as n (tenant_id, type_key)
      cross join lateral (select * from app.dataset_type x where x.tenant_id = n.tenant_id and x.type_key = n.type_key
                           order by x.type_version desc limit 1) t
      where t.tenant_id = $1 or not exists (select 1 from app.dataset_type o where o.tenant_id = $1 and o.type_key = t.type_key)
      order by t.tenant_id = $1 desc, t.type_key`,
    [tx.tenant_id, objects.map(({ tenant_id }) => tenant_id), objects.map(({ object_id }) => object_id)],
  )

/** Keys of all lists that may be in force: the tenant's own and shared ones. */
export const listLiveListKeys = (tx: Tx, count: number) =>
  tx.query<{ list_key: string; title: string }>(
    `select distinct on (d.list_key) d.list_key, d.title from app.dataset d
      where d.tenant_id in ($1, (select app.system_tenant())) and d.family = 'list' and d.role = 'base' and d.state = 'live'
      order by d.list_key, d.tenant_id = $1 desc limit $2`,
    [tx.tenant_id, count],
  )
