/** SQL of what the report of a case contains beside the case itself. */
import type { Tx } from '#kernel/database/tx.ts'

export interface ReportedAlertRow {
  readonly alert_id: string
  readonly title: string
  readonly sentence: string | null
  readonly priority: string
  readonly state: string
  readonly first_seen_at: string
  readonly reason_code: string | null
  readonly dismissed_by: string | null
  readonly escalated_by: string | null
  readonly restriction_id: string
}

/** Those that the transaction sees, oldest link first. */
export const listReportedAlerts = (tx: Tx, investigation_id: string) =>
  tx.query<ReportedAlertRow>(
    `select l.alert_id, a.title, a.explanation ->> 'sentence' as sentence, a.priority, a.state, a.first_seen_at, a.reason_code, a.dismissed_by,
            a.escalated_by, a.restriction_id
       from app.investigation_alert l join app.alert a on a.tenant_id = l.tenant_id and a.alert_id = l.alert_id
      where l.tenant_id = $1 and l.investigation_id = $2 order by l.linked_at, l.alert_id`,
    [tx.tenant_id, investigation_id],
  )

export interface ActNoteRow {
  readonly kind: string
  readonly recorded_at: string
  readonly recorded_by: string
  readonly note_id: string | null
  readonly note: Buffer | null
}

/** Proposals, closings and reopenings with what was written with them, oldest first. */
export const listActNotes = (tx: Tx, investigation_id: string) =>
  tx.query<ActNoteRow>(
    `select e.kind, e.recorded_at, e.recorded_by, n.note_id, n.content as note
       from app.investigation_event e
       left join app.investigation_note n on n.tenant_id = e.tenant_id and n.investigation_id = e.investigation_id and n.revision = e.revision
      where e.tenant_id = $1 and e.investigation_id = $2 and e.kind in ('proposed', 'closed', 'reopened')
      order by e.recorded_at, e.event_id`,
    [tx.tenant_id, investigation_id],
  )

/** Of the evidence of a case and of what it names, in force or not. */
export const listEvidenceRestrictions = async (tx: Tx, investigation_id: string): Promise<string[]> =>
  (
    await tx.query<{ restriction_id: string }>(
      `select distinct unnest(array[e.restriction_id, e.also_restriction_id]) as restriction_id from app.evidence_item e
        where e.tenant_id = $1 and e.owner_kind = 'investigation' and e.owner_id = $2`,
      [tx.tenant_id, investigation_id],
    )
  ).flatMap(({ restriction_id }) => restriction_id ?? [])
