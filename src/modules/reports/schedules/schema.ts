/** Wire contract of schedules of reports. */
import {
  closed,
  ExpectedRevision,
  Id,
  listOf,
  nullable,
  pageOf,
  pageQuery,
  RestrictionInForce,
  Revision,
  Slug,
  Timestamp,
  Type,
  text,
  titleText,
} from '#kernel/schema.ts'
import { scheduleTimes } from '#modules/batch-evaluations/index.ts'
import { reportFormats } from '../model.ts'
import { Format, Formats, Locale, Parameters } from '../schema.ts'

const Name = titleText(100, {
  description: 'Its name, unique in the tenant; of schedules about a case, unique among those of the case.',
  examples: ['Monthly overview'],
})
const { Cron, Paused, TimeZone } = scheduleTimes

export const ScheduleRequest = closed({
  name: Name,
  template: Slug({ description: 'Key of the template.', examples: ['programme-overview'] }),
  parameters: Type.Optional(Parameters),
  formats: Type.Optional(Formats),
  locale: Type.Optional(Locale),
  cron: Cron,
  time_zone: TimeZone,
  paused: Type.Optional(Paused),
})

export const ScheduleChange = closed(
  {
    name: Type.Optional(Name),
    parameters: Type.Optional(Parameters),
    formats: Type.Optional(Formats),
    locale: Type.Optional(Locale),
    cron: Type.Optional(Cron),
    time_zone: Type.Optional(TimeZone),
    paused: Type.Optional(Paused),
    expected_revision: ExpectedRevision,
  },
  { minProperties: 1 },
)

export const ScheduleParams = closed({ schedule_id: Id() })
export const ScheduleQuery = closed({ ...pageQuery })

export const Schedule = closed(
  {
    schedule_id: Id(),
    name: text(100),
    template_key: Slug(),
    parameters: Parameters,
    formats: listOf(Format, reportFormats.length),
    locale: text(35),
    cron: Cron,
    time_zone: TimeZone,
    paused: Paused,
    next_run_at: nullable(Timestamp({ description: 'null: it is paused.' })),
    last_run_at: nullable(Timestamp()),
    last_report_id: nullable(Id({ description: 'The report that it requested last.' })),
    last_skipped: nullable(text(2000, { description: 'Why the last due time made no report.' })),
    created_at: Timestamp(),
    created_by: text(200),
    updated_at: Timestamp({ description: 'When somebody changed it last.' }),
    updated_by: text(200),
    restriction_id: RestrictionInForce(),
    revision: Revision,
  },
  { title: 'ReportSchedule' },
)
export const SchedulePage = pageOf(Schedule)
