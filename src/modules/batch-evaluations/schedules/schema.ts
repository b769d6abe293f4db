/** Wire contract of schedules and their runs. */
import {
  closed,
  ExpectedRevision,
  Id,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  Revision,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { BatchFilter } from '../schema.ts'

const Name = text(100, { description: 'Its name, unique in the tenant.', examples: ['Monthly review'] })
export const Cron = text(200, {
  description:
    'Minute, hour, day of the month, month and day of the week: numbers, names (mon, jan), *, ranges, steps and lists; L is the ' +
    'last day of the month. Where both days are restricted, either is enough. Due four times an hour at most.',
  examples: ['0 6 1 * *'],
})
export const TimeZone = text(100, {
  description:
    'IANA name of the time zone. A time that daylight saving skips is due after the gap; one that occurs twice is due the first time.',
  examples: ['Europe/Berlin'],
})
export const Paused = Type.Boolean({
  description: 'Nothing is due while it is paused, and missed runs are not made up for.',
})
const Note = text(500, { description: 'Given to each batch.' })

export const ScheduleRequest = closed({
  name: Name,
  matrix_key: Type.Optional(
    Slug({ description: 'The matrix that decides. Either this or rule_key.', examples: ['customer-risk'] }),
  ),
  rule_key: Type.Optional(
    Slug({ description: 'The rule that decides. Either this or matrix_key.', examples: ['cash-structuring'] }),
  ),
  filter: BatchFilter,
  cron: Cron,
  time_zone: TimeZone,
  paused: Type.Optional(Paused),
  note: Type.Optional(Note),
})

export const ScheduleChange = closed(
  {
    name: Type.Optional(Name),
    filter: Type.Optional(BatchFilter),
    cron: Type.Optional(Cron),
    time_zone: Type.Optional(TimeZone),
    paused: Type.Optional(Paused),
    note: Type.Optional(nullable(Note)),
    expected_revision: ExpectedRevision,
  },
  { minProperties: 1 },
)

export const ScheduleParams = closed({ schedule_id: Id() })
export const ScheduleQuery = closed({ ...pageQuery })

export const ScheduleRun = closed(
  {
    run_id: Id(),
    due_at: nullable(Timestamp({ description: 'The first of several missed times; null: started on request.' })),
    outcome: oneOf(['started', 'skipped']),
    batch_id: nullable(Id()),
    skipped: nullable(
      text(100, { description: 'previous_running, or the code of the problem the order met, as nothing_in_force.' }),
    ),
    detail: nullable(Type.String({ description: 'Why it was skipped, in a sentence.' })),
    recorded_at: Timestamp(),
    recorded_by: text(200),
  },
  { title: 'BatchScheduleRun' },
)
export const ScheduleRunPage = pageOf(ScheduleRun)

export const Schedule = closed(
  {
    schedule_id: Id(),
    name: Name,
    family: oneOf(['matrix', 'rule']),
    definition_key: Slug(),
    filter: BatchFilter,
    cron: Cron,
    time_zone: TimeZone,
    paused: Paused,
    note: nullable(Note),
    next_run_at: nullable(Timestamp({ description: 'null: it is paused.' })),
    last_run: nullable(ScheduleRun),
    last_batch_id: nullable(Id({ description: 'The batch it started last.' })),
    created_at: Timestamp(),
    created_by: text(200),
    updated_at: Timestamp({ description: 'When somebody changed it last.' }),
    updated_by: text(200),
    revision: Revision,
  },
  { title: 'BatchSchedule' },
)
export const SchedulePage = pageOf(Schedule)
