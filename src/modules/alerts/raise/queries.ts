/** SQL of reports: the newest alert of a key, new alerts, occurrences, and suppressions that apply. */
import type { Tx } from '#kernel/database/tx.ts'
import type { AlertState, Explanation, FactChange, Facts, Priority } from '../model.ts'
import { HIGHEST_PRIORITY } from '../queries.ts'

/** The scope of alerts that nobody has restricted. */
export const OPEN_SCOPE = '00000000-0000-0000-0000-000000000000'

export interface SeriesHead {
  readonly alert_id: string
  readonly round: number
  readonly source: string
  readonly state: AlertState
  readonly facts: Facts
  readonly facts_salt: string
  readonly priority: Priority
  /** The highest that it ever had. */
  readonly highest_priority: Priority
  readonly occurrences: number
  readonly restriction_id: string
  /** Of the closed alert before it; null where there is none, or the transaction does not see it. */
  readonly previous_facts: Facts | null
}

export interface ReportTarget {
  readonly source: string
  readonly dedup_key: string
  readonly dedup_scope: string
  readonly subject_id: string | null
  readonly priority: Priority
  /** From outside; findings of the service itself have a series of their own. */
  readonly is_external: boolean
}

/**
 * The newest alert of the key, locked: whoever closes it at this moment is waited for. Suppressions apply to reports without a
 * restriction only.
 */
export async function findSeries(tx: Tx, target: ReportTarget) {
  const { dedup_key, dedup_scope, source, subject_id, priority, is_external } = target
  const [heads, suppressions] = (await tx.queryAll([
    {
      text: `select a.alert_id, a.round, a.source, a.state, a.facts, a.facts_salt, a.priority, ${HIGHEST_PRIORITY} as highest_priority,
                     a.occurrences, a.restriction_id,
                     (select p.facts from app.alert p where p.tenant_id = a.tenant_id and p.alert_id = a.previous_alert_id) as previous_facts
                from app.alert a
              where a.tenant_id = $1 and a.dedup_key = $2 and a.dedup_scope = $3 and a.is_external = $4
              order by a.round desc limit 1 for update`,
      values: [tx.tenant_id, dedup_key, dedup_scope, is_external],
    },
    {
      text: `select suppression_id from app.alert_suppression
              where tenant_id = $1 and source = $2 and state = 'active' and expires_at > now() and $6::uuid = '${OPEN_SCOPE}'
                and (dedup_key is null or dedup_key = $3) and (subject_id is null or subject_id = $4::uuid)
                and array_position(array['low', 'medium', 'high', 'critical'], $5::text)
                    <= array_position(array['low', 'medium', 'high', 'critical'], up_to_priority)
              order by suppression_id limit 1`,
      values: [tx.tenant_id, source, dedup_key, subject_id, priority, dedup_scope],
    },
  ])) as [SeriesHead[], { suppression_id: string }[]]
  return { head: heads[0], suppression_id: suppressions[0]?.suppression_id }
}

export interface NewAlert extends ReportTarget {
  readonly alert_id: string
  readonly rule_code: string | null
  readonly round: number
  readonly previous_alert_id: string | null
  readonly title: string
  readonly facts: Facts
  readonly fingerprint: string
  readonly facts_salt: string
  readonly changes: readonly FactChange[] | null
  readonly explanation: Explanation
  readonly restriction_id: string
  /** True: the restriction is made with the alert, to be imposed later where somebody has to. */
  readonly is_own_restriction: boolean
}

/** False where another transaction has inserted this round first. The restriction is inserted only together with the alert. */
export const insertAlert = async (tx: Tx, alert: NewAlert): Promise<boolean> =>
  (await tx.find(
    `with opened as (
       insert into app.alert (tenant_id, alert_id, source, rule_code, subject_id, dedup_key, dedup_scope, round, previous_alert_id, title, facts,
         fingerprint, facts_salt, changes, changes_since, explanation, priority, state, restriction_id, created_by)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::jsonb, case when $14::jsonb is not null then 'previous_alert' end,
         $15, $16, 'new', $17, $18)
       on conflict do nothing returning tenant_id, restriction_id
     ), prepared as (
       insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, prepared_for, created_by)
       select tenant_id, restriction_id, 'Alert', false, 'alert', $18 from opened where $19::boolean returning 1
     )
     select 1 as found from opened`,
    [
      tx.tenant_id,
      alert.alert_id,
      alert.source,
      alert.rule_code,
      alert.subject_id,
      alert.dedup_key,
      alert.dedup_scope,
      alert.round,
      alert.previous_alert_id,
      alert.title,
      JSON.stringify(alert.facts),
      alert.fingerprint,
      alert.facts_salt,
      alert.changes === null ? null : JSON.stringify(alert.changes),
      JSON.stringify(alert.explanation),
      alert.priority,
      alert.restriction_id,
      tx.actor,
      alert.is_own_restriction,
    ],
  )) !== undefined

export const addOccurrence = (tx: Tx, alert_id: string) =>
  tx.run(
    `update app.alert set occurrences = occurrences + 1, last_seen_at = greatest(last_seen_at, now()) where tenant_id = $1 and alert_id = $2`,
    [tx.tenant_id, alert_id],
  )

/** Reported as more urgent: whoever snoozed it or proposed its dismissal has decided on less. */
export const raisePriority = (tx: Tx, alert_id: string, priority: Priority) =>
  tx.run(
    `update app.alert set occurrences = occurrences + 1, last_seen_at = greatest(last_seen_at, now()), priority = $3, snoozed_until = null,
            state = case when state = 'snoozed' then 'new' else state end,
            proposed_by = null, proposed_at = null, reason_code = null, second_person = false, updated_at = now(), revision = revision + 1
      where tenant_id = $1 and alert_id = $2`,
    [tx.tenant_id, alert_id, priority],
  )

export type ChangedFacts = Pick<
  NewAlert,
  'facts' | 'fingerprint' | 'changes' | 'explanation' | 'title' | 'priority'
> & { readonly changes_since: 'previous_alert' | 'previous_report' }

/** New facts end a snooze and return a proposed dismissal: whoever decided has not seen them. The priority never falls by itself. */
export const updateFacts = (tx: Tx, alert_id: string, changed: ChangedFacts) =>
  tx.run(
    `update app.alert set occurrences = occurrences + 1, last_seen_at = greatest(last_seen_at, now()), facts = $3, fingerprint = $4, changes = $5,
            changes_since = $9, explanation = $6, title = $7, priority = $8, snoozed_until = null,
            state = case when state = 'snoozed' then 'new' else state end,
            proposed_by = null, proposed_at = null, reason_code = null, second_person = false, updated_at = now(), revision = revision + 1
      where tenant_id = $1 and alert_id = $2`,
    [
      tx.tenant_id,
      alert_id,
      JSON.stringify(changed.facts),
      changed.fingerprint,
      JSON.stringify(changed.changes),
      JSON.stringify(changed.explanation),
      changed.title,
      changed.priority,
      changed.changes_since,
    ],
  )

export const addSuppressed = (tx: Tx, suppression_id: string) =>
  tx.find<{ occurrences: number }>(
    `update app.alert_suppression set occurrences = occurrences + 1, last_seen_at = now()
      where tenant_id = $1 and suppression_id = $2 and state = 'active' returning occurrences`,
    [tx.tenant_id, suppression_id],
  )

export interface NewOccurrence {
  readonly occurrence_id: string
  readonly alert_id: string | null
  readonly suppression_id: string | null
  readonly outcome: 'opened' | 'joined' | 'counted' | 'suppressed'
  readonly fingerprint: string | null
  readonly reference: string | null
  readonly is_external: boolean
  readonly priority: Priority
}

/** Sent together with COMMIT. */
export const deferOccurrence = (tx: Tx, occurrence: NewOccurrence): void =>
  tx.defer(
    `insert into app.alert_occurrence (tenant_id, occurrence_id, alert_id, suppression_id, outcome, fingerprint, reference, is_external,
       priority, reported_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      tx.tenant_id,
      occurrence.occurrence_id,
      occurrence.alert_id,
      occurrence.suppression_id,
      occurrence.outcome,
      occurrence.fingerprint,
      occurrence.reference,
      occurrence.is_external,
      occurrence.priority,
      tx.actor,
    ],
  )
