/** Schedules of recurring batches, and their runs. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound } from '#kernel/problem.ts'
import { findSchedule, listScheduleRuns, listSchedules, type ScheduleRow } from './queries.ts'
import { changeSchedule, createSchedule, deleteSchedule, runSchedule } from './schedules.ts'
import {
  Schedule,
  ScheduleChange,
  SchedulePage,
  ScheduleParams,
  ScheduleQuery,
  ScheduleRequest,
  ScheduleRunPage,
} from './schema.ts'

const readers = ['analyst', 'policy_editor', 'compliance_officer', 'auditor'] as const
const editors = ['policy_editor', 'compliance_officer'] as const

/** A proposal is bound to the settings; runs since then do not make it void. */
const getScheduleHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> =>
  (await findSchedule(tx, params['schedule_id'] as string))?.updated_at ?? null

const toSettings = ({ name, family, definition_key, filter, cron, time_zone, paused, note }: ScheduleRow) => ({
  ...{ name, family, definition_key, filter, cron, time_zone, paused, note },
})

/** Name, filter and note may name a person: the record has a hash of them, approvers see the words. */
function recordSettings(audit: AuditNotes, before: ScheduleRow | null, after: ScheduleRow | null): void {
  const [old, now] = [before && toSettings(before), after ? toSettings(after) : {}]
  const withoutTexts = (settings: object): object =>
    Object.fromEntries(Object.entries(settings).filter(([member]) => !['name', 'filter', 'note'].includes(member)))
  audit.recordDiff(old && withoutTexts(old), withoutTexts(now))
  audit.recordHashes(old, now)
  audit.recordPreview(old, now)
}

export const scheduleRoutes = [
  tenantRoute('GET /batch-evaluations/schedules', {
    id: 'listBatchSchedules',
    summary: 'Recurring batches with their next and their last run, oldest first',
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: ScheduleQuery,
    reply: [200, SchedulePage],
  }).handle((input) =>
    paginate(input, 'listBatchSchedules', ['created_at', 'schedule_id'], (after, count) =>
      listSchedules(input.tx, after, count),
    ),
  ),

  tenantRoute('POST /batch-evaluations/schedules', {
    id: 'createBatchSchedule',
    summary: 'Evaluate all subjects that match a filter on a schedule',
    description:
      'Each due time orders one batch on the versions in force then. Times that nobody could serve are made up for once. A run is ' +
      'skipped, and says why, while the batch before it has not ended or nothing is in force.',
    roles: editors,
    tx: 'write',
    body: ScheduleRequest,
    reply: [201, Schedule],
    revisioned: true,
    governed: { action: 'batch-schedules', head: async () => null },
    location: ({ schedule_id }) => `/batch-evaluations/schedules/${schedule_id}`,
    links: { getBatchSchedule: { schedule_id: 'schedule_id' } },
    problems: ['schedule_invalid', 'duplicate', 'conflict'],
  }).handle(async ({ tx, body, audit }) => {
    const schedule = await createSchedule(tx, body)
    recordSettings(audit, null, schedule)
    return schedule
  }),

  tenantRoute('GET /batch-evaluations/schedules/:schedule_id', {
    id: 'getBatchSchedule',
    summary: 'One schedule with its next and its last run',
    roles: readers,
    tx: 'one',
    params: ScheduleParams,
    reply: [200, Schedule],
    revisioned: true,
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => assertFound(await findSchedule(tx, params.schedule_id))),

  tenantRoute('PATCH /batch-evaluations/schedules/:schedule_id', {
    id: 'updateBatchSchedule',
    summary: 'Change or pause a schedule',
    description: 'Its next run is the next due time; runs that were due while it was paused are not made up for.',
    roles: editors,
    tx: 'write',
    params: ScheduleParams,
    body: ScheduleChange,
    reply: [200, Schedule],
    revisioned: true,
    governed: { action: 'batch-schedules', head: getScheduleHead },
    problems: ['not_found', 'schedule_invalid', 'duplicate'],
  }).handle(async (input) => {
    const { before, after } = await changeSchedule(input.tx, input.params.schedule_id, input)
    recordSettings(input.audit, before, after)
    return after
  }),

  tenantRoute('DELETE /batch-evaluations/schedules/:schedule_id', {
    id: 'deleteBatchSchedule',
    summary: 'Remove a schedule with the record of its runs; its batches stay',
    roles: editors,
    tx: 'write',
    params: ScheduleParams,
    reply: [204, null],
    governed: { action: 'batch-schedules', head: getScheduleHead },
    problems: ['not_found'],
  }).handle(async ({ tx, params, audit }) => {
    recordSettings(audit, await deleteSchedule(tx, params.schedule_id), null)
    return undefined
  }),

  tenantRoute('POST /batch-evaluations/schedules/:schedule_id/run', {
    id: 'startBatchSchedule',
    summary: 'Start its batch now, in addition to its schedule',
    roles: ['analyst', 'compliance_officer'],
    tx: 'write',
    uses: ['caches', 'encryption', 'jobs', 'metrics', 'plugin_policy', 'threads'],
    executes: 'plugin',
    runs_plugins_of: ['matrix'],
    params: ScheduleParams,
    reply: [202, JobView],
    starts: 'batch-evaluation',
    problems: [
      'not_found',
      'nothing_in_force',
      'transition_not_allowed',
      'inputs_refused',
      'conflict',
      'content_corrupt',
    ],
  }).handle(({ tx, params, kernel }) => runSchedule(kernel, tx, params.schedule_id)),

  tenantRoute('GET /batch-evaluations/schedules/:schedule_id/runs', {
    id: 'listBatchScheduleRuns',
    summary: 'Result of each due time: the batch it started, or why it was skipped',
    roles: readers,
    tx: 'read',
    uses: ['cursors'],
    params: ScheduleParams,
    query: ScheduleQuery,
    reply: [200, ScheduleRunPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { schedule_id } = assertFound(await findSchedule(input.tx, input.params.schedule_id))
    return paginate(input, `listBatchScheduleRuns ${schedule_id}`, ['recorded_at', 'run_id'], (after, count) =>
      listScheduleRuns(input.tx, schedule_id, after, count),
    )
  }),
]
