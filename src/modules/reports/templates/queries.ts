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
            (select count(*) from app.document where tenant_id = $1 and stored_at >= $2 and stored_at < $3) as documents_stored`,
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

export const countMissedClocks = async (tx: Tx, { from, until }: Period): Promise<number> =>
  (
    await tx.find<{ n: number }>(
      'select count(*) as n from app.work_clock where tenant_id = $1 and missed_at >= $2 and missed_at < $3',
      [tx.tenant_id, from, until],
    )
  )?.n ?? 0

export interface PolicyChangeRow {
  readonly family: string
  readonly list_key: string
  readonly kind: string
  readonly version: number | null
  readonly effective_from: string
  readonly actor: string
  readonly reason: string
}

/** Versions that came into force, newest first. */
export const listPolicyChanges = (tx: Tx, { from, until }: Period, count: number) =>
  tx.query<PolicyChangeRow>(
    `select family, list_key, kind, version, effective_from, actor, reason from app.activation
      where tenant_id = $1 and recorded_at >= $2 and recorded_at < $3 order by recorded_at desc, activation_id desc limit $4`,
    [tx.tenant_id, from, until, count],
  )

/** Undefined where there is no such decision. */
export const findEvaluationSubject = (tx: Tx, evaluation_id: string) =>
  tx.find<{ subject_id: string | null }>(
    'select subject_id from app.evaluation where tenant_id = $1 and evaluation_id = $2',
    [tx.tenant_id, evaluation_id],
  )
