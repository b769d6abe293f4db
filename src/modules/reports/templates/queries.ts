/** SQL of what the templates of this module collect about the programme as a whole, and of one decision. */
import type { Tx } from '#kernel/database/tx.ts'

export interface PeriodCounts {
  readonly decisions: number
  readonly hits: number
  readonly overrides: number
  readonly subjects_added: number
  readonly changes_decided: number
  readonly changes_rejected: number
  readonly documents_stored: number
  /** Of batches that were ordered in the period: they are stored with their batch. */
  readonly batches: number
  readonly batch_decisions: number
}

export interface Period {
  readonly from: string
  readonly until: string
}

/** What happened in a period; the end is exclusive. */
export const countPeriod = async (tx: Tx, { from, until }: Period): Promise<PeriodCounts> =>
  (await tx.find<PeriodCounts>(
    `select (select count(*) from app.evaluation where tenant_id = $1 and decided_at >= $2 and decided_at < $3) as decisions,
            (select count(*) from app.evaluation where tenant_id = $1 and hit and decided_at >= $2 and decided_at < $3) as hits,
            (select count(*) from app.rating where tenant_id = $1 and cause = 'override' and recorded_at >= $2 and recorded_at < $3) as overrides,
            (select count(*) from app.subject where tenant_id = $1 and created_at >= $2 and created_at < $3) as subjects_added,
            (select count(*) from app.change_request where tenant_id = $1 and state = 'approved' and decided_at >= $2 and decided_at < $3) as changes_decided,
            (select count(*) from app.change_request where tenant_id = $1 and state = 'rejected' and decided_at >= $2 and decided_at < $3) as changes_rejected,
            (select count(*) from app.document where tenant_id = $1 and stored_at >= $2 and stored_at < $3) as documents_stored,
            b.batches, b.batch_decisions
       from (select count(*) as batches, coalesce(sum(done), 0)::bigint as batch_decisions from app.batch_evaluation
              where tenant_id = $1 and created_at >= $2 and created_at < $3) b`,
    [tx.tenant_id, from, until],
  )) as PeriodCounts

export interface AlertCountRow {
  readonly priority: string
  readonly raised: number
  readonly dismissed: number
  readonly escalated: number
  readonly open_now: number
}

/** By priority, highest first. */
export const countAlerts = (tx: Tx, { from, until }: Period) =>
  tx.query<AlertCountRow>(
    `select priority, count(*) filter (where first_seen_at >= $2 and first_seen_at < $3) as raised,
            count(*) filter (where dismissed_at >= $2 and dismissed_at < $3) as dismissed,
            count(*) filter (where escalated_at >= $2 and escalated_at < $3) as escalated,
            count(*) filter (where state in ('new', 'snoozed')) as open_now
       from app.alert where tenant_id = $1 group by priority, priority_rank order by priority_rank desc`,
    [tx.tenant_id, from, until],
  )

/** Of objects of one kind, or of all. */
export const countMissedClocks = async (
  tx: Tx,
  { from, until }: Period,
  object_kind: string | null = null,
): Promise<number> =>
  (
    await tx.find<{ n: number }>(
      `select count(*) as n from app.work_clock where tenant_id = $1 and missed_at >= $2 and missed_at < $3
          and ($4::text is null or object_kind = $4)`,
      [tx.tenant_id, from, until, object_kind],
    )
  )?.n ?? 0

export interface CasesOfPeriod {
  readonly opened: number
  readonly closed: number
  readonly reopened: number
  readonly returned: number
  /** From opening to closing, of those closed in the period. */
  readonly median_hours: number | null
}

/** Counted by what happened: a case that is open again was closed too. */
export const countCasesOfPeriod = async (tx: Tx, { from, until }: Period): Promise<CasesOfPeriod> =>
  (await tx.find<CasesOfPeriod>(
    `select (select count(*) from app.investigation where tenant_id = $1 and created_at >= $2 and created_at < $3) as opened,
            count(*) filter (where e.kind = 'closed') as closed, count(*) filter (where e.kind = 'reopened') as reopened,
            count(*) filter (where e.kind = 'returned') as returned,
            (percentile_cont(0.5) within group (order by extract(epoch from e.recorded_at - i.created_at) / 3600)
              filter (where e.kind = 'closed'))::float8 as median_hours
       from app.investigation_event e
       join app.investigation i on i.tenant_id = e.tenant_id and i.investigation_id = e.investigation_id
      where e.tenant_id = $1 and e.recorded_at >= $2 and e.recorded_at < $3 and e.kind in ('closed', 'reopened', 'returned')`,
    [tx.tenant_id, from, until],
  )) as CasesOfPeriod

/** By the seals, which keep the outcome of a case that was opened again. */
export const countCaseOutcomes = (tx: Tx, { from, until }: Period) =>
  tx.query<{ outcome: string; cases: number }>(
    `select s.manifest ->> 'outcome' as outcome, count(*) as cases from app.investigation_seal s
       join app.investigation i on i.tenant_id = s.tenant_id and i.investigation_id = s.investigation_id
      where s.tenant_id = $1 and s.sealed_at >= $2 and s.sealed_at < $3 group by 1 order by cases desc, outcome`,
    [tx.tenant_id, from, until],
  )

export interface OpenCases {
  readonly open: number
  readonly proposed: number
  readonly days_2: number
  readonly days_7: number
  readonly days_30: number
  readonly older: number
}

/** Whole days since they were opened. */
export const countOpenCases = async (tx: Tx): Promise<OpenCases> =>
  (await tx.find<OpenCases>(
    `select count(*) as open, count(*) filter (where state = 'proposed') as proposed, count(*) filter (where days < 3) as days_2,
            count(*) filter (where days >= 3 and days < 8) as days_7, count(*) filter (where days >= 8 and days < 31) as days_30,
            count(*) filter (where days >= 31) as older
       from (select state, floor(extract(epoch from now() - created_at) / 86400) as days
               from app.investigation where tenant_id = $1 and state in ('open', 'proposed')) i`,
    [tx.tenant_id],
  )) as OpenCases

export interface PolicyChangeRow {
  readonly family: string
  readonly list_key: string
  readonly kind: string
  readonly version: number | null
  readonly effective_from: string
  readonly actor: string
  readonly reason: string
}

/** Versions that came into force, in the order in which they did, newest first. */
export const listPolicyChanges = (tx: Tx, { from, until }: Period, count: number) =>
  tx.query<PolicyChangeRow>(
    `select family, list_key, kind, version, effective_from, actor, reason from app.activation
      where tenant_id = $1 and recorded_at >= $2 and recorded_at < $3 
      order by effective_from desc, recorded_at desc, activation_id desc limit $4`,
    [tx.tenant_id, from, until, count],
  )

/** Undefined where there is no such decision. */
export const findEvaluationSubject = (tx: Tx, evaluation_id: string) =>
  tx.find<{ subject_id: string | null }>(
    'select subject_id from app.evaluation where tenant_id = $1 and evaluation_id = $2',
    [tx.tenant_id, evaluation_id],
  )

export interface BatchOrderRow {
  readonly batch_id: string
  readonly created_by: string
  /** Of the schedule that started it; null where none did, or where it was removed. */
  readonly schedule_name: string | null
  readonly schedule_set_by: string | null
}

export const listBatchOrders = (tx: Tx, batch_ids: readonly string[]) =>
  tx.query<BatchOrderRow>(
    `select b.batch_id, b.created_by, s.name as schedule_name, s.updated_by as schedule_set_by
       from app.batch_evaluation b
       left join lateral (
         select schedule_id from app.batch_schedule_run r where r.tenant_id = b.tenant_id and r.batch_id = b.batch_id limit 1) r on true
       left join app.batch_schedule s on s.tenant_id = b.tenant_id and s.schedule_id = r.schedule_id
      where b.tenant_id = $1 and b.batch_id = any ($2::uuid[])`,
    [tx.tenant_id, batch_ids],
  )

/** Who ordered these jobs, as far as the transaction sees them. */
export const listJobOrders = (tx: Tx, job_ids: readonly string[]) =>
  tx.query<{ job_id: string; created_by: string }>(
    'select job_id, created_by from app.job where tenant_id = $1 and job_id = any ($2::uuid[])',
    [tx.tenant_id, job_ids],
  )
