/** SQL of rule performance: decisions in a period, single and in batches, and the overrides of hits. */
import type { Tx } from '#kernel/database/tx.ts'
import type { datasetStore } from '#modules/definitions/index.ts'

/** Which decisions are counted, and the maximum number. */
export interface PerformanceWindow {
  readonly rule_key: string
  readonly from_at: string
  readonly most: number
  readonly most_batches: number
  /** The ids of the tenant's own rule and of the shared one, where they exist. */
  readonly own: string | null
  readonly shared: string | null
}

/**
 * The owner of the version of a decision row `d`. With one owner of the key it is that one; otherwise the receipt decides,
 * since two owners may have the same version number.
 */
const selectDecisionOrigin = ({ own, shared }: PerformanceWindow, parameter: string): string => {
  if (own === null || shared === null) return `'${own === null ? 'shared' : 'own'}'::text`
  return `(select case when strpos(r.manifest, '"dataset_id":"' || ${parameter} || '"') > 0 then 'shared' else 'own' end
             from app.resolution_receipt r where r.tenant_id = $1 and r.receipt_id = d.receipt_id)`
}
/** Additional parameter of that expression. */
const toSharedParameter = ({ own, shared }: PerformanceWindow): string[] =>
  own === null || shared === null ? [] : [shared]

export const findPeriod = async (tx: Tx, days: number) =>
  (await tx.find<{ from_at: string; until_at: string }>(
    'select now() - make_interval(days => $1::int) as from_at, now() as until_at',
    [days],
  )) as { from_at: string; until_at: string }

export interface CountRow {
  readonly version: number
  readonly origin: datasetStore.Origin
  readonly decisions: number
  readonly hits: number
}

/** Single decisions. An index-only read while one owner has the key. */
export const countDecisions = (tx: Tx, window: PerformanceWindow) =>
  tx.query<CountRow>(
    `select version, origin, count(*) as decisions, count(*) filter (where hit) as hits from (
       select d.definition_version as version, ${selectDecisionOrigin(window, '$5')} as origin, d.hit from app.evaluation d
        where d.tenant_id = $1 and d.definition_key = $2 and d.hit is not null and d.decided_at >= $3
        order by d.decided_at desc limit $4) latest group by version, origin`,
    [tx.tenant_id, window.rule_key, window.from_at, window.most, ...toSharedParameter(window)],
  )

const selectBatches = (
  window: PerformanceWindow,
  count: string,
  shared: string,
) => `select d.batch_id, d.definition_version as version, ${selectDecisionOrigin(window, shared)} as origin, d.done from app.batch_evaluation d
  where d.tenant_id = $1 and d.definition_key = $2 and d.family = 'rule' and d.known_at >= $3
  order by d.known_at desc, d.batch_id desc limit ${count}`

/** A batch stores its number of decided items; only hits are counted here. */
export const countBatches = (tx: Tx, window: PerformanceWindow) =>
  tx.query<CountRow & { readonly batches: number }>(
    `select b.version, b.origin, count(*) as batches, sum(b.done)::bigint as decisions, sum(i.hits)::bigint as hits
       from (${selectBatches(window, '$4', '$5')}) b
      cross join lateral (select count(*) as hits from app.batch_item i
        where i.tenant_id = $1 and i.batch_id = b.batch_id and i.hit) i
      group by b.version, b.origin`,
    [tx.tenant_id, window.rule_key, window.from_at, window.most_batches, ...toSharedParameter(window)],
  )

export interface OutcomeRow {
  /** Null: all versions together. */
  readonly version: number | null
  readonly origin: datasetStore.Origin | null
  /** The band set by a person; null: no override. */
  readonly band: string | null
  readonly subjects: number
}

/** Subjects with a hit, each once, by their current override. The limits force an index read per step. */
export const countOutcomes = (tx: Tx, window: PerformanceWindow) =>
  tx.query<OutcomeRow>(
    `with hits as (
       (select d.definition_version as version, ${selectDecisionOrigin(window, '$6')} as origin, d.subject_id from app.evaluation d
         where d.tenant_id = $1 and d.definition_key = $2 and d.hit is not null and d.hit and d.decided_at >= $3
           and d.subject_id is not null
         order by d.decided_at desc limit $4)
       union
       (select b.version, b.origin, i.subject_id from (${selectBatches(window, '$5', '$6')}) b
         cross join lateral (select i.subject_id from app.batch_item i
           where i.tenant_id = $1 and i.batch_id = b.batch_id and i.hit and i.subject_id is not null limit $4) i
         limit $4))
     select h.version, h.origin, o.override_band as band, count(distinct h.subject_id) as subjects from hits h
       left join lateral (select r.override_band from app.subject_risk r
         where r.tenant_id = $1 and r.subject_id = h.subject_id and r.override_until > now() limit 1) o on true
      group by grouping sets ((h.version, h.origin, o.override_band), (o.override_band))`,
    [tx.tenant_id, window.rule_key, window.from_at, window.most, window.most_batches, ...toSharedParameter(window)],
  )
