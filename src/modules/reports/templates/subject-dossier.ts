/** The template `subject-dossier`: who a subject is, how it is rated and why, what was found, and who decided. */
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
import { refuse } from '../create-report.ts'
import {
  arrangeReasons,
  type CollectedDecision,
  collectDecision,
  describeBand,
  describeOutcome,
  getTone,
  loadBands,
  mergeListVersions,
  nameActors,
  showValue,
  toListVersions,
  toName,
} from './decision-parts.ts'
import { type DossierAlertRow, listAlertsOf, listDocumentsOf, listEvaluationIds, listEvidenceOf } from './queries.ts'

interface Parameters {
  readonly subject_id: string
}

/** Of each kind; the dossier says where there are more. */
const MOST_ROWS = 200
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

async function collectDossier(kernel: CollectCapabilities, tx: Tx, subject_id: string) {
  const subject = await findSubject(tx, subject_id)
  if (!subject) return refuse('parameters/subject_id', 'There is no subject with this id.')
  const ratings = await ratingStore.listRatings(tx, subject_id, null, MOST_ROWS)
  const risk = await ratingStore.findSubjectRisk(tx, subject_id)
  const in_force = ratings.find(({ rating_id }) => rating_id === (risk?.override_id ?? risk?.rating_id)) ?? null
  const rated = ratings.find(({ rating_id }) => rating_id === risk?.rating_id) ?? null
  const recent = await listEvaluationIds(tx, subject_id, MOST_DECISIONS)
  const wanted =
    rated?.evaluation_id && !recent.includes(rated.evaluation_id) ? [rated.evaluation_id, ...recent] : recent
  const decisions = await collectDecisions(kernel, tx, wanted)
  const alerts = await listAlertsOf(tx, subject_id, MOST_ROWS)
  const documents = await listDocumentsOf(tx, subject_id, MOST_ROWS)
  const evidence = await listEvidenceOf(tx, subject_id, MOST_ROWS)
  const { bands } = await loadBands(kernel, tx)
  const names = await nameActors(tx, [
    subject.created_by,
    subject.updated_by,
    ...ratings.map(({ actor }) => actor),
    ...decisions.map(({ created_by }) => created_by),
    ...alerts.flatMap(({ proposed_by, dismissed_by, escalated_by }) => [proposed_by, dismissed_by, escalated_by]),
    ...documents.map(({ created_by }) => created_by),
    ...evidence.map(({ added_by }) => added_by),
  ])
  return { subject, in_force, rated, ratings, decisions, alerts, documents, evidence, bands, names }
}
type Data = Awaited<ReturnType<typeof collectDossier>>

const limitNote = (rows: readonly unknown[]): ReportBlock[] =>
  rows.length < MOST_ROWS
    ? []
    : [{ kind: 'note', text: `The newest ${MOST_ROWS} are listed; there may be older ones.` }]

function describeDecision(alert: DossierAlertRow, names: Data['names'], format: ReportFormat): string {
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

function arrangeIdentity({ subject, names }: Data, format: ReportFormat): ReportSection {
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
          { label: 'Segment', value: subject.segment ?? '–' },
          {
            label: 'State',
            value: subject.state === 'offboarded' ? `offboarded ${format.day(subject.offboarded_at)}` : subject.state,
          },
          {
            label: 'Record',
            value: `revision ${subject.revision}, changed ${format.instant(subject.updated_at)} by ${toName(names, subject.updated_by)}`,
          },
          { label: 'Known since', value: format.day(subject.created_at) },
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
        rows: attributes.map(([name, value]) => [name, showValue(value)]),
        empty: 'The record has no attributes.',
      },
    ],
  }
}

function arrangeHistory({ ratings, decisions, bands, names }: Data, format: ReportFormat): ReportSection {
  const scored = ratings.filter(({ score_bps }) => score_bps !== null).reverse()
  const blocks: ReportBlock[] = []
  if (scored.length > 1)
    blocks.push({
      kind: 'chart',
      type: 'line',
      title: 'Score over time, in basis points',
      labels: scored.map(({ recorded_at }) => format.day(recorded_at)),
      series: [{ title: 'Score', values: scored.map(({ score_bps }) => score_bps as number) }],
    })
  blocks.push(
    {
      kind: 'table',
      title: 'Ratings',
      columns: [
        { title: 'Recorded', width: 3 },
        { title: 'Rating', width: 2, style: 'strong' },
        { title: 'Score', width: 0, align: 'right' },
        { title: 'By', width: 4 },
        { title: 'Reason', width: 4 },
      ],
      rows: ratings.map((rating) => [
        format.instant(rating.recorded_at),
        describeBand(bands, rating.band),
        format.share(rating.score_bps),
        rating.matrix_key === null
          ? `${rating.cause === 'override' ? 'Override' : 'End of an override'} by ${toName(names, rating.actor)}`
          : `${rating.matrix_key} version ${rating.matrix_version}${rating.batch_id === null ? '' : ', in a batch'}, requested by ${toName(names, rating.actor)}`,
        [
          rating.reason_code,
          rating.reason,
          rating.expires_at === null ? null : `until ${format.day(rating.expires_at)}`,
        ]
          .filter((part) => part !== null)
          .join('; ') || '–',
      ]),
      empty: 'The subject was never rated.',
    },
    ...limitNote(ratings),
    {
      kind: 'table',
      title: `Latest decisions (at most ${MOST_DECISIONS})`,
      columns: [
        { title: 'Decided', width: 3 },
        { title: 'By', width: 4 },
        { title: 'Outcome', width: 3, style: 'strong' },
        { title: 'Reasons', width: 5 },
      ],
      rows: decisions.map((decision) => [
        format.instant(decision.decided_at),
        `${decision.definition_key} version ${decision.definition_version}`,
        describeOutcome(decision, bands, format).title,
        decision.reasons.map(({ title }) => title).join('; ') || '–',
      ]),
      empty: 'No decision about the subject is stored.',
    },
  )
  return { title: 'Ratings and decisions', blocks }
}

function arrangeFindings({ alerts, documents, evidence, names }: Data, format: ReportFormat): ReportSection {
  return {
    title: 'What was found, and who decided',
    blocks: [
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
          alert.sentence ? `${alert.title}: ${alert.sentence}` : alert.title,
          describeDecision(alert, names, format),
        ]),
        empty: 'No alert about the subject is known to the people who may read this report.',
      },
      ...limitNote(alerts),
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
    ],
  }
}

function arrange(data: Data, format: ReportFormat) {
  const { subject, in_force, rated, decisions, bands, names, alerts } = data
  const band = in_force?.band ?? null
  const decision = decisions.find(({ evaluation_id }) => evaluation_id === rated?.evaluation_id)
  const open = alerts.filter(({ state }) => state === 'new' || state === 'snoozed').length
  const isOverride = in_force?.cause === 'override'
  const why: ReportBlock[] = decision
    ? arrangeReasons(decision, bands, format)
    : [
        {
          kind: 'text',
          text: rated
            ? 'The rating was made in a batch, which keeps the reasons of each item.'
            : 'No rating is in force.',
        },
      ]
  const said = in_force
    ? `${isOverride ? `Override by ${toName(names, in_force.actor)}` : `By ${in_force.matrix_key} version ${in_force.matrix_version}`}, ${format.instant(in_force.recorded_at)}.` +
      ` ${open === 0 ? 'No open alert.' : `Open alerts: ${open}.`}`
    : `The subject was never rated. ${open === 0 ? 'No open alert.' : `Open alerts: ${open}.`}`
  const title = band === null ? 'Not rated' : `Rated ${describeBand(bands, band)}`
  return {
    title: 'Subject dossier',
    subtitle: subject.name,
    blocks: [{ kind: 'callout' as const, tone: getTone(bands, band), title, text: said }],
    sections: [
      arrangeIdentity(data, format),
      {
        title: 'Rating in force, and why',
        blocks: [
          ...(isOverride && in_force
            ? [
                {
                  kind: 'facts' as const,
                  items: [
                    {
                      label: 'Override',
                      value: `${describeBand(bands, in_force.band)} by ${toName(names, in_force.actor)} until ${format.day(in_force.expires_at)}`,
                      style: 'strong' as const,
                    },
                    { label: 'Reason', value: in_force.reason ?? in_force.reason_code ?? '–' },
                  ],
                },
              ]
            : []),
          ...(decision
            ? [
                {
                  kind: 'facts' as const,
                  items: [
                    {
                      label: 'Decision',
                      value: describeOutcome(decision, bands, format).title,
                      style: 'strong' as const,
                    },
                    {
                      label: 'Made',
                      value: `${format.instant(decision.decided_at)}, requested by ${toName(names, decision.created_by)}`,
                    },
                    { label: 'Matrix', value: `${decision.definition_key}, version ${decision.definition_version}` },
                    {
                      label: 'Lists',
                      value: decision.lists.map((list) => `${list.list_key} version ${list.version}`).join(', ') || '–',
                    },
                    { label: 'Required actions', value: decision.outcome.required_actions.join(', ') || 'none' },
                  ],
                },
              ]
            : []),
          ...why,
        ],
      },
      arrangeHistory(data, format),
      arrangeFindings(data, format),
    ],
  }
}

export const subjectDossier = declareTemplate<Parameters, Data>({
  key: 'subject-dossier',
  version: 1,
  title: 'Subject dossier',
  description:
    'Who the subject is, how it is rated and why, on which list versions, what was found, and who decided. Restricted alerts and documents are in it only where the report belongs to their restriction.',
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
      receipts: data.decisions.map(({ receipt }) => receipt.receipt_id),
      list_versions: mergeListVersions(data.decisions.flatMap(toListVersions)),
      restrictions: sources.flatMap(({ restriction_id }) => (restriction_id === null ? [] : [restriction_id])),
    }
  },
  arrange,
})
