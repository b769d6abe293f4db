/** Wire contract of work queues, own work, clocks and settings. */
import { roles } from '#kernel/auth/roles.ts'
import {
  Count,
  closed,
  ExpectedRevision,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  RestrictionInForce,
  Revision,
  reasonText,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { priorities } from './queue-list.ts'

const ObjectKind = text(40, {
  pattern: '^[a-z][a-z0-9_]{0,39}$',
  description: 'Kind of the object.',
  examples: ['alert'],
})
const clockKinds = ['service', 'statutory'] as const
const clockStates = ['running', 'paused', 'met', 'missed'] as const

const WorkQueueView = closed(
  {
    queue_key: text(100),
    title: text(200),
    assignment: oneOf(['manual', 'round_robin', 'least_loaded']),
    team_roles: listOf(oneOf(roles), 7),
    is_mine: Type.Boolean({ description: 'Whether the caller belongs to its team.' }),
    open: Count,
    unassigned: Count,
    mine: integer(0, Number.MAX_SAFE_INTEGER, { description: 'Open items that are assigned to the caller.' }),
    oldest_opened_at: nullable(Timestamp()),
    oldest_age_s: nullable(integer(0, Number.MAX_SAFE_INTEGER, { description: 'Age of the oldest open item.' })),
    next_due_at: nullable(Timestamp({ description: 'Earliest due time of a running clock of an open item.' })),
    missed: integer(0, Number.MAX_SAFE_INTEGER, { description: 'Missed clocks of open items.' }),
  },
  { title: 'WorkQueue' },
)
export const WorkQueueList = closed({ items: listOf(WorkQueueView, 1000) })

const WorkItem = closed(
  {
    object_kind: ObjectKind,
    object_id: Id(),
    title: nullable(text(500, { description: 'One line about the object; null where its kind has none.' })),
    queue_key: text(100),
    priority: oneOf(priorities),
    assigned_at: nullable(Timestamp()),
    not_before: nullable(Timestamp({ description: 'Postponed until then.' })),
    opened_at: Timestamp(),
    next_due_at: nullable(Timestamp({ description: 'Due time of the clock that ends first.' })),
    clock_state: nullable(oneOf(['running', 'paused', 'missed'])),
    restriction_id: RestrictionInForce(),
  },
  { title: 'WorkItem' },
)
export const WorkItemPage = pageOf(WorkItem)
export const WorkItemQuery = closed(pageQuery)

const Worker = closed(
  {
    user_id: Id(),
    name: text(200),
    is_away: Type.Boolean({ description: 'true: nothing can be given to the person now.' }),
  },
  { title: 'Worker' },
)
export const WorkerPage = pageOf(Worker)

const WorkClock = closed(
  {
    object_kind: ObjectKind,
    object_id: Id(),
    clock_key: text(100),
    kind: oneOf(clockKinds, { description: 'Only service clocks can be paused.' }),
    state: oneOf(clockStates),
    started_at: Timestamp(),
    due_at: Timestamp(),
    paused_at: nullable(Timestamp()),
    paused_s: Count,
    missed_at: nullable(Timestamp()),
    ended_at: nullable(Timestamp({ description: 'When the work was done.' })),
    restriction_id: RestrictionInForce(),
    receipt: closed(
      {
        duration: Type.Union([
          closed({ hours: integer(0, 100_000) }),
          closed({ days: integer(0, 10_000), day_kind: oneOf(['calendar', 'business']) }),
        ]),
        calendar: text(100),
        time_zone: text(64),
        list: nullable(closed({ list_key: text(100), version: Count, content_hash: text(64) })),
        is_covered: Type.Boolean({ description: 'false: the holidays of the last days were not known.' }),
      },
      { description: 'What the due time was computed from. list is null where the calendar did not exist.' },
    ),
  },
  { title: 'WorkClock' },
)
export const WorkClockPage = pageOf(WorkClock)
export const WorkClockQuery = closed({
  ...pageQuery,
  state: Type.Optional(oneOf(clockStates)),
  kind: Type.Optional(oneOf(clockKinds)),
  object_kind: Type.Optional(ObjectKind),
})

const WorkReference = closed({ object_kind: ObjectKind, object_id: Id() })
export const ReassignRequest = closed({
  items: listOf(WorkReference, 100, { minItems: 1, uniqueItems: true }),
  user_id: nullable(Id({ description: 'Who gets the items; null: back to their queues.' })),
  reason: reasonText(2000),
})
export const Reassigned = closed(
  {
    items: listOf(
      closed({
        object_kind: ObjectKind,
        object_id: Id(),
        queue_key: text(100),
        assignee: nullable(text(200)),
      }),
      100,
    ),
  },
  { title: 'ReassignedWork' },
)

export const WorkSettings = closed(
  {
    calendar: text(100, { description: 'Key of the list business-calendars by which days are counted.' }),
    updated_at: nullable(Timestamp()),
    updated_by: nullable(text(200)),
    revision: Revision,
  },
  { title: 'WorkSettings' },
)
export const WorkSettingsChange = closed({ calendar: Slug(), expected_revision: ExpectedRevision })
