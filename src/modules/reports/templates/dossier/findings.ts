/** What was found about a subject, and who decided: investigations, alerts, evidence and documents. */
import { toName } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { ListVersion, ReportBlock, ReportFormat, ReportSection } from '#kernel/report-template.ts'
import { datasetStore, versionStore } from '#modules/definitions/index.ts'
import { EVIDENCE_HASHES } from '#modules/investigations/index.ts'
import type { CodeTitle } from '../value-texts.ts'
import { arrangeCases, type CollectedCase, describeCaseOutcome, listCases } from './cases.ts'
import type { DossierAlertRow, DossierDocumentRow, DossierEvidenceRow } from './queries.ts'

/** Of each kind; the dossier says where there are more. */
export const MOST_ROWS = 200

export interface Findings {
  readonly cases: readonly CollectedCase[]
  readonly alerts: readonly DossierAlertRow[]
  readonly documents: readonly DossierDocumentRow[]
  readonly evidence: readonly DossierEvidenceRow[]
  /** Of dismissals, by code. */
  readonly reason_titles: Readonly<Record<string, CodeTitle>>
  readonly names: Readonly<Record<string, string>>
}

export const limitNote = (rows: readonly unknown[]): ReportBlock[] =>
  rows.length < MOST_ROWS
    ? []
    : [{ kind: 'note', text: `The newest ${MOST_ROWS} are listed; there may be older ones.` }]

/** The kind of reference by which an alert names the version of a list that it was matched with. */
const LIST = 'list'

/** Versions that alerts name, each with the hash of its content; those that the registry does not have are named in the text only. */
export async function findMatchedLists(tx: Tx, alerts: readonly DossierAlertRow[]): Promise<ListVersion[]> {
  const named = alerts.flatMap(({ references }) => references ?? []).filter(({ kind }) => kind === LIST)
  const found = new Map<string, ListVersion>()
  for (const { id, version } of named) {
    if (version === null || found.has(`${id} ${version}`)) continue
    const dataset = await datasetStore.findDataset(tx, id)
    const row = dataset && (await versionStore.findVersion(tx, dataset, version))
    if (row) found.set(`${id} ${version}`, { list_key: id, version, content_hash: row.content_hash })
  }
  return [...found.values()]
}

const toWords = (name: string): string => name.replaceAll('_', ' ')

/** What it was matched with: values side by side, the facts of the match, and the lists that it names. */
function describeMatch({ title, sentence, facts, fields, references }: DossierAlertRow): string {
  const compared = (fields ?? [])
    .filter(({ matched_value }) => matched_value !== null)
    .map(({ name, subject_value, matched_value, agrees }) => {
      const result = agrees === null ? '' : agrees ? ', agrees' : ', differs'
      return `${toWords(name)}: ${subject_value ?? '–'} against ${matched_value}${result}`
    })
  const named = (references ?? [])
    .filter(({ version }) => version !== null)
    .map(({ kind, id, version }) => `${toWords(kind)} ${id} version ${version}`)
  const parts = [
    sentence !== null && sentence !== title ? `${title}: ${sentence}` : title,
    ...Object.entries(facts ?? {}).map(([name, value]) => `${toWords(name)}: ${value}`),
    ...compared,
    ...(named.length > 0 ? [`Checked with ${named.join(', ')}`] : []),
  ]
  return parts.map((part) => part.replace(/[.;]$/, '')).join('; ')
}

function describeEnd(alert: DossierAlertRow, { names, reason_titles, cases }: Findings, format: ReportFormat): string {
  const notes = alert.notes.map(({ text }) => `“${text}”`).join(' ')
  const reason = reason_titles[alert.reason_code ?? '']
  const because = reason ? `${reason.title}: ${reason.text}` : `${alert.reason_code}.`
  const written = notes === '' ? '' : ` Written with it: ${notes}`
  if (alert.dismissed_at !== null) {
    const isProposed = alert.proposed_by !== null && alert.proposed_by !== alert.dismissed_by
    const proposed = isProposed ? `, proposed by ${toName(names, alert.proposed_by)}` : ''
    return `Dismissed by ${toName(names, alert.dismissed_by)}, ${format.instant(alert.dismissed_at)}${proposed}. ${because}${written}`
  }
  if (alert.escalated_at !== null) {
    const opened = cases.find(({ reference }) => reference === alert.case_reference)
    const led = opened ? ` It led to ${opened.reference}: ${describeCaseOutcome(opened)}.` : ''
    return `Escalated by ${toName(names, alert.escalated_by)}, ${format.instant(alert.escalated_at)}.${led}${written}`
  }
  if (alert.proposed_by !== null)
    return `Open; dismissal proposed by ${toName(names, alert.proposed_by)}. ${because}${written}`
  return alert.state === 'snoozed' ? 'Open, postponed' : 'Open'
}

export function arrangeFindings(data: Findings, format: ReportFormat): ReportSection {
  const { cases, alerts, names } = data
  return {
    title: 'What was found, and who decided',
    blocks: [
      listCases(cases, names, format),
      ...limitNote(cases),
      ...arrangeCases(cases, names, format),
      {
        kind: 'table',
        title: 'Alerts',
        columns: [
          { title: 'First seen', width: 3 },
          { title: 'Priority', width: 2 },
          { title: 'What matched', width: 6 },
          { title: 'How it ended, and why', width: 6 },
        ],
        rows: alerts.map((alert) => [
          format.instant(alert.first_seen_at),
          alert.priority,
          describeMatch(alert),
          describeEnd(alert, data, format),
        ]),
        empty: 'No alert about the subject is known to the people who may read this report.',
      },
      ...limitNote(alerts),
      ...arrangeSources(data, format),
    ],
  }
}

function arrangeSources({ documents, evidence, cases, names }: Findings, format: ReportFormat): ReportBlock[] {
  const inCases = cases.reduce((sum, { findings }) => sum + (findings?.evidence.length ?? 0), 0)
  const others = inCases === 0 ? '' : ` Items of evidence in the investigations above: ${format.count(inCases)}.`
  return [
    {
      kind: 'table',
      title: 'Evidence that is attached to the subject itself',
      columns: [
        { title: 'Obtained', width: 3 },
        { title: 'What', width: 4 },
        { title: 'Source', width: 3 },
        { title: 'Added by', width: 3 },
        { title: 'Hash, cut', width: 0, style: 'code' },
      ],
      rows: evidence.map((item) => [
        format.instant(item.obtained_at),
        item.title ?? item.kind,
        item.source ?? '–',
        toName(names, item.added_by),
        `${item.content_hash.slice(0, 12)}…`,
      ]),
      empty: `No evidence is attached to the subject itself.${others}`,
    },
    ...limitNote(evidence),
    {
      kind: 'table',
      title: 'Documents',
      columns: [
        { title: 'Stored', width: 0 },
        { title: 'Title', width: 4 },
        { title: 'Type', width: 3 },
        { title: 'Stored by', width: 3 },
        { title: 'SHA-256 of the file', width: 0, style: 'code' },
      ],
      rows: documents.map((document) => [
        format.day(document.created_at),
        document.title ?? `(${document.state})`,
        document.media_type,
        toName(names, document.created_by),
        document.sha256 ?? '–',
      ]),
      empty: 'No document about the subject is stored.',
    },
    ...limitNote(documents),
    ...(inCases + evidence.length === 0 ? [] : [{ kind: 'note' as const, text: EVIDENCE_HASHES }]),
  ]
}
