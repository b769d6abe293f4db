/** SQL of opening a case: the case that a request joins, the case itself, its steps and its first subject. */
import { runInSavepoint } from '#kernel/database/savepoint.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import type { Priority } from '#modules/work/index.ts'
import type { Origin } from '../model.ts'

/** The open case that everybody may see. Its row is locked: whoever closes it at this moment is waited for. */
export const findJoinable = (tx: Tx, subject_id: string, playbook_key: string) =>
  tx.find<{ investigation_id: string; restriction_id: string; gathering_job_id: string | null }>(
    `select investigation_id, restriction_id, gathering_job_id from app.investigation
      where tenant_id = $1 and subject_id = $2 and playbook_key = $3 and state in ('open', 'proposed') and joins for key share`,
    [tx.tenant_id, subject_id, playbook_key],
  )

export interface NewInvestigation {
  readonly investigation_id: string
  readonly reference: string
  readonly subject_id: string
  readonly playbook: {
    readonly key: string
    readonly origin: 'own' | 'shared'
    readonly version: number
    readonly content_hash: string
  }
  readonly title: string
  readonly priority: Priority
  readonly origin: Origin
  readonly origin_reference: string | null
  readonly restriction_id: string
  /** True: the restriction is made with the case, to be imposed later where somebody has to. */
  readonly is_own_restriction: boolean
}

/** False where another case is in the way. The restriction is inserted only together with the case. */
export const insertInvestigation = async (tx: Tx, made: NewInvestigation): Promise<boolean> =>
  (await tx.find(
    `with opened as (
       insert into app.investigation (tenant_id, investigation_id, reference, subject_id, playbook_key, playbook_origin, playbook_version,
         playbook_hash, title, priority, origin, origin_reference, restriction_id, created_by, updated_by)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)
       on conflict do nothing returning tenant_id, restriction_id
     ), prepared as (
       insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, prepared_for, created_by)
       select tenant_id, restriction_id, 'Investigation', false, 'investigation', $14 from opened where $15::boolean returning 1
     )
     select 1 as found from opened`,
    [
      tx.tenant_id,
      made.investigation_id,
      made.reference,
      made.subject_id,
      made.playbook.key,
      made.playbook.origin,
      made.playbook.version,
      made.playbook.content_hash,
      made.title,
      made.priority,
      made.origin,
      made.origin_reference,
      made.restriction_id,
      tx.actor,
      made.is_own_restriction,
    ],
  )) !== undefined

export interface NewStep {
  readonly step_key: string
  readonly kind: string
  readonly origin: 'playbook' | 'person'
  readonly is_required: boolean
  readonly needs: readonly string[]
  readonly definition: object
}

/** After the steps that are there. */
export const insertSteps = (tx: Tx, investigation_id: string, steps: readonly NewStep[]) =>
  tx.run(
    `insert into app.investigation_step (tenant_id, investigation_id, step_key, position, kind, origin, is_required, needs, definition, updated_by)
     select $1, $2, s.step_key, (select coalesce(max(position), 0) from app.investigation_step where tenant_id = $1 and investigation_id = $2) + s.place,
            s.kind, s.origin, s.is_required, array(select jsonb_array_elements_text(s.needs)), s.definition, $4
       from rows from (jsonb_to_recordset($3::jsonb)
              as (step_key text, kind text, origin text, is_required boolean, needs jsonb, definition jsonb)) with ordinality
              as s (step_key, kind, origin, is_required, needs, definition, place)`,
    [tx.tenant_id, investigation_id, JSON.stringify(steps), tx.actor],
  )

export const addSubject = (tx: Tx, investigation_id: string, subject_id: string, part: string) =>
  tx.run(
    `insert into app.investigation_subject (tenant_id, investigation_id, subject_id, part, added_by) values ($1, $2, $3, $4, $5)`,
    [tx.tenant_id, investigation_id, subject_id, part, tx.actor],
  )

/** A restriction that the caller may see. */
export const findRestrictionState = (tx: Tx, restriction_id: string) =>
  tx.find<{ restriction_id: string; is_in_force: boolean }>(
    'select restriction_id, is_in_force from app.restriction where tenant_id = $1 and restriction_id = $2',
    [tx.tenant_id, restriction_id],
  )

/** As the worker, over all tenants: where an alert was raised lately. A day, so that nothing is missed while no worker runs. */
export const listTenantsWithAlerts = (tx: Tx) =>
  tx.query<{ tenant_id: string }>(
    `select distinct tenant_id from app.alert where state = 'new' and first_seen_at > now() - interval '1 day'`,
  )

/** What chooses the entry of the list. */
export interface AlertKind {
  readonly rule_code: string | null
  readonly subject_type: string
}

/** New alerts about a subject that nobody works on and no case looks into. */
const recentAlerts = `app.alert a
   join app.subject s on s.tenant_id = a.tenant_id and s.subject_id = a.subject_id and s.erased_at is null
   left join app.work_item k on k.tenant_id = a.tenant_id and k.object_kind = 'alert' and k.object_id = a.alert_id
  where a.tenant_id = $1 and a.state = 'new' and a.first_seen_at > now() - interval '1 day' and a.proposed_by is null
    and k.assignee is null
    and not exists (select 1 from app.investigation_alert l where l.tenant_id = a.tenant_id and l.alert_id = a.alert_id)`

export const listRecentKinds = (tx: Tx) =>
  tx.query<AlertKind>(`select distinct a.rule_code, s.subject_type from ${recentAlerts}`, [tx.tenant_id])

/** Those of the given kinds without `except`, oldest first. */
export const listRecentAlerts = (tx: Tx, kinds: readonly AlertKind[], except: readonly string[], count: number) =>
  tx.query<AlertKind & { alert_id: string; restriction_id: string }>(
    `select a.alert_id, a.rule_code, s.subject_type, a.restriction_id from ${recentAlerts}
        and exists (select 1 from jsonb_to_recordset($2::jsonb) as w (rule_code text, subject_type text)
                     where w.rule_code is not distinct from a.rule_code and w.subject_type = s.subject_type)
        and not a.alert_id = any ($3::uuid[])
      order by a.first_seen_at, a.alert_id limit $4`,
    [tx.tenant_id, JSON.stringify(kinds), except, count],
  )

/** What the body wrote is undone where it is refused; false then. A fault of the service itself ends the transaction. */
export async function tryInSavepoint(tx: Tx, body: (part: Tx) => Promise<unknown>): Promise<boolean> {
  try {
    await runInSavepoint(tx, body)
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'internal') throw error
    return false
  }
  return true
}
