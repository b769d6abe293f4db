/** SQL of how a rule performs: what it decided in a period, alone and in batches, and what people have made of its hits. */
import type { Tx } from '../../../kernel/database/tx.ts'

/** Which decisions are looked at, and how many at most. */
export interface Window {
  readonly rule_key: string
  readonly from_at: string
  readonly most: number
  readonly most_batches: number
}

export const findPeriod = async (tx: Tx, days: number) =>
  (await tx.find<{ from_at: string; until_at: string }>(
    'select now() - make_interval(days => $1::int) as from_at, now() as until_at',
    [days],
  )) as { from_at: string; until_at: string }

export interface CountRow {
  readonly version: number
  readonly decisions: number
  readonly hits: number
}

/** Single decisions; nothing but an index is read. */
export const countDecisions = (tx: Tx, { rule_key, from_at, most }: Window) =>
  tx.query<CountRow>(
    `select version, count(*) as decisions, count(*) filter (where hit) as hits from (
       select definition_version as version, hit from app.evaluation
        where tenant_id = $1 and definition_key = $2 and hit is not null and decided_at >= $3
        order by decided_at desc limit $4) latest group by version`,
    [tx.tenant_id, rule_key, from_at, most],
  )

const batches = (count: string) => `select batch_id, definition_version as version, done from app.batch_evaluation
  where tenant_id = $1 and definition_key = $2 and family = 'rule' and known_at >= $3 order by known_at desc, batch_id desc limit ${count}`

/** A batch knows how many items it has decided; only hits are counted. */
export const countBatches = (tx: Tx, { rule_key, from_at, most_batches }: Window) =>
  tx.query<CountRow & { readonly batches: number }>(
    `select b.version, count(*) as batches, sum(b.done)::bigint as decisions, sum(i.hits)::bigint as hits from (${batches('$4')}) b
      cross join lateral (select count(*) as hits from app.batch_item i
        where i.tenant_id = $1 and i.batch_id = b.batch_id and i.hit) i
      group by b.version`,
    [tx.tenant_id, rule_key, from_at, most_batches],
  )

export interface OutcomeRow {
  /** Null: of all versions together. */
  readonly version: number | null
  /** Put in place by a person; null: nobody has judged. */
  readonly band: string | null
  readonly subjects: number
}

/** Subjects with a hit, each once, by the override that stands. The limits keep each step a look into an index. */
export const countOutcomes = (tx: Tx, { rule_key, from_at, most, most_batches }: Window) =>
  tx.query<OutcomeRow>(
    `with hits as (
       (select definition_version as version, subject_id from app.evaluation
         where tenant_id = $1 and definition_key = $2 and hit is not null and hit and decided_at >= $3 and subject_id is not null
         order by decided_at desc limit $4)
       union
       (select b.version, i.subject_id from (${batches('$5')}) b
         cross join lateral (select i.subject_id from app.batch_item i
           where i.tenant_id = $1 and i.batch_id = b.batch_id and i.hit and i.subject_id is not null limit $4) i
         limit $4))
     select h.version, o.override_band as band, count(distinct h.subject_id) as subjects from hits h
       left join lateral (select r.override_band from app.subject_risk r
         where r.tenant_id = $1 and r.subject_id = h.subject_id and r.override_until > now() limit 1) o on true
      group by grouping sets ((h.version, o.override_band), (o.override_band))`,
    [tx.tenant_id, rule_key, from_at, most, most_batches],
  )
