/** SQL of what became of the cases of a playbook. Restricted cases count only for people who may see them. */
import type { Tx } from '#kernel/database/tx.ts'

export interface CaseStatistics {
  readonly opened: number
  readonly open: number
  readonly proposed: number
  readonly closed: number
  readonly merged: number
  readonly ended: number
  readonly blocked: number
  readonly reopened: number
  readonly median_hours_to_close: number | null
  readonly slow_hours_to_close: number | null
}

export const countCases = async (tx: Tx, playbook_key: string, since: string | null): Promise<CaseStatistics> =>
  (await tx.find<CaseStatistics>(
    `select count(*) as opened, count(*) filter (where state = 'open') as open, count(*) filter (where state = 'proposed') as proposed,
            count(*) filter (where state = 'closed') as closed, count(*) filter (where state = 'merged') as merged,
            count(*) filter (where state = 'ended') as ended,
            count(*) filter (where gathering = 'blocked' and state = 'open') as blocked,
            count(*) filter (where seal_no > case when state = 'closed' then 1 else 0 end) as reopened,
            (percentile_cont(0.5) within group (order by extract(epoch from closed_at - created_at) / 3600) filter (where state = 'closed'))::float8
              as median_hours_to_close,
            (percentile_cont(0.9) within group (order by extract(epoch from closed_at - created_at) / 3600) filter (where state = 'closed'))::float8
              as slow_hours_to_close
       from app.investigation where tenant_id = $1 and playbook_key = $2 and ($3::timestamptz is null or created_at >= $3)`,
    [tx.tenant_id, playbook_key, since],
  )) as CaseStatistics

export const countOutcomes = (tx: Tx, playbook_key: string, since: string | null) =>
  tx.query<{ outcome: string; cases: number }>(
    `select outcome, count(*) as cases from app.investigation
      where tenant_id = $1 and playbook_key = $2 and state = 'closed' and ($3::timestamptz is null or created_at >= $3)
      group by outcome order by cases desc, outcome`,
    [tx.tenant_id, playbook_key, since],
  )

export interface StepStatistics {
  readonly step_key: string
  readonly kind: string
  readonly runs: number
  readonly succeeded: number
  readonly failed: number
  readonly indeterminate: number
  readonly skipped: number
  readonly waived: number
  readonly attempts: number
  readonly median_seconds: number | null
  readonly reused: number
}

export const countStepsByPlaybook = (tx: Tx, playbook_key: string, since: string | null) =>
  tx.query<StepStatistics>(
    `select s.step_key, min(s.kind) as kind, count(*) as runs, count(*) filter (where s.state = 'succeeded') as succeeded,
            count(*) filter (where s.state = 'failed') as failed, count(*) filter (where s.state = 'indeterminate') as indeterminate,
            count(*) filter (where s.state = 'skipped') as skipped, count(*) filter (where s.state = 'waived') as waived,
            coalesce(sum(s.attempt), 0)::bigint as attempts,
            (percentile_cont(0.5) within group (order by extract(epoch from s.ended_at - s.started_at)) filter (where s.state = 'succeeded'))::float8
              as median_seconds,
            count(*) filter (where s.reused_from is not null) as reused
       from app.investigation i join app.investigation_step s on s.tenant_id = i.tenant_id and s.investigation_id = i.investigation_id
      where i.tenant_id = $1 and i.playbook_key = $2 and ($3::timestamptz is null or i.created_at >= $3) and s.origin = 'playbook'
      group by s.step_key order by min(s.position), s.step_key`,
    [tx.tenant_id, playbook_key, since],
  )
