/** SQL of what the templates of this module collect: one subject, and the programme as a whole. */
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
  readonly restriction_id: string
}

/** Newest first; as far as the transaction sees them. */
export const listAlertsOf = (tx: Tx, subject_id: string, count: number) =>
  tx.query<DossierAlertRow>(
    `select alert_id, source, title, explanation ->> 'sentence' as sentence, priority, state, occurrences, first_seen_at, reason_code, proposed_by,
            dismissed_by, dismissed_at, escalated_by, escalated_at, restriction_id
       from app.alert where tenant_id = $1 and subject_id = $2 order by alert_id desc limit $3`,
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

export const listDocumentsOf = (tx: Tx, subject_id: string, count: number) =>
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
}

/** Of the subject itself, and not detached. */
export const listEvidenceOf = (tx: Tx, subject_id: string, count: number) =>
  tx.query<DossierEvidenceRow>(
    `select evidence_id, kind, title, source, content_hash, obtained_at, added_by, restriction_id from app.evidence_item
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
  readonly state: string
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
export const listCasesOf = (tx: Tx, subject_id: string, count: number) =>
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
