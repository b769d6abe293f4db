/** The template `subject-dossier`: who a subject is, how it is rated and why, what was found, and who decided. */
import { nameActors, toName } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import {
  type CollectCapabilities,
  declareTemplate,
  type ReportBlock,
  type ReportFormat,
  type ReportSection,
} from '#kernel/report-template.ts'
import { closed, Id } from '#kernel/schema.ts'
import { findSubject, ratingStore } from '#modules/subjects/index.ts'
import { refuse } from '../../create-report.ts'
import {
  arrangeReasons,
  type CollectedDecision,
  collectDecision,
  describeBand,
  describeOutcome,
  getTone,
  loadBands,
  loadMatrixTexts,
  type MatrixTexts,
  mergeListVersions,
  toCited,
  toListVersions,
} from '../decision-parts.ts'
import { describeBatchOrder, findRequesters, listRequesters, nameRequester } from '../requesters.ts'
import { loadTitles, showInput } from '../value-texts.ts'
import { collectCases, describeCaseOutcome, listCaseActors, listCaseRestrictions } from './cases.ts'
import { arrangeFindings, findMatchedLists, MOST_ROWS } from './findings.ts'
import {
  listAlertsBySubject,
  listCaseReports,
  listCasesBySubject,
  listDocumentsBySubject,
  listEvaluationIds,
  listEvidenceBySubject,
  listOverrideApprovals,
} from './queries.ts'
import { arrangeHistory, collectRatings, describeOverride } from './ratings.ts'

interface Parameters {
  readonly subject_id: string
}

const MOST_DECISIONS = 20

/** Altered ones are left out here: the page of the decision says so. */
async function collectDecisions(
  kernel: CollectCapabilities,
  tx: Tx,
  ids: readonly string[],
): Promise<CollectedDecision[]> {
  const decisions: CollectedDecision[] = []
  for (const id of ids)
    try {
      decisions.push(await collectDecision(kernel, tx, id))
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'content_corrupt')) throw error
    }
  return decisions
}

/** As the matrix of the rating declares its inputs, which have the names of attributes. */
async function loadAttributeTexts(
  kernel: CollectCapabilities,
  tx: Tx,
  { key, version }: { readonly key: string | null; readonly version: number },
  attributes: Readonly<Record<string, unknown>>,
): Promise<MatrixTexts> {
  return key === null ? { labels: {}, input_texts: {} } : loadMatrixTexts(kernel, tx, { key, version }, attributes)
}

async function collectDossier(kernel: CollectCapabilities, tx: Tx, subject_id: string) {
  const subject = await findSubject(tx, subject_id)
  if (!subject) return refuse('parameters/subject_id', 'There is no subject with this id.')
  const listed = await ratingStore.listRatings(tx, subject_id, null, MOST_ROWS)
  const risk = await ratingStore.findSubjectRisk(tx, subject_id)
  const in_force = listed.find(({ rating_id }) => rating_id === (risk?.override_id ?? risk?.rating_id)) ?? null
  const rated = listed.find(({ rating_id }) => rating_id === risk?.rating_id) ?? null
  const recent = await listEvaluationIds(tx, subject_id, MOST_DECISIONS)
  const wanted =
    rated?.evaluation_id && !recent.includes(rated.evaluation_id) ? [rated.evaluation_id, ...recent] : recent
  const decisions = await collectDecisions(kernel, tx, wanted)
  const ratings = await collectRatings(kernel, tx, listed, decisions)
  const approvals = await listOverrideApprovals(tx, subject_id)
  const reports = await listCaseReports(tx, subject_id)
  const cases = await collectCases(kernel, tx, await listCasesBySubject(tx, subject_id, MOST_ROWS), reports)
  const alerts = await listAlertsBySubject(tx, subject_id, MOST_ROWS)
  const documents = await listDocumentsBySubject(tx, subject_id, MOST_ROWS)
  const evidence = await listEvidenceBySubject(tx, subject_id, MOST_ROWS)
  const { bands } = await loadBands(kernel, tx)
  const matrix = { key: rated?.matrix_key ?? null, version: rated?.matrix_version ?? 0 }
  const attribute_texts = await loadAttributeTexts(kernel, tx, matrix, subject.attributes)
  const dismissals = alerts.map(({ reason_code }) => reason_code)
  const reason_titles = await loadTitles(kernel, tx, 'reason-codes', dismissals)
  const requesters = await findRequesters(tx, {
    actors: [...ratings.map(({ actor }) => actor), ...decisions.map(({ created_by }) => created_by)],
    batch_ids: ratings.map(({ batch_id }) => batch_id),
  })
  const names = await nameActors(tx, [
    ...listRequesters(requesters),
    subject.created_by,
    subject.updated_by,
    ...ratings.map(({ actor }) => actor),
    ...approvals.flatMap(({ proposed_by, approved_by }) => [proposed_by, ...approved_by]),
    ...decisions.map(({ created_by }) => created_by),
    ...alerts.flatMap(({ proposed_by, dismissed_by, escalated_by }) => [proposed_by, dismissed_by, escalated_by]),
    ...listCaseActors(cases),
    ...documents.map(({ created_by }) => created_by),
    ...evidence.map(({ added_by }) => added_by),
  ])
  return {
    ...{ subject, in_force, rated, ratings, approvals, decisions, cases, alerts, documents, evidence, bands },
    ...{ reason_titles, names, requesters, attribute_texts },
  }
}
type Data = Awaited<ReturnType<typeof collectDossier>>

function arrangeIdentity(data: Data, format: ReportFormat): ReportSection {
  const { subject, names } = data
  const { labels, input_texts } = data.attribute_texts
  const attributes = Object.entries(subject.attributes)
  return {
    title: 'Who',
    blocks: [
      {
        kind: 'facts',
        items: [
          { label: 'Name', value: subject.name, style: 'strong' },
          { label: 'Type', value: subject.subject_type },
          { label: 'External id', value: subject.external_id ?? '–' },
          { label: 'Segment', value: subject.segment?.replaceAll(/[-_]/g, ' ') ?? '–' },
          {
            label: 'State',
            value: subject.state === 'offboarded' ? `offboarded ${format.day(subject.offboarded_at)}` : subject.state,
          },
          {
            label: 'Record',
            value: `revision ${subject.revision}, changed ${format.instant(subject.updated_at)} by ${toName(names, subject.updated_by)}`,
          },
          { label: 'In these records since', value: format.day(subject.created_at) },
          { label: 'Subject', value: subject.subject_id, style: 'code' },
        ],
      },
      {
        kind: 'table',
        title: 'Attributes',
        columns: [
          { title: 'Attribute', width: 2 },
          { title: 'Value', width: 5 },
        ],
        rows: attributes.map(([name, value]) => [
          labels[name] ?? name.replaceAll('_', ' '),
          showInput(value, input_texts[name], format),
        ]),
        empty: 'The record has no attributes.',
      },
    ],
  }
}

const findDecision = ({ decisions, rated }: Data): CollectedDecision | undefined =>
  decisions.find(({ evaluation_id }) => evaluation_id === rated?.evaluation_id)

const describeOpen = (what: string, count: number): string =>
  count === 0 ? `No open ${what}.` : `Open ${what}s: ${count}.`

/** Below the rating on the first page: what is open, and how the cases ended. */
function describeOpenAndClosed({ alerts, cases }: Data): string {
  const closed = cases.filter(({ state }) => state === 'closed')
  const ended = closed.slice(0, 3).map((one) => `${one.reference} ${describeCaseOutcome(one)}`)
  const more = closed.length > ended.length ? ` and ${closed.length - ended.length} more` : ''
  return [
    describeOpen('alert', alerts.filter(({ state }) => state === 'new' || state === 'snoozed').length),
    describeOpen('investigation', cases.filter(({ state }) => state === 'open' || state === 'proposed').length),
    ...(ended.length > 0 ? [`Closed: ${ended.join('; ')}${more}.`] : []),
  ].join(' ')
}

/** What the decision asks people to do, and what the records say about it since. */
function arrangeActions(decision: CollectedDecision, { cases }: Data): ReportBlock[] {
  const { required_actions } = decision.outcome
  const { action_titles } = decision
  if (required_actions.length === 0) return []
  const known = cases
    .filter(({ state }) => state !== 'merged')
    .map((one) => `${one.reference} ${describeCaseOutcome(one)}`)
    .join('; ')
  return [
    {
      kind: 'table',
      title: 'Required actions',
      columns: [
        { title: 'Action', width: 5, style: 'strong' },
        { title: 'Required by', width: 4 },
      ],
      rows: required_actions.map((action) => [
        action_titles[action] ? `${action_titles[action].title} (${action})` : action,
        decision.explanation.triggers
          .filter((trigger) => trigger.required_actions.includes(action))
          .map(({ title }) => title)
          .join(', ') || decision.definition_key,
      ]),
      empty: 'No action is required.',
    },
    {
      kind: 'note',
      text: `The service records what is done about an action as investigations, not action by action. ${known === '' ? 'There is no investigation of the subject.' : `Investigations of the subject: ${known}.`}`,
    },
  ]
}

function arrangeRating(data: Data, format: ReportFormat): ReportSection {
  const { in_force, rated, bands, names, requesters } = data
  const decision = findDecision(data)
  const blocks: ReportBlock[] = []
  if (in_force?.cause === 'override')
    blocks.push({
      kind: 'facts',
      items: [
        {
          label: 'Override',
          value: `${describeBand(bands, in_force.band)} until ${format.day(in_force.expires_at)}`,
          style: 'strong',
        },
        { label: 'Decided', value: describeOverride(in_force, data) },
        { label: 'Reason', value: in_force.reason ?? in_force.reason_code ?? '–' },
      ],
    })
  if (!decision) {
    const made =
      rated?.batch_id == null
        ? 'The rating was made'
        : `The rating was made ${describeBatchOrder(requesters, names, rated.batch_id)}`
    const text = rated
      ? `${made}. What changed against the rating before is below; the batch has the reasons of each item.`
      : 'No rating is in force.'
    return { title: 'Rating in force, and why', blocks: [...blocks, { kind: 'text', text }] }
  }
  blocks.push(
    {
      kind: 'facts',
      items: [
        { label: 'Decision', value: describeOutcome(decision, bands, format).title, style: 'strong' },
        { label: 'Holds from', value: format.instant(decision.valid_at) },
        {
          label: 'Recorded',
          value: `${format.instant(decision.decided_at)}, requested by ${nameRequester(requesters, names, decision.created_by)}`,
        },
        { label: 'Matrix', value: `${decision.definition_key}, version ${decision.definition_version}` },
        {
          label: 'Lists',
          value: decision.lists.map((list) => `${list.list_key} version ${list.version}`).join(', ') || '–',
        },
      ],
    },
    ...arrangeReasons(decision, bands, format),
    ...arrangeActions(decision, data),
  )
  return { title: 'Rating in force, and why', blocks }
}

function arrange(data: Data, format: ReportFormat) {
  const { subject, in_force, bands, names } = data
  const band = in_force?.band ?? null
  const by =
    in_force?.cause === 'override'
      ? `Override by ${toName(names, in_force.actor)}`
      : `By ${in_force?.matrix_key} version ${in_force?.matrix_version}`
  const said = in_force ? `${by}, holds from ${format.instant(in_force.valid_at)}.` : 'The subject was never rated.'
  const title = band === null ? 'Not rated' : `Rated ${describeBand(bands, band)}`
  return {
    title: 'Subject dossier',
    subtitle: subject.name,
    ...(subject.external_id !== null && { reference: subject.external_id }),
    blocks: [
      { kind: 'callout' as const, tone: getTone(bands, band), title, text: `${said} ${describeOpenAndClosed(data)}` },
    ],
    sections: [
      arrangeIdentity(data, format),
      arrangeRating(data, format),
      arrangeHistory(data, format),
      arrangeFindings(data, format),
    ],
  }
}

export const subjectDossier = declareTemplate<Parameters, Data>({
  key: 'subject-dossier',
  version: 7,
  title: 'Subject dossier',
  description:
    'Who the subject is, how it is rated and why, on which list versions, what was found, and who decided. Restricted cases, alerts and documents are in it only where the report belongs to their restriction.',
  roles: ['analyst', 'compliance_officer', 'auditor'],
  parameters: closed({ subject_id: Id({ description: 'The subject.' }) }),
  check: async (tx, { subject_id }) => {
    const subject = await findSubject(tx, subject_id)
    if (!subject) refuse('parameters/subject_id', 'There is no subject with this id.')
    else if (subject.erased_at !== null) throw new Problem('erased')
  },
  findSubject: async (_tx, { subject_id }) => subject_id,
  collect: async (kernel, tx, { subject_id }) => {
    const data = await collectDossier(kernel, tx, subject_id)
    const sources = [...data.alerts, ...data.documents, ...data.evidence]
    return {
      data,
      decisions: data.decisions.map(toCited),
      list_versions: mergeListVersions([
        ...data.decisions.flatMap(toListVersions),
        ...(await findMatchedLists(tx, data.alerts)),
      ]),
      restrictions: [
        ...listCaseRestrictions(data.cases),
        ...sources.flatMap(({ restriction_id }) => restriction_id ?? []),
        ...data.evidence.flatMap(({ also_restriction_id }) => also_restriction_id ?? []),
      ],
    }
  },
  arrange,
})
