/** Acts on an investigation as a whole, from assigning to closing and merging. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { assertFound } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { Actor, RequestMetadata } from '#kernel/route.ts'
import { casesClosed, toOutcomeLabel } from '../gathering/metrics.ts'
import { findInvestigation, type InvestigationRow, lockInvestigation } from '../queries.ts'
import { InvestigationParams, InvestigationSummary } from '../schema.ts'
import { toHeaders, toSummary } from '../view.ts'
import {
  type Act,
  type ActContext,
  assign,
  close,
  proposeOutcome,
  reopen,
  resume,
  returnProposal,
  update,
  wait,
  withdrawProposal,
} from './acts.ts'
import { assertCase } from './case-content.ts'
import { merge } from './merge.ts'
import {
  AssignRequest,
  CloseRequest,
  InvestigationPatch,
  MergeRequest,
  NoteRequest,
  ProposeRequest,
  ReasonRequest,
  WaitRequest,
} from './schema.ts'

const workers = ['analyst', 'compliance_officer'] as const
const officers = ['compliance_officer'] as const

interface ActInput {
  readonly tx: Tx
  readonly kernel: ActContext['kernel']
  readonly params: { readonly investigation_id: string }
  readonly actor: Actor
  readonly audit: AuditNotes
  readonly request: RequestMetadata
  readonly body?: unknown
}

async function perform<Input>(input: ActInput, act: Act<Input>, given: Input) {
  const { tx, kernel, params, actor, audit } = input
  const before = assertCase(await lockInvestigation(tx, params.investigation_id), audit)
  assertRevision(before.revision, input)
  await act({ kernel, tx, caller: actor, request_id: input.request.id }, before, given)
  const after = assertFound(await findInvestigation(tx, before.investigation_id))
  audit.recordDiff(toRecorded(before), toRecorded(after))
  // The other case may be restricted later; the case itself names it to those who see both.
  if (after.merged_into !== null) {
    audit.recordText('merged_into', after.merged_into)
    const is_in_force = after.is_in_force || after.is_also_in_force
    audit.belongsTo({ ...after, is_in_force })
  }
  return toSummary(after)
}

/** What the audit event says in clear: nothing about the subject. */
const toRecorded = (row: InvestigationRow) => ({
  state: row.state,
  priority: row.priority,
  assignee: row.assignee,
  waiting_for: row.waiting_for,
  waiting_until: row.waiting_until,
  proposed_outcome: row.proposed_outcome,
  proposed_by: row.proposed_by,
  proposal_hash: row.proposal_hash,
  proposed_without: row.proposed_without,
  outcome: row.outcome,
  closed_by: row.closed_by,
  seal_no: row.seal_no,
})

/** What the declarations of all acts have in common. */
const common = {
  tx: 'write',
  uses: ['auditKeys', 'caches', 'encryption', 'integrity', 'modules'],
  params: InvestigationParams,
  reply: [200, InvestigationSummary],
  revisioned: true,
  headers: toHeaders,
} as const
const refusals = [
  'not_found',
  'revision_stale',
  'transition_not_allowed',
  'person_required',
  'erased',
  'content_corrupt',
] as const

export const lifecycleRoutes = [
  tenantRoute('PATCH /investigations/:investigation_id', {
    ...common,
    id: 'updateInvestigation',
    summary: 'Change title or priority of an investigation',
    roles: workers,
    body: InvestigationPatch,
    problems: refusals,
  }).handle((input) => perform(input, update, input.body)),

  tenantRoute('POST /investigations/:investigation_id/assign', {
    ...common,
    id: 'assignInvestigation',
    summary: 'Give an investigation to a person',
    roles: workers,
    body: AssignRequest,
    problems: [...refusals, 'conflict'],
  }).handle((input) => perform(input, assign, input.body)),

  tenantRoute('POST /investigations/:investigation_id/wait', {
    ...common,
    id: 'waitInvestigation',
    summary: 'Record that an investigation waits; its service clocks pause',
    roles: workers,
    body: WaitRequest,
    problems: [...refusals, 'conflict'],
  }).handle((input) => perform(input, wait, input.body)),

  tenantRoute('POST /investigations/:investigation_id/resume', {
    ...common,
    id: 'resumeInvestigation',
    summary: 'Go on with an investigation that waits',
    roles: workers,
    body: NoteRequest,
    problems: refusals,
  }).handle((input) => perform(input, resume, input.body)),

  tenantRoute('POST /investigations/:investigation_id/propose-outcome', {
    ...common,
    id: 'proposeInvestigationOutcome',
    summary: 'Propose how an investigation ends; another person closes it',
    description:
      'Refused with every guard that is missing: running or open required steps and tasks, findings of the narrative, evidence that ' +
      'has changed. The proposal has a hash over all that it rests on. Where no outcome is left whose steps can all be done, one may be ' +
      'proposed without those that were waived or left out, with a note that says why.',
    roles: workers,
    body: ProposeRequest,
    problems: [...refusals, 'conflict', 'not_finished'],
  }).handle((input) => perform(input, proposeOutcome, input.body)),

  tenantRoute('POST /investigations/:investigation_id/withdraw-proposal', {
    ...common,
    id: 'withdrawInvestigationProposal',
    summary: 'Withdraw the outcome that I proposed',
    roles: workers,
    body: NoteRequest,
    problems: refusals,
  }).handle((input) => perform(input, withdrawProposal, input.body)),

  tenantRoute('POST /investigations/:investigation_id/return', {
    ...common,
    id: 'returnInvestigationProposal',
    summary: 'Return a proposed outcome to be worked on, with a reason',
    roles: officers,
    body: ReasonRequest,
    problems: [...refusals, 'approval_own_request'],
  }).handle((input) => perform(input, returnProposal, input.body)),

  tenantRoute('POST /investigations/:investigation_id/close', {
    ...common,
    id: 'closeInvestigation',
    uses: [...common.uses, 'metrics'],
    summary: 'Close an investigation with the outcome that another person proposed, and seal it',
    description: 'Whatever the approval policy says, the database refuses the person who proposed it.',
    roles: officers,
    body: CloseRequest,
    problems: [...refusals, 'approval_own_request', 'conflict'],
  }).handle(async (input) => {
    const closed = await perform(input, close, input.body)
    const outcome = toOutcomeLabel(closed.outcome as string)
    input.tx.onCommit(() => input.kernel.metrics.increment(casesClosed, { outcome }))
    return closed
  }),

  tenantRoute('POST /investigations/:investigation_id/reopen', {
    ...common,
    id: 'reopenInvestigation',
    summary: 'Open a closed investigation again; its seal stays',
    roles: officers,
    body: ReasonRequest,
    problems: [...refusals, 'conflict'],
  }).handle((input) => perform(input, reopen, input.body)),

  tenantRoute('POST /investigations/:investigation_id/merge', {
    ...common,
    id: 'mergeInvestigation',
    summary: 'Merge an investigation into another open one',
    description:
      'Evidence and alerts are named by the other one too. Where either is restricted, only people who may see both see it afterwards.',
    roles: officers,
    body: MergeRequest,
    problems: [...refusals, 'conflict'],
  }).handle((input) => perform(input, merge, input.body)),
]
