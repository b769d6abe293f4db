/** SQL of work on alerts: claiming, changing, waking, and who may be assigned. */
import type { Tx } from '#kernel/database/tx.ts'
import type { AlertState, Priority } from '../model.ts'

/** The next alert that nobody works on, highest priority and oldest first. Rows that others are claiming are skipped. */
export const claimNext = (tx: Tx, queue_key: string | null, assignee: string) =>
  tx.find<{ alert_id: string }>(
    `with next as (
       select alert_id from app.alert
        where tenant_id = $1 and state = 'new' and proposed_by is null and ($2::text is null or queue_key = $2)
        order by priority_rank desc, alert_id limit 1 for update skip locked)
     update app.alert a set state = 'claimed', assignee = $3, updated_at = now(), revision = revision + 1
       from next where a.tenant_id = $1 and a.alert_id = next.alert_id returning a.alert_id`,
    [tx.tenant_id, queue_key, assignee],
  )

/** The members that people change. */
export interface AlertWork {
  readonly state: AlertState
  readonly assignee: string | null
  readonly priority: Priority
  readonly queue_key: string | null
  readonly snoozed_until: string | null
  readonly second_person: boolean
  readonly reason_code: string | null
  readonly proposed_by: string | null
  readonly dismissed_by: string | null
  readonly escalated_by: string | null
}

/** Each person is stored with the time at which they acted. */
export const updateWork = (tx: Tx, alert_id: string, work: AlertWork) =>
  tx.run(
    `update app.alert set state = $3, assignee = $4, priority = $5, queue_key = $6, snoozed_until = $7, second_person = $8, reason_code = $9,
            proposed_at = case when $10::text is null then null when proposed_by = $10 then proposed_at else now() end, proposed_by = $10,
            dismissed_at = case when $11::text is null then null when dismissed_by = $11 then dismissed_at else now() end, dismissed_by = $11,
            escalated_at = case when $12::text is null then null when escalated_by = $12 then escalated_at else now() end, escalated_by = $12,
            updated_at = now(), revision = revision + 1
      where tenant_id = $1 and alert_id = $2`,
    [
      tx.tenant_id,
      alert_id,
      work.state,
      work.assignee,
      work.priority,
      work.queue_key,
      work.snoozed_until,
      work.second_person,
      work.reason_code,
      work.proposed_by,
      work.dismissed_by,
      work.escalated_by,
    ],
  )

/** An active person, whether their roles let them work on alerts, and whether they may see what belongs to the restriction. */
export const findWorker = (tx: Tx, user_id: string, restriction_id: string) =>
  tx.find<{ user_id: string; can_work: boolean; can_see: boolean }>(
    `select u.user_id, u.origin = 'external' or u.roles && array['analyst', 'compliance_officer'] as can_work,
            not app.is_in_force($3) or $3 = any (app.granted_restrictions('principal:user:' || u.user_id))
              or coalesce($3 <> all (app.officer_exclusions('principal:user:' || u.user_id)), false) as can_see
       from app.user_account u where u.tenant_id = $1 and u.user_id = $2 and u.state <> 'inactive'`,
    [tx.tenant_id, user_id, restriction_id],
  )

/** Those whose time has come, a limited number at once. */
export const wakeSnoozed = (tx: Tx, count: number) =>
  tx.run(
    `update app.alert set state = case when assignee is null then 'new' else 'claimed' end, snoozed_until = null, updated_at = now(),
            revision = revision + 1
      where tenant_id = $1 and alert_id in (select alert_id from app.alert where tenant_id = $1 and state = 'snoozed' and snoozed_until <= now()
        order by snoozed_until limit $2 for update skip locked)`,
    [tx.tenant_id, count],
  )

/** Whether the alert is the newest of its key: only then can it be opened again. */
export const isNewest = async (tx: Tx, alert_id: string): Promise<boolean> =>
  (await tx.find(
    `select 1 as found from app.alert a
      where a.tenant_id = $1 and a.alert_id = $2
        and not exists (select 1 from app.alert n where n.tenant_id = a.tenant_id and n.dedup_key = a.dedup_key
                           and n.dedup_scope = a.dedup_scope and n.round > a.round)`,
    [tx.tenant_id, alert_id],
  )) !== undefined
