/** Tasks of an investigation, and what others are asked for. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import { noteRestriction } from '#kernel/audit/restricted-object.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { evidenceStore } from '#modules/documents/index.ts'
import { workItems } from '#modules/work/index.ts'
import { lockStep } from '../gathering/queries.ts'
import { continueGathering } from '../gathering/start-gathering.ts'
import { assertCase, assertOpen } from '../lifecycle/case-content.ts'
import { caseWorkers, INVESTIGATION } from '../model.ts'
import { findInvestigation } from '../queries.ts'
import { InvestigationParams } from '../schema.ts'
import {
  insertRequest,
  insertTask,
  listRequests,
  listTasks,
  lockRequest,
  lockTask,
  type RequestRow,
  type TaskRow,
  updateRequestEnded,
  updateTask,
  updateTaskStep,
} from './queries.ts'
import {
  Fulfilled,
  Fulfilment,
  InformationRequest,
  InformationRequestList,
  InformationRequestParams,
  NewInformationRequest,
  Task,
  TaskList,
  TaskParams,
  TaskPatch,
  TaskRequest,
} from './schema.ts'

const readers = ['analyst', 'compliance_officer', 'auditor'] as const
const workers = ['analyst', 'compliance_officer'] as const

const toTask = ({ investigation_id: _, ...task }: TaskRow) => task
const toRequest = ({ investigation_id: _, ...request }: RequestRow) => request
const toRecordedTask = ({ state, assignee, due_at, is_required }: TaskRow) => ({ state, assignee, due_at, is_required })

/** What was found is personal data: the event has hashes of it. */
function recordFindings(audit: Pick<AuditNotes, 'recordText'>, before: TaskRow, after: TaskRow): void {
  if (after.result !== before.result) {
    audit.recordText('result_before', before.result ?? '')
    audit.recordText('result', after.result ?? '')
  }
  const [old, now] = [canonicalJson(before.checklist), canonicalJson(after.checklist)]
  if (now !== old) {
    audit.recordText('checklist_before', old)
    audit.recordText('checklist', now)
  }
}

export const taskRoutes = [
  tenantRoute('GET /investigations/:investigation_id/tasks', {
    id: 'listInvestigationTasks',
    summary: 'Tasks of an investigation, oldest first',
    roles: readers,
    tx: 'read',
    params: InvestigationParams,
    reply: [200, TaskList],
    problems: ['not_found'],
  }).handle(async ({ tx, params, audit }) => {
    const { investigation_id } = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    return { items: (await listTasks(tx, investigation_id)).map(toTask) }
  }),

  tenantRoute('POST /investigations/:investigation_id/tasks', {
    id: 'createInvestigationTask',
    summary: 'Add a task to an investigation',
    roles: workers,
    tx: 'write',
    params: InvestigationParams,
    body: TaskRequest,
    reply: [201, Task],
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, audit }) => {
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    assertOpen(row)
    const { title, detail = null, checklist = [], role = null, is_required = false, due_at = null } = body
    const items = checklist.map((text) => ({ text, is_done: false }))
    const { investigation_id } = row
    const made = { task_id: uuidv7(), investigation_id, step_key: null, title, detail, role, is_required, due_at }
    const task = assertFound(await insertTask(tx, { ...made, checklist: items }))
    audit.recordDiff(null, { task_id: task.task_id, ...toRecordedTask(task) })
    return toTask(task)
  }),

  tenantRoute('PATCH /investigations/:investigation_id/tasks/:task_id', {
    id: 'updateInvestigationTask',
    summary: 'Work on a task: confirm items, give it to somebody, end it',
    roles: workers,
    tx: 'write',
    uses: ['jobs'],
    params: TaskParams,
    body: TaskPatch,
    reply: [200, Task],
    revisioned: true,
    problems: ['not_found', 'conflict', 'revision_stale', 'transition_not_allowed', 'role_required'],
  }).handle(async (input) => {
    const { tx, params, body, actor, audit, kernel } = input
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    assertOpen(row)
    const { investigation_id, restriction_id } = row
    const task = assertFound(await lockTask(tx, investigation_id, params.task_id))
    assertRevision(task.revision, input)
    const { state = task.state, due_at = task.due_at, result = task.result } = body
    if (task.role !== null && !actor.roles.includes(task.role)) fail('role_required', `This task is for ${task.role}.`)
    if (task.state === 'cancelled' || (state === 'cancelled' && task.state === 'done'))
      fail('transition_not_allowed', `The task is ${task.state}.`)
    if (state === 'cancelled' && task.is_required) fail('transition_not_allowed', 'A required task is not cancelled.')
    const checklist = applyChecklist(task, body.checklist)
    if (task.state === 'done' && state === 'done' && !isSameFinding(task, { result, checklist }))
      fail('transition_not_allowed', 'The task is done: open it again first.')
    if (state === 'done' && checklist.some(({ is_done }) => !is_done))
      fail('transition_not_allowed', 'An item of the checklist is open.')
    if (body.assignee)
      await workItems.assertAssignable(
        tx,
        body.assignee,
        restriction_id,
        task.role === null ? caseWorkers : [task.role],
      )
    const assignee =
      body.assignee === undefined ? task.assignee : body.assignee === null ? null : `user:${body.assignee}`
    const { title, detail } = task
    if (task.step_key !== null) await lockStep(tx, investigation_id, task.step_key)
    const after = assertFound(
      await updateTask(tx, task.task_id, { title, detail, checklist, state, assignee, due_at, result }),
    )
    if (task.step_key !== null && state !== task.state) {
      await updateTaskStep(tx, investigation_id, after)
      // Steps that need this one can begin.
      await continueGathering(kernel, tx, row)
    }
    audit.recordDiff(toRecordedTask(task), toRecordedTask(after))
    recordFindings(audit, task, after)
    return toTask(after)
  }),

  tenantRoute('GET /investigations/:investigation_id/information-requests', {
    id: 'listInformationRequests',
    summary: 'What others were asked for in an investigation, oldest first',
    roles: readers,
    tx: 'read',
    params: InvestigationParams,
    reply: [200, InformationRequestList],
    problems: ['not_found'],
  }).handle(async ({ tx, params, audit }) => {
    const { investigation_id } = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    return { items: (await listRequests(tx, investigation_id)).map(toRequest) }
  }),

  tenantRoute('POST /investigations/:investigation_id/information-requests', {
    id: 'createInformationRequest',
    summary: 'Record that somebody outside the case is asked for information',
    roles: workers,
    tx: 'write',
    params: InvestigationParams,
    body: NewInformationRequest,
    reply: [201, InformationRequest],
    problems: ['not_found', 'conflict', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, audit }) => {
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    assertOpen(row)
    const { addressee, question, due_at = null } = body
    if (due_at !== null && Date.parse(due_at) <= Date.now()) fail('conflict', 'The due date is in the past.')
    const { investigation_id } = row
    const made = { request_id: uuidv7(), investigation_id, addressee, question, due_at }
    const request = assertFound(await insertRequest(tx, made))
    audit.recordDiff(null, { request_id: request.request_id, due_at })
    return toRequest(request)
  }),

  tenantRoute('POST /investigations/:investigation_id/information-requests/:request_id/fulfil', {
    id: 'fulfilInformationRequest',
    summary: 'Answer a request for information, or withdraw it without an answer',
    description:
      'With an answer or a document it is fulfilled; with neither it is withdrawn, which only people may do.',
    roles: ['analyst', 'compliance_officer', 'service'],
    tx: 'write',
    uses: ['auditKeys', 'encryption', 'integrity', 'modules'],
    params: InformationRequestParams,
    body: Fulfilment,
    reply: [200, Fulfilled],
    problems: [
      'not_found',
      'conflict',
      'duplicate',
      'revision_stale',
      'transition_not_allowed',
      'not_finished',
      'erased',
      'content_corrupt',
      'role_required',
    ],
  }).handle(async (input) => {
    const { tx, params, body, kernel, actor, audit } = input
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    const request = assertFound(await lockRequest(tx, row.investigation_id, params.request_id))
    assertRevision(request.revision, input)
    if (row.state !== 'open' && row.state !== 'proposed')
      fail('transition_not_allowed', `The investigation is ${row.state}.`)
    if (request.state !== 'open') fail('transition_not_allowed', `The request is ${request.state}.`)
    const { answer = null, document_id } = body
    const isAnswered = answer !== null || document_id !== undefined
    if (!isAnswered && !actor.roles.some((role) => role === 'analyst' || role === 'compliance_officer'))
      fail('role_required', 'Only an analyst or a compliance officer withdraws a request.')
    const evidence =
      document_id === undefined
        ? null
        : await evidenceStore.attachEvidence(
            kernel,
            tx,
            {
              owner_kind: INVESTIGATION,
              owner_id: row.investigation_id,
              kind: 'document',
              object_id: document_id,
              title: `Answer to a request for information`,
              source: request.addressee,
            },
            input.request.id,
          )
    const evidence_id = evidence?.evidence_id ?? null
    // The event of the request names the item, so that it belongs to the document as well.
    if (evidence_id !== null) await noteRestriction({ tx, audit }, 'evidence_item', evidence_id)
    const state = isAnswered ? 'fulfilled' : 'withdrawn'
    const after = assertFound(await updateRequestEnded(tx, request.request_id, { state, answer, evidence_id }))
    audit.recordDiff({ state: request.state }, { state, evidence_id })
    return { request_id: request.request_id, state, evidence_id, ended_at: after.ended_at as string }
  }),
]

const isSameFinding = (task: TaskRow, { result, checklist }: Pick<TaskRow, 'result' | 'checklist'>): boolean =>
  task.result === result && canonicalJson(task.checklist) === canonicalJson(checklist)

function applyChecklist(task: TaskRow, given: readonly boolean[] | undefined) {
  if (given === undefined) return task.checklist
  if (given.length !== task.checklist.length)
    fail('conflict', `The checklist has ${task.checklist.length} items, not ${given.length}.`)
  return task.checklist.map(({ text }, at) => ({ text, is_done: given[at] ?? false }))
}
