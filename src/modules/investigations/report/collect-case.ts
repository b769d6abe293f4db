/** Everything that the report of a case shows, read once. */
import { nameActors } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { fail, Problem } from '#kernel/problem.ts'
import type { CollectCapabilities } from '#kernel/report-template.ts'
import { resolver } from '#modules/definitions/index.ts'
import { decisionRecords } from '#modules/evaluations/index.ts'
import { openNotes } from '../case-notes.ts'
import { loadPinned } from '../lifecycle/outcomes.ts'
import { listCaseEvidence, readParagraphs, showParagraphs } from '../narrative/narrative.ts'
import { findNarrative } from '../narrative/queries.ts'
import { findInvestigation, type InvestigationRow, listCaseSubjects, listSteps, listTimeline } from '../queries.ts'
import { listSeals } from '../seal/queries.ts'
import { listRequests, listTasks } from '../tasks/queries.ts'
import { toStep, toSummary } from '../view.ts'
import { listClosingActors, readClosings } from './case-closings.ts'
import { listContentActors, readEvidenceContents } from './evidence-content.ts'
import type { ReasonTitle } from './outcome-titles.ts'
import { listReportedAlerts } from './queries.ts'
import { describeConditions } from './step-conditions.ts'

/** The newest; the report says where there are more, and the archive has them. */
export const MOST_EVENTS = 500

export function refuseCase(): never {
  const detail = 'There is no investigation with this id.'
  return fail('report_invalid', { detail, errors: [{ in: 'body', pointer: '#/parameters/investigation_id', detail }] })
}

export const getCase = async (tx: Tx, investigation_id: string): Promise<InvestigationRow> =>
  (await findInvestigation(tx, investigation_id)) ?? refuseCase()

async function readDecision(kernel: CollectCapabilities, tx: Tx, evaluation_id: string) {
  const { row, content, manifest } = await decisionRecords.getIntactEvaluation(kernel, tx, evaluation_id)
  return decisionRecords.toEvaluationView(row, content, manifest)
}

/** Altered ones are left out here: the page of the decision says so. */
async function readDecisions(kernel: CollectCapabilities, tx: Tx, ids: readonly string[]) {
  const decisions: Awaited<ReturnType<typeof readDecision>>[] = []
  for (const id of ids)
    try {
      decisions.push(await readDecision(kernel, tx, id))
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'content_corrupt')) throw error
    }
  return decisions
}

async function readTimeline(kernel: CollectCapabilities, tx: Tx, row: InvestigationRow) {
  const events = await listTimeline(tx, { ...row, category: null }, null, MOST_EVENTS)
  const notes = await openNotes(kernel, tx, row, events)
  return events
    .map(({ event_id, kind, data, recorded_at, recorded_by }, at) => ({
      ...{ event_id, kind, data, recorded_at, recorded_by },
      note: notes[at]?.note ?? null,
    }))
    .toReversed()
}

async function readNarrative(
  kernel: CollectCapabilities,
  tx: Tx,
  row: InvestigationRow,
  { sealed, evidence }: { sealed: number | null; evidence: Awaited<ReturnType<typeof listCaseEvidence>> },
) {
  const stored = await findNarrative(tx, row.investigation_id)
  if (!stored) return null
  const { version, content_hash, written_at, written_by } = stored
  const { paragraphs } = await readParagraphs(kernel, tx, row, stored)
  const shown = showParagraphs(paragraphs, evidence)
  return { version, content_hash, written_at, written_by, is_sealed: version === sealed, paragraphs: shown }
}

export async function collectCase(kernel: CollectCapabilities, tx: Tx, investigation_id: string) {
  const row = await getCase(tx, investigation_id)
  const { content: playbook } = await loadPinned({ kernel, tx }, row)
  const conditions = describeConditions(playbook)
  const seals = await listSeals(tx, investigation_id)
  const [newest] = seals
  const seal = newest && {
    seal_no: newest.seal_no,
    manifest_hash: newest.manifest_hash,
    key_id: newest.key_id,
    sealed_at: newest.sealed_at,
    sealed_by: newest.sealed_by,
    narrative_version: (newest.manifest['narrative'] as { version: number } | null)?.version ?? null,
  }
  const steps = (await listSteps(tx, investigation_id)).map(toStep)
  const tasks = await listTasks(tx, investigation_id)
  const requests = await listRequests(tx, investigation_id)
  const evidence = await listCaseEvidence(tx, investigation_id)
  const alerts = await listReportedAlerts(tx, investigation_id)
  const subjects = await listCaseSubjects(tx, investigation_id)
  const timeline = await readTimeline(kernel, tx, row)
  const narrative = await readNarrative(kernel, tx, row, { sealed: seal?.narrative_version ?? null, evidence })
  const decided = steps.flatMap(({ result }) => (result?.kind === 'evaluation' ? [result.id] : []))
  const decisions = await readDecisions(kernel, tx, decided)
  const code = row.outcome ?? row.proposed_outcome
  const reasons = await resolver.loadPolicyList<ReasonTitle>(kernel, tx, 'reason-codes')
  const used = new Set([
    ...timeline.map(({ data }) => data['outcome']),
    ...alerts.map(({ reason_code }) => reason_code),
  ])
  const reason_titles = Object.fromEntries(
    (reasons?.entries ?? []).flatMap((one) => (used.has(one.code) ? [[one.code, one.title]] : [])),
  )
  const closings = await readClosings(kernel, tx, row, seals)
  const contents = await readEvidenceContents(kernel, tx, { evidence, subject_id: row.subject_id })
  const names = await nameActors(tx, [
    ...listClosingActors(closings),
    ...[row.created_by, row.assignee, row.proposed_by, row.closed_by, seal?.sealed_by ?? null],
    ...tasks.flatMap(({ assignee, ended_by }) => [assignee, ended_by]),
    ...requests.flatMap(({ asked_by, ended_by }) => [asked_by, ended_by]),
    ...steps.map(({ waiver }) => waiver?.waived_by ?? null),
    ...evidence.map(({ added_by }) => added_by),
    ...alerts.flatMap(({ dismissed_by, escalated_by }) => [dismissed_by, escalated_by]),
    ...timeline.map(({ recorded_by }) => recorded_by),
    ...timeline.flatMap(({ data }) =>
      [data['assignee'], data['entered_by']].map((named) => (typeof named === 'string' ? named : null)),
    ),
    ...steps.map(({ entered }) => entered?.entered_by ?? null),
    ...listContentActors(Object.values(contents)),
    narrative?.written_by ?? null,
  ])
  return {
    investigation: { ...toSummary(row), origin_reference: row.origin_reference },
    playbook: { title: playbook.title, conditions },
    outcome:
      code === null ? null : (reasons?.entries.find((one) => one.code === code) ?? { code, title: code, text: '' }),
    seal: seal ?? null,
    closings,
    contents,
    reason_titles,
    ...{ steps, tasks, requests, evidence, alerts, subjects, narrative, timeline, decisions, names },
  }
}
export type CollectedCase = Awaited<ReturnType<typeof collectCase>>
