/** SQL of work on alerts: changes that people make, and waking. */
import type { Tx } from '#kernel/database/tx.ts'
import type { AlertState, Priority } from '../model.ts'

/** The members that people change. */
export interface AlertWork {
  readonly state: AlertState
  readonly assignee: string | null
  readonly priority: Priority
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
    `update app.alert set state = $3, worked_by = $4, priority = $5, snoozed_until = $6, second_person = $7, reason_code = $8,
            proposed_at = case when $9::text is null then null when proposed_by = $9 then proposed_at else now() end, proposed_by = $9,
            dismissed_at = case when $10::text is null then null when dismissed_by = $10 then dismissed_at else now() end, dismissed_by = $10,
            escalated_at = case when $11::text is null then null when escalated_by = $11 then escalated_at else now() end, escalated_by = $11,
            updated_at = now(), revision = revision + 1
      where tenant_id = $1 and alert_id = $2`,
    [
      tx.tenant_id,
      alert_id,
      work.state === 'claimed' ? 'new' : work.state,
      work.assignee,
      work.priority,
      work.snoozed_until,
      work.second_person,
      work.reason_code,
      work.proposed_by,
      work.dismissed_by,
      work.escalated_by,
    ],
  )

export const updateWorkedBy = (tx: Tx, alert_id: string, assignee: string) =>
  tx.run(
    `update app.alert set worked_by = $3, updated_at = now(), revision = revision + 1 where tenant_id = $1 and alert_id = $2`,
    [tx.tenant_id, alert_id, assignee],
  )

/** Open alerts whose dismissal the person has proposed: somebody else has to look at them. */
export const listOwnProposals = async (tx: Tx, principal: string): Promise<string[]> =>
  (
    await tx.query<{ alert_id: string }>(
      `select alert_id from app.alert where tenant_id = $1 and state in ('new', 'snoozed') and proposed_by = $2`,
      [tx.tenant_id, principal],
    )
  ).map(({ alert_id }) => alert_id)

/** As the worker: tenants with snoozed alerts whose time has come. */
export const listTenantsToWake = (tx: Tx) =>
  tx.query<{ tenant_id: string }>(
    `select distinct tenant_id from app.alert where state = 'snoozed' and snoozed_until <= now()`,
  )

/** A limited number at once. */
export const wakeSnoozed = (tx: Tx, count: number) =>
  tx.query<{ alert_id: string; priority: Priority; restriction_id: string }>(
    `update app.alert set state = 'new', snoozed_until = null, updated_at = now(), revision = revision + 1
      where tenant_id = $1 and alert_id in (select alert_id from app.alert where tenant_id = $1 and state = 'snoozed' and snoozed_until <= now()
        order by snoozed_until limit $2 for update skip locked)
     returning alert_id, priority, restriction_id`,
    [tx.tenant_id, count],
  )

/** The newest alert of the same key, where there is one after this: then this one cannot be opened again. */
export const findSuccessor = async (tx: Tx, alert_id: string): Promise<string | undefined> =>
  (
    await tx.find<{ alert_id: string }>(
      `select n.alert_id from app.alert a
         join app.alert n on n.tenant_id = a.tenant_id and n.dedup_key = a.dedup_key and n.dedup_scope = a.dedup_scope and n.is_external = a.is_external
              and n.round > a.round
        where a.tenant_id = $1 and a.alert_id = $2 order by n.round desc limit 1`,
      [tx.tenant_id, alert_id],
    )
  )?.alert_id
