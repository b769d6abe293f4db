/** Wire contract of tasks and requests for information. */
import {
  closed,
  ExpectedRevision,
  Id,
  listOf,
  nullable,
  oneOf,
  Revision,
  reasonText,
  Timestamp,
  Type,
  text,
  titleText,
} from '#kernel/schema.ts'
import { Principal } from '../schema.ts'

const MAX_ITEMS = 50
const ChecklistItem = closed({ text: titleText(300), is_done: Type.Boolean() }, { title: 'ChecklistItem' })
const roles = ['analyst', 'compliance_officer'] as const

export const Task = closed(
  {
    task_id: Id(),
    step_key: nullable(text(100, { description: 'The step that waits for it.' })),
    title: text(300),
    detail: nullable(text(4000)),
    checklist: Type.Array(ChecklistItem),
    role: nullable(oneOf(roles)),
    is_required: Type.Boolean(),
    state: oneOf(['open', 'done', 'cancelled']),
    assignee: nullable(Principal),
    due_at: nullable(Timestamp()),
    result: nullable(text(4000)),
    ended_at: nullable(Timestamp()),
    ended_by: nullable(Principal),
    created_at: Timestamp(),
    created_by: Principal,
    updated_at: Timestamp(),
    updated_by: Principal,
    revision: Revision,
  },
  { title: 'InvestigationTask' },
)
export const TaskList = closed({ items: Type.Array(Task) }, { title: 'InvestigationTaskList' })
export const TaskParams = closed({ investigation_id: Id(), task_id: Id() })
export const TaskRequest = closed({
  title: titleText(300, { examples: ['Ask the branch for the contract'] }),
  detail: Type.Optional(nullable(reasonText(4000))),
  checklist: Type.Optional(
    listOf(titleText(300), MAX_ITEMS, { description: 'What the person confirms, item by item.' }),
  ),
  role: Type.Optional(nullable(oneOf(roles))),
  is_required: Type.Optional(Type.Boolean({ default: false })),
  due_at: Type.Optional(nullable(Timestamp())),
})
export const TaskPatch = closed({
  state: Type.Optional(
    oneOf(['open', 'done', 'cancelled'], {
      description:
        'done: every item of the checklist is; a step that waits for it has succeeded. A required task is not cancelled.',
    }),
  ),
  checklist: Type.Optional(
    listOf(Type.Boolean(), MAX_ITEMS, { description: 'Of each item, in order, whether it is done.' }),
  ),
  assignee: Type.Optional(nullable(Id({ description: 'Id of a person.' }))),
  due_at: Type.Optional(nullable(Timestamp())),
  result: Type.Optional(nullable(reasonText(4000))),
  expected_revision: ExpectedRevision,
})

export const InformationRequest = closed(
  {
    request_id: Id(),
    addressee: text(300),
    question: text(4000),
    due_at: nullable(Timestamp()),
    state: oneOf(['open', 'fulfilled', 'withdrawn']),
    answer: nullable(text(8000)),
    evidence_id: nullable(Id()),
    asked_at: Timestamp(),
    asked_by: Principal,
    ended_at: nullable(Timestamp()),
    ended_by: nullable(Principal),
    revision: Revision,
  },
  { title: 'InformationRequest' },
)
export const InformationRequestList = closed(
  { items: Type.Array(InformationRequest) },
  { title: 'InformationRequestList' },
)
export const InformationRequestParams = closed({ investigation_id: Id(), request_id: Id() })
export const NewInformationRequest = closed({
  addressee: titleText(300, { examples: ['Branch Main Street'] }),
  question: reasonText(4000, { examples: ['Which contract do the payments of March belong to?'] }),
  due_at: Type.Optional(nullable(Timestamp())),
})
export const Fulfilment = closed({
  answer: Type.Optional(reasonText(8000)),
  document_id: Type.Optional(Id({ description: 'A document that is attached as evidence.' })),
  expected_revision: ExpectedRevision,
})
export const Fulfilled = closed(
  { request_id: Id(), state: oneOf(['fulfilled', 'withdrawn']), evidence_id: nullable(Id()), ended_at: Timestamp() },
  { title: 'FulfilledRequest' },
)
