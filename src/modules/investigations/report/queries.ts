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
