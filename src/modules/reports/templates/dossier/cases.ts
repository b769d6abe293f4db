/** The cases about a subject: how each ended and who decided it, what it found and what that rests on, and where its own report is. */
import { toName } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { CollectCapabilities, ReportBlock, ReportFact, ReportFormat } from '#kernel/report-template.ts'
import {
  type CaseFindings,
  collectCaseFindings,
  describeClosing,
  describeEvidenceContent,
  listClosingActors,
  listContentActors,
  writeParagraph,
} from '#modules/investigations/index.ts'
import type { CaseReportRow, DossierCaseRow } from './queries.ts'

/** Newest cases whose narrative and evidence are in the dossier; of the others it has one line. */
const MOST_DETAILED = 20

export interface CollectedCase extends DossierCaseRow {
  /** Null for cases about somebody else, in which the subject has a part only: what is said about that person is erased with them. */
  readonly findings: CaseFindings | null
  readonly report: CaseReportRow | null
}

export async function collectCases(
  kernel: CollectCapabilities,
  tx: Tx,
  cases: readonly DossierCaseRow[],
  reports: readonly CaseReportRow[],
): Promise<CollectedCase[]> {
  const collected: CollectedCase[] = []
  for (const [place, one] of cases.entries()) {
    const isDetailed = one.part === 'primary' && place < MOST_DETAILED
    const findings = isDetailed ? await collectCaseFindings(kernel, tx, one.investigation_id) : undefined
    const report = reports.find(({ investigation_id }) => investigation_id === one.investigation_id)
    collected.push({ ...one, findings: findings ?? null, report: report ?? null })
  }
  return collected
}

export const listCaseActors = (cases: readonly CollectedCase[]): (string | null)[] =>
  cases.flatMap(({ proposed_by, closed_by, findings }) => [
    ...[proposed_by, closed_by, findings?.assignee ?? null, findings?.narrative?.written_by ?? null],
    ...(findings?.evidence ?? []).map(({ added_by }) => added_by),
    ...listContentActors((findings?.evidence ?? []).map(({ content }) => content)),
    ...listClosingActors(findings?.closings ?? []),
  ])

export const listCaseRestrictions = (cases: readonly CollectedCase[]): string[] =>
  cases.flatMap(({ restriction_id, findings }) => [restriction_id, ...(findings?.restrictions ?? [])])

type Names = Readonly<Record<string, string>>

const toWords = (code: string): string => code.replaceAll('_', ' ')

export function describeCaseOutcome({ state, outcome, proposed_outcome, findings }: CollectedCase): string {
  const named = findings?.outcome
  const code = outcome ?? proposed_outcome
  const said = named?.title ?? code ?? ''
  if (state === 'closed') return said
  if (state === 'proposed') return `${said}, proposed`
  const [last] = findings?.closings ?? []
  if (state === 'open' && last) return `Open again; was closed with “${last.outcome.title}”`
  return { open: 'Open', merged: 'Merged', ended: 'Ended without an outcome' }[state]
}

function describeDecision(one: CollectedCase, names: Names, format: ReportFormat): string {
  const { state, findings, proposed_by, closed_by, closed_at } = one
  const proposed =
    proposed_by === null
      ? ''
      : `Proposed by ${toName(names, proposed_by)}${findings?.proposed_at ? `, ${format.instant(findings.proposed_at)}` : ''}`
  if (state === 'closed')
    return [proposed, `closed by ${toName(names, closed_by)}, ${format.instant(closed_at)}`].filter(Boolean).join('; ')
  if (state === 'proposed') return `${proposed}; not closed yet`
  const [last] = findings?.closings ?? []
  if (state === 'open' && last) return describeClosing(last, names, format)
  return { open: 'Nothing is decided', merged: 'Another case goes on with it', ended: 'Its subject was erased' }[state]
}

/** One line for each case. */
export const listCases = (cases: readonly CollectedCase[], names: Names, format: ReportFormat): ReportBlock => ({
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
    `${one.reference}, ${one.title} (${one.playbook_key} version ${one.playbook_version}${one.part === 'primary' ? '' : `; the subject is ${toWords(one.part)}`})`,
    describeCaseOutcome(one),
    describeDecision(one, names, format),
  ]),
  empty: 'No investigation of the subject is known to the people who may read this report.',
})

/** Of a closed case. A report from before it was closed says that nothing is decided. */
function describeReport({ report, closed_at }: CollectedCase, format: ReportFormat): string {
  if (!report) return 'None was made yet; request the template investigation-pack.'
  const hash = report.pdf_sha256 === null ? '' : `, PDF file with the SHA-256 ${report.pdf_sha256}`
  const made = `${report.report_id}, made ${format.instant(report.ready_at)}${hash}`
  return closed_at !== null && Date.parse(report.ready_at) < Date.parse(closed_at)
    ? `None was made since the case was closed; request the template investigation-pack. The newest one does not show how it ended: ${made}`
    : made
}

const describeProgress = ({ gathering, waiting_for, assignee }: CaseFindings, names: Names): string =>
  [
    assignee === null ? 'Nobody works on it' : `${toName(names, assignee)} works on it`,
    `gathering: ${toWords(gathering)}`,
    waiting_for === null ? null : `waits for ${toWords(waiting_for)}`,
  ]
    .filter(Boolean)
    .join('; ')

/** Without the one that holds now, and the one that “Decided” tells. */
function listEarlierClosings(
  { state }: CollectedCase,
  { closings }: CaseFindings,
  names: Names,
  format: ReportFormat,
): ReportFact[] {
  const earlier = state === 'closed' || state === 'open' ? closings.slice(1) : closings
  return earlier.map((closing) => ({ label: 'Before', value: describeClosing(closing, names, format) }))
}

function listFacts(one: CollectedCase, findings: CaseFindings, names: Names, format: ReportFormat): ReportFact[] {
  const { outcome, seal, proposal_note, closing_note } = findings
  const isClosed = one.state === 'closed'
  const code = outcome && outcome.code !== outcome.title ? ` (${outcome.code})` : ''
  const said = `${describeCaseOutcome(one)}${code}`
  return [
    { label: 'Outcome', value: outcome?.text ? `${said}. ${outcome.text}` : said, style: 'strong' },
    { label: 'Decided', value: describeDecision(one, names, format) },
    ...(findings.is_test
      ? [{ label: 'Test', value: 'No live provider gave some of its answers: the outcome rests on a test.' }]
      : []),
    ...listEarlierClosings(one, findings, names, format),
    ...(proposal_note === null ? [] : [{ label: 'Note of the proposal', value: proposal_note }]),
    ...(closing_note === null ? [] : [{ label: 'Note of the closing', value: closing_note }]),
    ...(isClosed ? [] : [{ label: 'State', value: describeProgress(findings, names) }]),
    ...(isClosed ? [{ label: 'Report of the case', value: describeReport(one, format) }] : []),
    ...(seal
      ? [
          { label: `Seal ${seal.seal_no}, SHA-256`, value: seal.manifest_hash, style: 'code' as const },
          {
            label: 'Check the case',
            value: `Archive: GET /api/investigations/${one.investigation_id}/pack, then “npx probity verify pack FILE.zip --key PUBLIC_KEY”.`,
          },
        ]
      : []),
  ]
}

const NOT_SHOWN = 'evidence that is not shown'

/** Each fact with the evidence that it cites, then what was concluded from them. */
function listFindings({ state, narrative, evidence }: CaseFindings): ReportBlock[] {
  if (!narrative)
    return state === 'closed' ? [{ kind: 'text', text: 'The narrative of the case can no longer be read.' }] : []
  const getEvidenceName = (evidence_id: string) =>
    evidence.find((item) => item.evidence_id === evidence_id)?.no ?? NOT_SHOWN
  return [
    {
      kind: 'note',
      text: 'What it found; E1, E2 … name the evidence of the case that a sentence cites, and an assessment is what the writer concludes:',
    },
    ...narrative.paragraphs.map(({ kind, text, cites, cites_more }): ReportBlock => {
      const names = [...cites.map(getEvidenceName), ...(cites_more ? [NOT_SHOWN] : [])]
      const cited = names.length === 0 ? '' : ` [${names.join(', ')}]`
      return { kind: 'text', text: `${writeParagraph({ kind, text })}${cited}` }
    }),
  ]
}

const listEvidence = ({ evidence }: CaseFindings, names: Names, format: ReportFormat): ReportBlock => ({
  kind: 'table',
  title: `Evidence of the case: ${format.count(evidence.filter(({ is_detached }) => !is_detached).length)}`,
  columns: [
    { title: 'No.', width: 0, style: 'strong' },
    { title: 'What', width: 4 },
    { title: 'What it is and says', width: 6 },
    { title: 'Source', width: 4 },
    { title: 'Obtained', width: 0 },
    { title: 'Attached by', width: 3 },
    { title: 'Hash, cut', width: 0, style: 'code' },
  ],
  rows: evidence.map((item) => [
    item.no,
    `${item.title ?? 'Erased'}${item.is_test ? ' (test)' : ''}${item.is_detached ? ' (detached)' : ''}`,
    describeEvidenceContent(item.kind, item.content ?? undefined, { format, names }),
    [item.source ?? toWords(item.kind), item.reference].filter((part) => part !== null).join(', '),
    format.day(item.obtained_at),
    toName(names, item.added_by),
    `${item.content_hash.slice(0, 12)}…`,
  ]),
  empty: 'No evidence is attached to the case.',
})

/** What each case found, newest first. */
export const arrangeCases = (cases: readonly CollectedCase[], names: Names, format: ReportFormat): ReportBlock[] =>
  cases.flatMap((one): ReportBlock[] => {
    const { findings } = one
    if (!findings || one.state === 'merged') return []
    return [
      { kind: 'heading', text: `${one.reference}: ${one.title}` },
      { kind: 'facts', items: listFacts(one, findings, names, format) },
      ...listFindings(findings),
      listEvidence(findings, names, format),
    ]
  })
