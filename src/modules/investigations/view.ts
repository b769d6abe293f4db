/** What people see of an investigation. */
import { type ProblemCode, problems } from '#kernel/problem.ts'
import { toContentEtag } from '#kernel/revision.ts'
import type { ClockRow } from '#modules/work/clocks/index.ts'
import type { StepReasonCode } from './model.ts'
import { type CaseAlertRow, type CaseCounts, getRestriction, type InvestigationRow, type StepRow } from './queries.ts'

export const toSummary = (row: InvestigationRow) => ({
  investigation_id: row.investigation_id,
  reference: row.reference,
  title: row.title,
  state: row.state,
  gathering: row.gathering,
  waiting_for: row.waiting_for,
  waiting_since: row.waiting_since,
  waiting_until: row.waiting_until,
  priority: row.priority,
  origin: row.origin,
  subject: { subject_id: row.subject_id, name: row.subject_name, subject_type: row.subject_type },
  playbook: {
    key: row.playbook_key,
    origin: row.playbook_origin,
    version: row.playbook_version,
    content_hash: row.playbook_hash,
  },
  queue_key: row.queue_key,
  assignee: row.assignee,
  proposal: toProposal(row),
  outcome: row.outcome,
  closed_by: row.closed_by,
  closed_at: row.closed_at,
  seals: row.seal_no,
  merged_into: row.merged_into,
  restriction_id: getRestriction(row).restriction_id,
  is_restricted: getRestriction(row).is_in_force,
  is_test: row.is_test,
  created_at: row.created_at,
  created_by: row.created_by,
  updated_at: row.updated_at,
  updated_by: row.updated_by,
  revision: row.revision,
})

function toProposal({ proposed_outcome, proposed_by, proposed_at, proposal_hash, proposed_without }: InvestigationRow) {
  if (proposed_outcome === null || proposed_by === null || proposed_at === null || proposal_hash === null) return null
  return { outcome: proposed_outcome, proposed_by, proposed_at, proposal_hash, without: proposed_without }
}

/** As a seal and a report keep it: nothing of it changes with what happens to the case afterwards. */
export const toStep = (row: StepRow) => ({
  step_key: row.step_key,
  kind: row.kind,
  title: (row.definition['title'] as string | null | undefined) ?? getTaskTitle(row),
  origin: row.origin,
  is_required: row.is_required,
  needs: row.needs,
  state: row.state,
  attempt: row.attempt,
  job_id: row.job_id,
  call_id: row.call_id,
  task_id: row.task_id,
  result: row.result_kind !== null && row.result_id !== null ? { kind: row.result_kind, id: row.result_id } : null,
  evidence_id: row.evidence_id,
  is_test: row.is_test,
  contract_result: row.contract_result,
  cost:
    row.cost_amount !== null && row.cost_currency !== null
      ? { amount: row.cost_amount, currency: row.cost_currency }
      : null,
  reused_from: row.reused_from,
  not_before: row.not_before,
  started_at: row.started_at,
  ended_at: row.ended_at,
  problem: row.problem && { code: row.problem.code, detail: row.problem.detail ?? null },
  waiver:
    row.waived_by !== null && row.waived_at !== null && row.waive_reason !== null
      ? { waived_by: row.waived_by, waived_at: row.waived_at, reason: row.waive_reason }
      : null,
  entered: row.entered,
  revision: row.revision,
  updated_at: row.updated_at,
})

/** Where a provider's input comes from, as a person or the playbook wrote it. */
export const getStepInput = ({ kind, definition }: StepRow): Readonly<Record<string, unknown>> | null =>
  kind === 'provider' ? ((definition['with'] as ProviderSettings | undefined)?.input ?? null) : null

interface ProviderSettings {
  readonly input?: Readonly<Record<string, unknown>>
}

/** A step with what follows from its case. */
export const toStepView = (investigation: Pick<InvestigationRow, 'state'>, row: StepRow) => ({
  ...toStep(row),
  input: getStepInput(row),
  answer: toAnswer(row.contract_result?.['answer']),
  run_ms: getRunTime(row),
  reason: getReason(investigation, row),
})

const toAnswer = (answer: unknown): 'found' | 'not_found' | null =>
  answer === 'found' || answer === 'not_found' ? answer : null

/** A task takes as long as its person, and a waiver ends no run. */
function getRunTime({ kind, state, started_at, ended_at }: StepRow): number | null {
  const hasRun = kind !== 'task' && (state === 'succeeded' || state === 'failed' || state === 'indeterminate')
  return hasRun && started_at !== null && ended_at !== null ? Date.parse(ended_at) - Date.parse(started_at) : null
}

interface StepReason {
  readonly code: StepReasonCode
  readonly detail: string
}

/** Why nobody did the step, or will; null where it is done, or can still be. */
function getReason({ state: of_case }: Pick<InvestigationRow, 'state'>, row: StepRow): StepReason | null {
  if (row.state === 'waived') return { code: 'waived', detail: row.waive_reason ?? 'It was waived.' }
  if (row.state === 'skipped') {
    if (row.problem === null)
      return { code: 'condition_not_met', detail: 'Its condition does not apply to the subject.' }
    const cause = row.problem.detail ?? problems[row.problem.code as ProblemCode]?.title ?? row.problem.code
    return { code: 'not_asked', detail: `It is optional and could not be asked: ${cause}` }
  }
  const isLeft = row.state === 'pending' || row.state === 'running' || row.state === 'waiting'
  return isLeft ? (endings[of_case] ?? null) : null
}

const endings: Partial<Record<InvestigationRow['state'], StepReason>> = {
  merged: { code: 'case_merged', detail: 'The case was merged into another one before this step was done.' },
  closed: { code: 'case_closed', detail: 'The case was closed without this step.' },
  ended: { code: 'case_ended', detail: 'The case ended with the erasure of its subject.' },
}

const getTaskTitle = ({ kind, definition }: StepRow): string | null =>
  kind === 'task' ? ((definition['with'] as { title?: string } | undefined)?.title ?? null) : null

export const toClock = ({ clock_key, kind, state, started_at, due_at, ended_at }: ClockRow) => ({
  clock_key,
  kind,
  state,
  started_at,
  due_at,
  ended_at,
})

export interface CaseParts {
  readonly steps: readonly StepRow[]
  readonly counts: CaseCounts
  readonly clocks: readonly ClockRow[]
  readonly alerts: readonly CaseAlertRow[]
}

export const toInvestigation = (row: InvestigationRow, { steps, counts, clocks, alerts }: CaseParts) => ({
  ...toSummary(row),
  origin_reference: row.origin_reference,
  gathering_job_id: row.gathering_job_id,
  gathering_problem: row.gathering_problem,
  steps: steps.map((step) => toStepView(row, step)),
  clocks: clocks.map(toClock),
  alerts,
  counts,
})

/** Steps, counts and what is permitted change without the revision. */
export const toHeaders = (investigation: { readonly revision: number }) => ({ etag: toContentEtag(investigation) })
