/** Schedules of recurring reports. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import { noteRestriction } from '#kernel/audit/restricted-object.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound } from '#kernel/problem.ts'
import { findSchedule, listSchedules, type ScheduleRow } from './queries.ts'
import { changeSchedule, createSchedule, deleteSchedule } from './schedules.ts'
import { Schedule, ScheduleChange, SchedulePage, ScheduleParams, ScheduleQuery, ScheduleRequest } from './schema.ts'

const readers = ['analyst', 'compliance_officer', 'auditor'] as const

const toSettings = ({ name, template_key, parameters, formats, cron, time_zone, paused }: ScheduleRow) => ({
  ...{ name, template_key, parameters, formats, cron, time_zone, paused },
})

/** The name and parameters may name a person: the record has a hash of them. */
function recordSettings(audit: AuditNotes, before: ScheduleRow | null, after: ScheduleRow | null): void {
  const [old, now] = [before && toSettings(before), after ? toSettings(after) : {}]
  const withoutTexts = (settings: object): object =>
    Object.fromEntries(Object.entries(settings).filter(([member]) => member !== 'name' && member !== 'parameters'))
  audit.recordDiff(old && withoutTexts(old), withoutTexts(now))
  audit.recordHashes(old, now)
}

export const scheduleRoutes = [
  tenantRoute('GET /reports/schedules', {
    id: 'listReportSchedules',
    summary: 'Recurring reports with their next and their last run, oldest first',
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: ScheduleQuery,
    reply: [200, SchedulePage],
  }).handle((input) =>
    paginate(input, 'listReportSchedules', ['created_at', 'schedule_id'], (after, count) =>
      listSchedules(input.tx, after, count),
    ),
  ),

  tenantRoute('POST /reports/schedules', {
    id: 'createReportSchedule',
    summary: 'Make a report on a schedule',
    description:
      'Each due time requests one report. Nothing restricted is in it, except that a schedule about a case, its reports and their jobs belong to the restriction of the case. Times that nobody could serve are made up for once. A run is skipped, and says why, where the report could not be requested. It is paused when what it is about was erased, or when whoever set it was deactivated or may not see the case any more; another person resumes it.',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['jobs', 'modules', 'printing'],
    beforeTransaction: async ({ kernel }) => {
      await kernel.printing.pdf.findEngine()
    },
    body: ScheduleRequest,
    reply: [201, Schedule],
    revisioned: true,
    location: ({ schedule_id }) => `/reports/schedules/${schedule_id}`,
    links: { getReportSchedule: { schedule_id: 'schedule_id' } },
    // not_found: a repeated request, after the access to what it created was revoked.
    problems: [
      'not_found',
      'schedule_invalid',
      'report_invalid',
      'format_unavailable',
      'erased',
      'duplicate',
      'conflict',
    ],
  }).handle(async ({ tx, body, kernel, actor, audit }) => {
    const schedule = await createSchedule(kernel, tx, body, actor)
    await noteRestriction({ tx, audit }, 'report_schedule', schedule.schedule_id)
    recordSettings(audit, null, schedule)
    return schedule
  }),

  tenantRoute('GET /reports/schedules/:schedule_id', {
    id: 'getReportSchedule',
    summary: 'One schedule of reports with its next and its last run',
    roles: readers,
    tx: 'read',
    params: ScheduleParams,
    reply: [200, Schedule],
    revisioned: true,
    problems: ['not_found'],
  }).handle(async (input) => {
    const schedule = assertFound(await findSchedule(input.tx, input.params.schedule_id))
    await noteRestriction(input, 'report_schedule', schedule.schedule_id)
    return schedule
  }),

  tenantRoute('PATCH /reports/schedules/:schedule_id', {
    id: 'updateReportSchedule',
    summary: 'Change or pause a schedule of reports',
    description: 'Its next run is the next due time; runs that were due while it was paused are not made up for.',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['jobs', 'modules', 'printing'],
    beforeTransaction: async ({ kernel }) => {
      await kernel.printing.pdf.findEngine()
    },
    params: ScheduleParams,
    body: ScheduleChange,
    reply: [200, Schedule],
    revisioned: true,
    problems: ['not_found', 'schedule_invalid', 'report_invalid', 'format_unavailable', 'erased', 'duplicate'],
  }).handle(async ({ tx, params, body, kernel, actor, request, audit }) => {
    const change = { body, request, roles: actor.roles }
    const { before, after } = await changeSchedule(kernel, tx, params.schedule_id, change)
    await noteRestriction({ tx, audit }, 'report_schedule', params.schedule_id)
    recordSettings(audit, before, after)
    return after
  }),

  tenantRoute('DELETE /reports/schedules/:schedule_id', {
    id: 'deleteReportSchedule',
    summary: 'Remove a schedule of reports; its reports stay',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ScheduleParams,
    reply: [204, null],
    problems: ['not_found'],
  }).handle(async ({ tx, params, audit }) => {
    await noteRestriction({ tx, audit }, 'report_schedule', params.schedule_id)
    recordSettings(audit, await deleteSchedule(tx, params.schedule_id), null)
    return undefined
  }),
]
