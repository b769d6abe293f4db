/** SQL of searching lists, matrices, rules and types by name. */
import type { Tx } from '#kernel/database/tx.ts'
import { namedObjects } from '#kernel/search/queries.ts'

export interface FoundDefinitionRow {
  readonly list_key: string
  readonly title: string
  readonly origin: 'own' | 'shared'
  readonly state: 'live' | 'archived'
  /** NULL: nothing is in force. */
  readonly version: number | null
}

/**
 * Definitions of a family with all words of the text in their title or key; the tenant's own come first. A shared one is left out where
 * the tenant has its own with that key: reading by key gives the own one.
 */
export const listDefinitionsByName = (tx: Tx, family: string, text: string, count: number) =>
  tx.query<FoundDefinitionRow>(
    `with ${namedObjects}, found as (
       select d.tenant_id, d.dataset_id, d.family, d.list_key, d.title, d.state
         from (select tenant_id, object_id from named order by tenant_id = $1 desc limit $4) n
        cross join lateral (select * from app.dataset x
                             where x.tenant_id = n.tenant_id and x.dataset_id = n.object_id::uuid offset 0) d)
     select f.list_key, f.title, case when f.tenant_id = $1 then 'own' else 'shared' end as origin, f.state, r.version
       from found f left join lateral app.resolve_lists(f.family, array[f.list_key], statement_timestamp(), null) r
         on r.dataset_tenant_id = f.tenant_id and r.dataset_id = f.dataset_id
      where f.tenant_id = $1 or not exists (
              select 1 from app.dataset o where o.tenant_id = $1 and o.family = f.family and o.list_key = f.list_key and o.role = 'base')
      order by f.tenant_id = $1 desc, f.list_key`,
    [tx.tenant_id, family, text, count],
  )

export interface FoundTypeRow {
  readonly type_key: string
  readonly title: string
  readonly type_version: number
  readonly origin: 'own' | 'shared'
}

/** The latest version of each type with all words of the text in its title or key; of a key once, as for definitions. */
export const listTypesByName = (tx: Tx, text: string, count: number) =>
  tx.query<FoundTypeRow>(
    `with ${namedObjects}
     select t.type_key, coalesce(t.definition ->> 'title', t.type_key) as title, t.type_version,
            case when t.tenant_id = $1 then 'own' else 'shared' end as origin
       from (select tenant_id, object_id from named order by tenant_id = $1 desc limit $4) n
      cross join lateral (select * from app.dataset_type x where x.tenant_id = n.tenant_id and x.type_key = n.object_id
                           order by x.type_version desc limit 1) t
      where t.tenant_id = $1 or not exists (select 1 from app.dataset_type o where o.tenant_id = $1 and o.type_key = t.type_key)
      order by t.tenant_id = $1 desc, t.type_key`,
    [tx.tenant_id, 'type', text, count],
  )

/** Keys of all lists that may be in force: the tenant's own and shared ones. */
export const listLiveListKeys = (tx: Tx, count: number) =>
  tx.query<{ list_key: string; title: string }>(
    `select distinct on (d.list_key) d.list_key, d.title from app.dataset d
      where d.tenant_id in ($1, (select app.system_tenant())) and d.family = 'list' and d.role = 'base' and d.state = 'live'
      order by d.list_key, d.tenant_id = $1 desc limit $2`,
    [tx.tenant_id, count],
  )
