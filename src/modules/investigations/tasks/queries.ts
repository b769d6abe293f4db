/** SQL of tasks. */
import type { Tx } from '#kernel/database/tx.ts'

export interface ChecklistItem {
  readonly text: string
  readonly is_done: boolean
}

export interface TaskRow {
  readonly task_id: string
  readonly investigation_id: string
  readonly step_key: string | null
  readonly title: string
  readonly detail: string | null
  readonly checklist: readonly ChecklistItem[]
  readonly role: 'analyst' | 'compliance_officer' | null
  readonly is_required: boolean
  readonly state: 'open' | 'done' | 'cancelled'
  readonly assignee: string | null
  readonly due_at: string | null
  readonly result: string | null
  readonly ended_at: string | null
  readonly ended_by: string | null
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly updated_by: string
  readonly revision: number
}

export const columns = `t.task_id, t.investigation_id, t.step_key, t.title, t.detail, t.checklist, t.role, t.is_required, t.state, t.assignee, t.due_at,
  t.result, t.ended_at, t.ended_by, t.created_at, t.created_by, t.updated_at, t.updated_by, t.revision`

export type NewTask = Pick<
  TaskRow,
  'task_id' | 'investigation_id' | 'step_key' | 'title' | 'detail' | 'checklist' | 'role' | 'is_required' | 'due_at'
>

export const insertTask = (tx: Tx, task: NewTask) =>
  tx.find<TaskRow>(
    `insert into app.investigation_task as t (tenant_id, task_id, investigation_id, step_key, title, detail, checklist, role, is_required, due_at,
       created_by, updated_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) returning ${columns}`,
    [
      tx.tenant_id,
      task.task_id,
      task.investigation_id,
      task.step_key,
      task.title,
      task.detail,
      JSON.stringify(task.checklist),
      task.role,
      task.is_required,
      task.due_at,
      tx.actor,
    ],
  )

export const findOpenTaskOfStep = (tx: Tx, investigation_id: string, step_key: string) =>
  tx.find<Pick<TaskRow, 'task_id'>>(
    `select t.task_id from app.investigation_task t
      where t.tenant_id = $1 and t.investigation_id = $2 and t.step_key = $3 and t.state = 'open' order by t.task_id limit 1`,
    [tx.tenant_id, investigation_id, step_key],
  )

/** Oldest first. */
export const listTasks = (tx: Tx, investigation_id: string) =>
  tx.query<TaskRow>(
    `select ${columns} from app.investigation_task t where t.tenant_id = $1 and t.investigation_id = $2 order by t.task_id`,
    [tx.tenant_id, investigation_id],
  )

export interface RequestRow {
  readonly request_id: string
  readonly investigation_id: string
  readonly addressee: string
  readonly question: string
  readonly due_at: string | null
  readonly state: 'open' | 'fulfilled' | 'withdrawn'
  readonly answer: string | null
  readonly evidence_id: string | null
  readonly asked_at: string
  readonly asked_by: string
  readonly ended_at: string | null
  readonly ended_by: string | null
  readonly revision: number
}

/** Without the document that answered it where the caller may not see that. */
export const requestColumns = `r.request_id, r.investigation_id, r.addressee, r.question, r.due_at, r.state, r.answer, r.asked_at,
  r.asked_by, r.ended_at, r.ended_by, r.revision,
  (select v.evidence_id from app.evidence_item v where v.tenant_id = r.tenant_id and v.evidence_id = r.evidence_id) as evidence_id`

export const insertRequest = (
  tx: Tx,
  request: Pick<RequestRow, 'request_id' | 'investigation_id' | 'addressee' | 'question' | 'due_at'>,
) =>
  tx.find<RequestRow>(
    `insert into app.investigation_request as r (tenant_id, request_id, investigation_id, addressee, question, due_at, asked_by)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${requestColumns}`,
    [
      tx.tenant_id,
      request.request_id,
      request.investigation_id,
      request.addressee,
      request.question,
      request.due_at,
      tx.actor,
    ],
  )

export const lockTask = (tx: Tx, investigation_id: string, task_id: string) =>
  tx.find<TaskRow>(
    `select ${columns} from app.investigation_task t where t.tenant_id = $1 and t.investigation_id = $2 and t.task_id = $3 for update`,
    [tx.tenant_id, investigation_id, task_id],
  )

export const updateTask = (
  tx: Tx,
  task_id: string,
  task: Pick<TaskRow, 'title' | 'detail' | 'checklist' | 'state' | 'assignee' | 'due_at' | 'result'>,
) =>
  tx.find<TaskRow>(
    `update app.investigation_task t set title = $3, detail = $4, checklist = $5, state = $6, assignee = $7, due_at = $8, result = $9,
            ended_at = case when $6 = 'open' then null else coalesce(ended_at, now()) end,
            ended_by = case when $6 = 'open' then null else coalesce(ended_by, $10) end,
            revision = revision + 1, updated_at = now(), updated_by = $10
      where t.tenant_id = $1 and t.task_id = $2 returning ${columns}`,
    [
      tx.tenant_id,
      task_id,
      task.title,
      task.detail,
      JSON.stringify(task.checklist),
      task.state,
      task.assignee,
      task.due_at,
      task.result,
      tx.actor,
    ],
  )

/** The step of a task that is done, or opened again. */
export const updateTaskStep = (
  tx: Tx,
  investigation_id: string,
  task: Pick<TaskRow, 'task_id' | 'step_key' | 'state'>,
) =>
  tx.run(
    `update app.investigation_step set state = case when $5 then 'succeeded' else 'waiting' end,
            result_kind = case when $5 then 'task' end, result_id = case when $5 then $4::uuid end,
            ended_at = case when $5 then now() end, revision = revision + 1, updated_at = now(), updated_by = $6
      where tenant_id = $1 and investigation_id = $2 and step_key = $3 and state in ('waiting', 'succeeded')
        and state <> case when $5 then 'succeeded' else 'waiting' end`,
    [tx.tenant_id, investigation_id, task.step_key, task.task_id, task.state === 'done', tx.actor],
  )

/** Oldest first. */
export const listRequests = (tx: Tx, investigation_id: string) =>
  tx.query<RequestRow>(
    `select ${requestColumns} from app.investigation_request r where r.tenant_id = $1 and r.investigation_id = $2 order by r.request_id`,
    [tx.tenant_id, investigation_id],
  )

export const lockRequest = (tx: Tx, investigation_id: string, request_id: string) =>
  tx.find<RequestRow>(
    `select ${requestColumns} from app.investigation_request r where r.tenant_id = $1 and r.investigation_id = $2 and r.request_id = $3 for update`,
    [tx.tenant_id, investigation_id, request_id],
  )

export const updateRequestEnded = (
  tx: Tx,
  request_id: string,
  ended: Pick<RequestRow, 'state' | 'answer' | 'evidence_id'>,
) =>
  tx.find<RequestRow>(
    `update app.investigation_request r set state = $3, answer = $4, evidence_id = $5, ended_at = now(), ended_by = $6, revision = revision + 1
      where r.tenant_id = $1 and r.request_id = $2 returning ${requestColumns}`,
    [tx.tenant_id, request_id, ended.state, ended.answer, ended.evidence_id, tx.actor],
  )
