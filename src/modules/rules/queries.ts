/** SQL of the typologies that rules are tagged with. */
import type { Tx } from '#kernel/database/tx.ts'

export interface TypologyRuleRow {
  readonly typology: string
  readonly rule_key: string
  readonly title: string
  readonly origin: 'own' | 'shared'
  /** In force now; NULL: none. */
  readonly version: number | null
}

/**
 * Each typology with each live rule that covers it, in order. A shared rule that is not in force is omitted where the tenant
 * owns one with its key.
 */
export const listTypologyRules = (tx: Tx, count: number) =>
  tx.query<TypologyRuleRow>(
    `select t.typology, d.list_key as rule_key, d.title, case when d.tenant_id = $1 then 'own' else 'shared' end as origin, r.version
       from app.dataset d
       join app.definition_profile p on p.tenant_id = d.tenant_id and p.dataset_id = d.dataset_id
      cross join lateral unnest(p.typologies) as t (typology)
       left join lateral app.resolve_lists('rule', array[d.list_key], statement_timestamp(), null) r
         on r.dataset_tenant_id = d.tenant_id and r.dataset_id = d.dataset_id
      where d.tenant_id in ($1, app.system_tenant()) and d.family = 'rule' and d.role = 'base' and d.state = 'live'
        and (d.tenant_id = $1 or r.version is not null or not exists (select 1 from app.dataset o where o.tenant_id = $1 and o.family = 'rule'
              and o.list_key = d.list_key and o.role = 'base'))
      order by t.typology collate "C", d.list_key collate "C" limit $2`,
    [tx.tenant_id, count],
  )
