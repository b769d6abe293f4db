/**
 * Schedules of reports, and what happens when one is due: a report is requested, or the reason for skipping it is kept. Locking the schedule,
 * the report and the next due time are one transaction, so each due time is handled exactly once.
 */
import type { Tx } from '#kernel/database/tx.ts'
import { assertFound, fail, Problem, problems } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { RequestMetadata } from '#kernel/route.ts'
import type { Static } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { scheduleTimes } from '#modules/batch-evaluations/index.ts'
import {
  type CreateCapabilities,
  chooseFormats,
  createReport,
  DEFAULT_LOCALE,
  expectLocale,
  expectParameters,
  getTemplate,
  refuse,
} from '../create-report.ts'
import {
  countSchedules,
  findSchedule,
  insertSchedule,
  isDeactivated,
  type LockedSchedule,
  lockSchedule,
  type NewSchedule,
  removeSchedule,
  type ScheduleRow,
  updateSchedule,
  updateScheduleAfterRun,
  updateSchedulePaused,
} from './queries.ts'
import type { ScheduleChange, ScheduleRequest } from './schema.ts'

export const SCHEDULED_REPORT = 'scheduled-report'

const MAX_SCHEDULES = 100
/** When a job fails to handle a due time, another one tries again. */
const RETRY_AFTER_S = 60

/** The job that is started then belongs to the restriction too: it sees what the reports are about, and nothing else that is restricted. */
const scheduleWakeUp = (
  tx: Tx,
  { schedule_id, next_run_at, restriction_id }: Pick<NewSchedule, 'schedule_id' | 'next_run_at' | 'restriction_id'>,
) =>
  scheduleTimes.upsertWakeUp(tx, {
    ...{ schedule_id, restriction_id, next_run_at },
    kind: SCHEDULED_REPORT,
    again_s: RETRY_AFTER_S,
  })

interface Caller {
  readonly roles: readonly string[]
}

export async function createSchedule(
  kernel: CreateCapabilities,
  tx: Tx,
  request: Static<typeof ScheduleRequest>,
  { roles }: Caller,
): Promise<ScheduleRow> {
  const { template: key, parameters = {}, locale = DEFAULT_LOCALE, paused = false, name, cron, time_zone } = request
  const template = getTemplate(kernel.modules, key, roles)
  expectParameters(template, parameters)
  expectLocale(request)
  await template.check?.(tx, parameters)
  const formats = await chooseFormats(kernel, request.formats)
  const restriction_id = (await template.findRestriction?.(tx, parameters)) ?? null
  const next = scheduleTimes.getNextRun({ cron, time_zone }, await scheduleTimes.findNow(tx))
  if ((await countSchedules(tx, MAX_SCHEDULES)) === MAX_SCHEDULES)
    fail('conflict', `A tenant has ${MAX_SCHEDULES} schedules of reports at most. Remove one.`)
  const schedule_id = uuidv7()
  const next_run_at = paused ? null : next
  const settings = { name, parameters, formats, locale, cron, time_zone, paused, next_run_at }
  const schedule = { ...settings, schedule_id, template_key: template.key, restriction_id }
  await insertSchedule(tx, schedule)
  await scheduleWakeUp(tx, schedule)
  return assertFound(await findSchedule(tx, schedule_id))
}

interface ChangeInput extends Caller {
  readonly request: Pick<RequestMetadata, 'if_match'>
  readonly body: Static<typeof ScheduleChange>
}

/** Computes the next run again when the timing changes or the schedule is resumed; missed runs are not made up for. */
export async function changeSchedule(kernel: CreateCapabilities, tx: Tx, schedule_id: string, input: ChangeInput) {
  const before = assertFound(await lockSchedule(tx, schedule_id))
  assertRevision(before.revision, input)
  const { expected_revision: _, formats: wantedFormats, ...change } = input.body
  const template = getTemplate(kernel.modules, before.template_key, input.roles)
  const formats = wantedFormats ? await chooseFormats(kernel, wantedFormats) : before.formats
  const wanted = { ...before, ...change, formats }
  expectParameters(template, wanted.parameters)
  expectLocale(wanted)
  await template.check?.(tx, wanted.parameters)
  const restriction_id = before.own_restriction_id
  const own = (await template.findRestriction?.(tx, wanted.parameters)) ?? restriction_id
  // What is recorded of it, and the reports that it made, are hidden with what it was about.
  if (own !== restriction_id)
    refuse('parameters', 'A schedule about one case is not changed into one about another. Make a new one.')
  const keeps = wanted.cron === before.cron && wanted.time_zone === before.time_zone && before.next_run_at !== null
  const next = keeps ? before.next_run_at : scheduleTimes.getNextRun(wanted, before.now)
  const next_run_at = wanted.paused ? null : next
  const after = assertFound(await updateSchedule(tx, schedule_id, { ...wanted, next_run_at }))
  await scheduleWakeUp(tx, { schedule_id, next_run_at, restriction_id })
  return { before, after }
}

export async function deleteSchedule(tx: Tx, schedule_id: string): Promise<ScheduleRow> {
  const before = assertFound(await lockSchedule(tx, schedule_id))
  await scheduleTimes.removeWakeUp(tx, schedule_id)
  await removeSchedule(tx, schedule_id)
  return before
}

async function tryRequest(kernel: CreateCapabilities, tx: Tx, schedule: ScheduleRow) {
  const { schedule_id, template_key: template, parameters, formats, locale, time_zone } = schedule
  try {
    const request = { template, parameters, locale, time_zone }
    const { report_id } = await createReport(kernel, tx, request, { roles: null, formats, schedule_id })
    return { last_report_id: report_id, last_skipped: null, is_over: false }
  } catch (error) {
    // The job retries transient failures.
    if (!(error instanceof Problem) || 'retryable' in problems[error.code]) throw error
    const last_skipped = error.extra.detail ?? problems[error.code].advice
    return { last_report_id: schedule.last_report_id, last_skipped, is_over: error.code === 'erased' }
  }
}

const LEFT = 'The person who set it was deactivated. Somebody else resumes it.'
const UNSEEN = 'Whoever set it may not see what it is about any more. Somebody who may see it resumes it.'

/** All missed due times together get one report; the next due time is the first one in the future. */
export async function runIfDue(kernel: CreateCapabilities, tx: Tx, schedule_id: string) {
  const schedule = await lockSchedule(tx, schedule_id)
  if (!schedule?.is_due) {
    // An erasure pauses a schedule without its wake-up.
    if (schedule?.paused) await wakeAt(tx, schedule, null)
    return null
  }
  const reason = (await isDeactivated(tx, schedule.updated_by)) ? LEFT : schedule.is_seen ? null : UNSEEN
  if (reason !== null) {
    await pause(tx, schedule, reason)
    return { schedule_id, last_report_id: schedule.last_report_id, last_skipped: reason }
  }
  const { is_over, ...run } = await tryRequest(kernel, tx, schedule)
  if (is_over) await pause(tx, schedule, run.last_skipped ?? 'Erased.')
  else {
    const next_run_at = scheduleTimes.getNextRun(schedule, schedule.now)
    await updateScheduleAfterRun(tx, schedule_id, { ...run, next_run_at })
    await wakeAt(tx, schedule, next_run_at)
  }
  return { schedule_id, ...run }
}

const wakeAt = (
  tx: Tx,
  { schedule_id, own_restriction_id: restriction_id }: LockedSchedule,
  next_run_at: string | null,
) => scheduleWakeUp(tx, { schedule_id, restriction_id, next_run_at })

async function pause(tx: Tx, schedule: LockedSchedule, reason: string): Promise<void> {
  await updateSchedulePaused(tx, schedule.schedule_id, reason)
  await wakeAt(tx, schedule, null)
}
