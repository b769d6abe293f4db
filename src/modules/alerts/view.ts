/** What people see of an alert. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import { assertFound } from '#kernel/problem.ts'
import { toContentEtag } from '#kernel/revision.ts'
import type { Actor } from '#kernel/route.ts'
import type { AlertRow } from './queries.ts'

function toDismissal(row: AlertRow) {
  if (row.reason_code === null) return null
  return {
    state: row.state === 'dismissed' ? ('done' as const) : ('proposed' as const),
    reason_code: row.reason_code,
    needs_second_person: row.second_person,
    proposed_by: row.proposed_by,
    proposed_at: row.proposed_at,
    dismissed_by: row.dismissed_by,
    dismissed_at: row.dismissed_at,
  }
}

function toClock({ clock_kind, clock_state, clock_started_at, clock_due_at }: AlertRow) {
  if (clock_kind === null || clock_state === null || clock_started_at === null || clock_due_at === null) return null
  return { kind: clock_kind, state: clock_state, started_at: clock_started_at, due_at: clock_due_at }
}

const NO_EXPLANATION = { sentence: 'erased', fields: [], references: [] }

/** Who may impose a restriction that was prepared learns its id; for everybody else it does not exist yet. */
export const toAlertView = (row: AlertRow, { roles }: Pick<Actor, 'roles'>) => ({
  alert_id: row.alert_id,
  source: row.source,
  rule_code: row.rule_code,
  subject_id: row.subject_id,
  subject_name: row.subject_name,
  title: row.title,
  dedup_key: row.dedup_key,
  facts: Object.entries(row.facts).map(([name, value]) => ({ name, value })),
  fingerprint: row.fingerprint,
  changes: row.changes,
  previous_alert_id: row.previous_alert_id,
  // Erased: nothing of it is left.
  explanation: { ...NO_EXPLANATION, ...row.explanation },
  priority: row.priority,
  highest_priority: row.highest_priority,
  state: row.state,
  queue_key: row.queue_key,
  assignee: row.assignee,
  clock: toClock(row),
  occurrences: row.occurrences,
  first_seen_at: row.first_seen_at,
  last_seen_at: row.last_seen_at,
  snoozed_until: row.snoozed_until,
  dismissal: toDismissal(row),
  escalated_by: row.escalated_shown_by,
  escalated_at: row.escalated_at,
  investigation_id: row.investigation_id,
  restriction_id: row.is_in_force || roles.includes('compliance_officer') ? row.restriction_id : null,
  is_restricted: row.is_in_force,
  is_erased: row.is_erased,
  created_at: row.created_at,
  created_by: row.created_by,
  updated_at: row.updated_at,
  revision: row.revision,
})

/** Occurrences and whether it is restricted change without the revision. */
export const toAlertHeaders = (alert: { readonly revision: number }) => ({ etag: toContentEtag(alert) })

/** 404 where it does not exist or is hidden; the event of the request carries its restriction. */
export function assertAlert(row: AlertRow | undefined, audit: Pick<AuditNotes, 'belongsTo'>): AlertRow {
  const alert = assertFound(row)
  audit.belongsTo(alert)
  return alert
}
