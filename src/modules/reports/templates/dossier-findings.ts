/** What was found about a subject, and who decided: investigations, alerts, evidence and documents. */
import { toName } from '#kernel/auth/actor-names.ts'
import type { ReportBlock, ReportFormat, ReportSection } from '#kernel/report-template.ts'
import type { DossierAlertRow, DossierCaseRow, DossierDocumentRow, DossierEvidenceRow } from './queries.ts'

/** Of each kind; the dossier says where there are more. */
export const MOST_ROWS = 200

export interface Findings {
  readonly cases: readonly DossierCaseRow[]
  readonly alerts: readonly DossierAlertRow[]
  readonly documents: readonly DossierDocumentRow[]
  readonly evidence: readonly DossierEvidenceRow[]
  readonly names: Readonly<Record<string, string>>
}

export const limitNote = (rows: readonly unknown[]): ReportBlock[] =>
  rows.length < MOST_ROWS
    ? []
    : [{ kind: 'note', text: `The newest ${MOST_ROWS} are listed; there may be older ones.` }]

function describeDecision(alert: DossierAlertRow, names: Findings['names'], format: ReportFormat): string {
  if (alert.dismissed_at !== null) {
    const proposed =
      alert.proposed_by !== null && alert.proposed_by !== alert.dismissed_by
        ? `, proposed by ${toName(names, alert.proposed_by)}`
        : ''
    return `Dismissed (${alert.reason_code}) by ${toName(names, alert.dismissed_by)}${proposed}, ${format.instant(alert.dismissed_at)}`
  }
  if (alert.escalated_at !== null)
    return `Escalated by ${toName(names, alert.escalated_by)}, ${format.instant(alert.escalated_at)}`
  if (alert.proposed_by !== null)
    return `Dismissal (${alert.reason_code}) proposed by ${toName(names, alert.proposed_by)}`
  return alert.state === 'snoozed' ? 'Open, postponed' : 'Open'
}

function describeClosing(one: DossierCaseRow, names: Findings['names'], format: ReportFormat): string {
  const proposed = one.proposed_by === null ? '' : `proposed by ${toName(names, one.proposed_by)}`
  if (one.state === 'closed')
    return `Closed by ${toName(names, one.closed_by)}, ${format.instant(one.closed_at)}, ${proposed}; seal ${one.seal_no}`
  return one.state === 'proposed' ? `${one.proposed_outcome} ${proposed}; not closed yet` : 'Not decided'
}

export function arrangeFindings(
  { cases, alerts, documents, evidence, names }: Findings,
  format: ReportFormat,
): ReportSection {
  return {
    title: 'What was found, and who decided',
    blocks: [
      {
        kind: 'table',
        title: 'Investigations',
        columns: [
          { title: 'Opened', width: 2 },
          { title: 'Case', width: 6 },
          { title: 'Outcome', width: 3, style: 'strong' },
          { title: 'Decided', width: 5 },
        ],
        rows: cases.map((one) => [
          format.day(one.created_at),
          `${one.reference}, ${one.title} (${one.playbook_key} version ${one.playbook_version}${one.part === 'primary' ? '' : `; the subject is ${one.part.replaceAll('_', ' ')}`})`,
          one.outcome ?? one.state,
          describeClosing(one, names, format),
        ]),
        empty: 'No investigation of the subject is known to the people who may read this report.',
      },
      ...limitNote(cases),
      {
        kind: 'table',
        title: 'Alerts',
        columns: [
          { title: 'First seen', width: 3 },
          { title: 'Priority', width: 2 },
          { title: 'What', width: 6 },
          { title: 'Decision', width: 5 },
        ],
        rows: alerts.map((alert) => [
          format.instant(alert.first_seen_at),
          alert.priority,
          alert.sentence !== null && alert.sentence !== alert.title ? `${alert.title}: ${alert.sentence}` : alert.title,
          describeDecision(alert, names, format),
        ]),
        empty: 'No alert about the subject is known to the people who may read this report.',
      },
      ...limitNote(alerts),
      ...arrangeSources({ documents, evidence, names }, format),
    ],
  }
}

function arrangeSources(
  { documents, evidence, names }: Pick<Findings, 'documents' | 'evidence' | 'names'>,
  format: ReportFormat,
): ReportBlock[] {
  return [
    {
      kind: 'table',
      title: 'Evidence',
      columns: [
        { title: 'Obtained', width: 3 },
        { title: 'What', width: 4 },
        { title: 'Source', width: 3 },
        { title: 'Added by', width: 3 },
        { title: 'Hash', width: 0, style: 'code' },
      ],
      rows: evidence.map((item) => [
        format.instant(item.obtained_at),
        item.title ?? item.kind,
        item.source ?? '–',
        toName(names, item.added_by),
        `${item.content_hash.slice(0, 12)}…`,
      ]),
      empty: 'No evidence is attached to the subject.',
    },
    ...limitNote(evidence),
    {
      kind: 'table',
      title: 'Documents',
      columns: [
        { title: 'Stored', width: 3 },
        { title: 'Title', width: 4 },
        { title: 'Type', width: 3 },
        { title: 'Stored by', width: 3 },
        { title: 'SHA-256', width: 0, style: 'code' },
      ],
      rows: documents.map((document) => [
        format.instant(document.created_at),
        document.title ?? `(${document.state})`,
        document.media_type,
        toName(names, document.created_by),
        document.sha256 === null ? '–' : `${document.sha256.slice(0, 12)}…`,
      ]),
      empty: 'No document about the subject is stored.',
    },
    ...limitNote(documents),
  ]
}
