/**
 * Schedules, and what happens when one is due: a batch is started, or the reason for skipping it is recorded. Locking the
 * schedule, the batch, the run and the next due time are one transaction, so each due time is handled exactly once.
 */
import type { DefinitionFamily } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { JobRow } from '#kernel/job/queries.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail, Problem, problems } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { RequestMetadata } from '#kernel/route.ts'
import type { Static } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { datasetStore } from '#modules/definitions/index.ts'

import { type BatchInput, createBatch } from '../create-batch.ts'
import { findBatch } from '../queries.ts'
import { failScheduleInvalid, getNextRun } from './next-run.ts'
import {
  countSchedules,
  findNow,
  findSchedule,
  insertSchedule,
  insertScheduleRun,
  lockSchedule,
  type RunRow,
  removeSchedule,
  removeWakeUp,
  type ScheduleRow,
  type ScheduleSettings,
  type ScheduleWithLastRun,
  updateSchedule,
  updateScheduleAfterRun,
  upsertWakeUp,
} from './queries.ts'
import type { ScheduleChange, ScheduleRequest } from './schema.ts'

export const SCHEDULED_BATCH = 'scheduled-batch'

const MAX_SCHEDULES = 100
/** When a job fails to handle a due time, another one tries again. */
const RETRY_AFTER_S = 60

const scheduleWakeUp = (tx: Tx, schedule_id: string, next_run_at: string | null) =>
  upsertWakeUp(tx, { schedule_id, kind: SCHEDULED_BATCH, again_s: RETRY_AFTER_S, next_run_at })

export async function createSchedule(tx: Tx, request: Static<typeof ScheduleRequest>): Promise<ScheduleWithLastRun> {
  const { matrix_key, rule_key, paused = false, note = null, ...settings } = request
  if ((matrix_key === undefined) === (rule_key === undefined))
    failScheduleInvalid('#', 'definition_unclear', 'Give either matrix_key or rule_key.')
  const family: DefinitionFamily = matrix_key === undefined ? 'rule' : 'matrix'
  const definition_key = (matrix_key ?? rule_key) as string
  if (!(await datasetStore.findDataset(tx, definition_key, family)))
    failScheduleInvalid(`#/${family}_key`, 'definition_missing', `There is no ${family} with this key.`)
  const next = getNextRun(settings, await findNow(tx))
  if ((await countSchedules(tx, MAX_SCHEDULES)) === MAX_SCHEDULES)
    fail('conflict', `A tenant has ${MAX_SCHEDULES} schedules at most. Remove one, or let one do the work of several.`)
  const schedule_id = uuidv7()
  const next_run_at = paused ? null : next
  await insertSchedule(tx, { ...settings, schedule_id, family, definition_key, paused, note, next_run_at })
  await scheduleWakeUp(tx, schedule_id, next_run_at)
  return assertFound(await findSchedule(tx, schedule_id))
}

interface ScheduleChangeInput {
  readonly request: Pick<RequestMetadata, 'if_match'>
  readonly body: Static<typeof ScheduleChange>
}

/** Computes the next run again when the timing changes or the schedule is resumed; missed runs are not caught up. */
export async function changeSchedule(tx: Tx, schedule_id: string, input: ScheduleChangeInput) {
  const before = assertFound(await lockSchedule(tx, schedule_id))
  assertRevision(before.revision, input)
  const { expected_revision: _, ...change } = input.body
  const wanted = { ...before, ...change } as ScheduleSettings
  const keeps = wanted.cron === before.cron && wanted.time_zone === before.time_zone && before.next_run_at !== null
  const next = keeps ? before.next_run_at : getNextRun(wanted, before.now)
  const next_run_at = wanted.paused ? null : next
  await updateSchedule(tx, schedule_id, { ...wanted, next_run_at })
  await scheduleWakeUp(tx, schedule_id, next_run_at)
  return { before, after: assertFound(await findSchedule(tx, schedule_id)) }
}

export async function deleteSchedule(tx: Tx, schedule_id: string): Promise<ScheduleRow> {
  const before = assertFound(await lockSchedule(tx, schedule_id))
  await removeWakeUp(tx, schedule_id)
  await removeSchedule(tx, schedule_id)
  return before
}

const toBatchInput = ({ family, definition_key, filter, note }: ScheduleRow): BatchInput => ({
  ...(family === 'matrix' ? { matrix_key: definition_key } : { rule_key: definition_key }),
  filter,
  ...(note !== null && { note }),
})

/** The state of the last batch, unless it has ended. */
async function findUnfinishedState(tx: Tx, { last_batch_id }: ScheduleRow): Promise<string | undefined> {
  const batch = last_batch_id === null ? undefined : await findBatch(tx, last_batch_id)
  return batch?.state === 'queued' || batch?.state === 'running' ? batch.state : undefined
}

/** Starts a batch now, independent of the due times. */
export async function runSchedule(
  kernel: Capabilities<'caches' | 'encryption' | 'jobs' | 'metrics' | 'plugin_policy' | 'threads'>,
  tx: Tx,
  schedule_id: string,
): Promise<JobRow> {
  const schedule = assertFound(await lockSchedule(tx, schedule_id))
  const state = await findUnfinishedState(tx, schedule)
  if (state !== undefined) fail('transition_not_allowed', `The batch it started last is ${state}.`)
  const { batch_id, job } = await createBatch(kernel, tx, toBatchInput(schedule))
  await insertScheduleRun(tx, schedule_id, { run_id: uuidv7(), due_at: null, batch_id, skipped: null, detail: null })
  await updateScheduleAfterRun(tx, schedule_id, { ...schedule, last_batch_id: batch_id })
  return job
}

type RunAttempt = Pick<RunRow, 'batch_id' | 'skipped' | 'detail'>

async function tryStartBatch(
  kernel: Capabilities<'caches' | 'encryption' | 'jobs' | 'metrics' | 'plugin_policy' | 'threads'>,
  tx: Tx,
  schedule: ScheduleRow,
): Promise<RunAttempt> {
  const state = await findUnfinishedState(tx, schedule)
  if (state !== undefined)
    return { batch_id: null, skipped: 'previous_running', detail: `The batch it started last is ${state}.` }
  try {
    const { batch_id } = await createBatch(kernel, tx, toBatchInput(schedule), { unlimited: true })
    return { batch_id, skipped: null, detail: null }
  } catch (error) {
    // The job retries transient failures.
    if (!(error instanceof Problem) || 'retryable' in problems[error.code]) throw error
    return { batch_id: null, skipped: error.code, detail: error.extra.detail ?? problems[error.code].advice }
  }
}

/** All missed due times together get one run; the next due time is the first one in the future. */
export async function runIfDue(
  kernel: Capabilities<'caches' | 'encryption' | 'jobs' | 'metrics' | 'plugin_policy' | 'threads'>,
  tx: Tx,
  schedule_id: string,
): Promise<Record<string, unknown> | null> {
  const schedule = await lockSchedule(tx, schedule_id)
  if (!schedule?.is_due) return null
  const made = await tryStartBatch(kernel, tx, schedule)
  const run = { run_id: uuidv7(), due_at: schedule.next_run_at, ...made }
  const next_run_at = getNextRun(schedule, schedule.now)
  await insertScheduleRun(tx, schedule_id, run)
  await updateScheduleAfterRun(tx, schedule_id, { next_run_at, last_batch_id: made.batch_id ?? schedule.last_batch_id })
  await scheduleWakeUp(tx, schedule_id, next_run_at)
  return { schedule_id, ...run }
}
