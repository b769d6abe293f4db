/** SQL of what a dossier contains about one subject, as far as the transaction sees it. */
import type { Tx } from '#kernel/database/tx.ts'

export interface DossierAlertRow {
  readonly alert_id: string
  readonly source: string
  readonly title: string
  readonly sentence: string | null
  readonly priority: string
  readonly state: string
  readonly occurrences: number
  readonly first_seen_at: string
  readonly reason_code: string | null
  readonly proposed_by: string | null
  readonly dismissed_by: string | null
  readonly dismissed_at: string | null
  readonly escalated_by: string | null
  readonly escalated_at: string | null
  /** Of the case that looks into it, where the transaction sees it. */
  readonly case_reference: string | null
  /** What makes this match differ from another, by name. */
  readonly facts: Readonly<Record<string, string>>
  /** Values side by side, and what the match refers to; null once erased. */
  readonly fields: readonly MatchedField[] | null
  readonly references: readonly MatchReference[] | null
  /** What people wrote when they proposed, dismissed or escalated, oldest first. */
  readonly notes: readonly { readonly event: string; readonly text: string }[]
  readonly restriction_id: string
}

export interface MatchedField {
  readonly name: string
  readonly subject_value: string | null
  readonly matched_value: string | null
  readonly agrees: boolean | null
}

export interface MatchReference {
  readonly kind: string
  readonly id: string
  readonly version: number | null
}

/** Newest first; as far as the transaction sees them. */
export const listAlertsBySubject = (tx: Tx, subject_id: string, count: number) =>
  tx.query<DossierAlertRow>(
    `select a.alert_id, a.source, a.title, a.explanation ->> 'sentence' as sentence, a.priority, a.state, a.occurrences, a.first_seen_at,
            a.reason_code, a.proposed_by, a.dismissed_by, a.dismissed_at, a.escalated_by, a.escalated_at, l.reference as case_reference, a.facts,
            a.explanation -> 'fields' as fields, a.explanation -> 'references' as "references",
            coalesce((select json_agg(json_build_object('event', h.event, 'text', c.text) order by c.created_at, c.comment_id)
               from app.alert_comment c
               join app.alert_history h on h.tenant_id = c.tenant_id and h.alert_id = c.alert_id and h.revision = c.revision
              where c.tenant_id = a.tenant_id and c.alert_id = a.alert_id and h.event in ('dismissal_proposed', 'dismissed', 'escalated')), '[]'::json) as notes,
            a.restriction_id
       from app.alert a
       left join lateral (
         select i.reference from app.investigation_alert l
           join app.investigation i on i.tenant_id = l.tenant_id and i.investigation_id = l.investigation_id
          where l.tenant_id = a.tenant_id and l.alert_id = a.alert_id order by l.linked_at desc, l.investigation_id desc limit 1) l on true
      where a.tenant_id = $1 and a.subject_id = $2 order by a.alert_id desc limit $3`,
    [tx.tenant_id, subject_id, count],
  )

export interface DossierDocumentRow {
  readonly document_id: string
  readonly title: string | null
  readonly category: string | null
  readonly media_type: string
  readonly state: string
  readonly sha256: string | null
  readonly created_at: string
  readonly created_by: string
  readonly restriction_id: string | null
}

export const listDocumentsBySubject = (tx: Tx, subject_id: string, count: number) =>
  tx.query<DossierDocumentRow>(
    `select document_id, title, category, media_type, state, sha256, created_at, created_by, restriction_id from app.document
      where tenant_id = $1 and subject_id = $2 order by created_at desc, document_id desc limit $3`,
    [tx.tenant_id, subject_id, count],
  )

export interface DossierEvidenceRow {
  readonly evidence_id: string
  readonly kind: string
  readonly title: string | null
  readonly source: string | null
  readonly content_hash: string
  readonly obtained_at: string
  readonly added_by: string
  readonly restriction_id: string | null
  readonly also_restriction_id: string | null
}

/** Of the subject itself, and not detached. */
export const listEvidenceBySubject = (tx: Tx, subject_id: string, count: number) =>
  tx.query<DossierEvidenceRow>(
    `select evidence_id, kind, title, source, content_hash, obtained_at, added_by, restriction_id, also_restriction_id from app.evidence_item
      where tenant_id = $1 and owner_kind = 'subject' and owner_id = $2 and detached_at is null
      order by added_at desc, evidence_id desc limit $3`,
    [tx.tenant_id, subject_id, count],
  )

export interface DossierCaseRow {
  readonly investigation_id: string
  readonly reference: string
  readonly title: string
  readonly playbook_key: string
  readonly playbook_version: number
  readonly part: string
  readonly state: 'open' | 'proposed' | 'closed' | 'merged' | 'ended'
  readonly outcome: string | null
  readonly proposed_outcome: string | null
  readonly proposed_by: string | null
  readonly closed_by: string | null
  readonly closed_at: string | null
  readonly seal_no: number
  readonly created_at: string
  readonly restriction_id: string
}

/** Those that are about the subject, whatever its part in them; newest first, as far as the transaction sees them. */
export const listCasesBySubject = (tx: Tx, subject_id: string, count: number) =>
  tx.query<DossierCaseRow>(
    `select i.investigation_id, i.reference, i.title, i.playbook_key, i.playbook_version, p.part, i.state, i.outcome, i.proposed_outcome,
            i.proposed_by, i.closed_by, i.closed_at, i.seal_no, i.created_at, i.restriction_id
       from app.investigation_subject p
       join app.investigation i on i.tenant_id = p.tenant_id and i.investigation_id = p.investigation_id
      where p.tenant_id = $1 and p.subject_id = $2 order by i.investigation_id desc limit $3`,
    [tx.tenant_id, subject_id, count],
  )

/** Newest first. */
export const listEvaluationIds = async (tx: Tx, subject_id: string, count: number): Promise<string[]> =>
  (
    await tx.query<{ evaluation_id: string }>(
      `select evaluation_id from app.evaluation where tenant_id = $1 and subject_id = $2
        order by decided_at desc, evaluation_id desc limit $3`,
      [tx.tenant_id, subject_id, count],
    )
  ).map(({ evaluation_id }) => evaluation_id)

export interface CaseReportRow {
  readonly investigation_id: string
  readonly report_id: string
  readonly ready_at: string
  readonly pdf_sha256: string | null
}

/** The newest report of each case about the subject that can still be read, as far as the transaction sees them. */
export const listCaseReports = (tx: Tx, subject_id: string) =>
  tx.query<CaseReportRow>(
    `select distinct on (r.parameters ->> 'investigation_id') r.parameters ->> 'investigation_id' as investigation_id, r.report_id, r.ready_at,
            f.sha256 as pdf_sha256
       from app.report r
       left join app.report_format f on f.tenant_id = r.tenant_id and f.report_id = r.report_id and f.format = 'pdf'
      where r.tenant_id = $1 and r.subject_id = $2 and r.template_key = 'investigation-pack' and r.state = 'ready'
        and r.source_count = (select count(*) from app.report_source s where s.tenant_id = r.tenant_id and s.report_id = r.report_id)
      order by r.parameters ->> 'investigation_id', r.ready_at desc, r.report_id desc`,
    [tx.tenant_id, subject_id],
  )

export interface OverrideApprovalRow {
  readonly band: string | null
  readonly expires_at: string | null
  readonly proposed_by: string
  readonly decided_at: string
  readonly approved_by: readonly string[]
}

/** Overrides of the rating that a second person approved. */
export const listOverrideApprovals = (tx: Tx, subject_id: string) =>
  tx.query<OverrideApprovalRow>(
    `select c.body ->> 'band' as band, c.body ->> 'expires_at' as expires_at, c.created_by as proposed_by, c.decided_at,
            (select array_agg(a.approved_by order by a.approved_by) from app.change_approval a where a.tenant_id = c.tenant_id and a.cr_id = c.cr_id) as approved_by
       from app.change_request c
      where c.tenant_id = $1 and c.action = 'risk-override' and c.state = 'approved'
        and (c.params ->> 'subject_id' = $2::text or exists (
          select 1 from app.evaluation v
           where v.tenant_id = c.tenant_id and v.evaluation_id = (c.params ->> 'evaluation_id')::uuid and v.subject_id = $2::uuid))
      order by c.decided_at`,
    [tx.tenant_id, subject_id],
  )
