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
  showValue,
  toListVersions,
} from './decision-parts.ts'
import { arrangeFindings, limitNote, MOST_ROWS } from './dossier-findings.ts'
import { listAlertsOf, listCasesOf, listDocumentsOf, listEvaluationIds, listEvidenceOf } from './queries.ts'

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
  const cases = await listCasesOf(tx, subject_id, MOST_ROWS)
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
    ...cases.flatMap(({ proposed_by, closed_by }) => [proposed_by, closed_by]),
    ...documents.map(({ created_by }) => created_by),
    ...evidence.map(({ added_by }) => added_by),
  ])
  return { subject, in_force, rated, ratings, decisions, cases, alerts, documents, evidence, bands, names }
}
type Data = Awaited<ReturnType<typeof collectDossier>>

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

const describeOpen = (what: string, count: number): string =>
  count === 0 ? `No open ${what}.` : `Open ${what}s: ${count}.`

function arrange(data: Data, format: ReportFormat) {
  const { subject, in_force, rated, decisions, bands, names, alerts, cases } = data
  const band = in_force?.band ?? null
  const decision = decisions.find(({ evaluation_id }) => evaluation_id === rated?.evaluation_id)
  const open = [
    describeOpen('alert', alerts.filter(({ state }) => state === 'new' || state === 'snoozed').length),
    describeOpen('investigation', cases.filter(({ state }) => state === 'open' || state === 'proposed').length),
  ].join(' ')
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
      ` ${open}`
    : `The subject was never rated. ${open}`
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
  version: 2,
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
    const sources = [...data.cases, ...data.alerts, ...data.documents, ...data.evidence]
    return {
      data,
      receipts: data.decisions.map(({ receipt }) => receipt.receipt_id),
      list_versions: mergeListVersions(data.decisions.flatMap(toListVersions)),
      restrictions: sources.flatMap(({ restriction_id }) => (restriction_id === null ? [] : [restriction_id])),
    }
  },
  arrange,
})
