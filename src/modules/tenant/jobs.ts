/** Housekeeping: once an hour per tenant, removes records past their retention period. */
import { recordEvent } from '#kernel/audit/record.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import { insertRecurringSchedules } from '#kernel/job/schedules/recurring.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { closed } from '#kernel/schema.ts'
import {
  findRetentionPolicy,
  type RemovedRows,
  removeExpiredAnswers,
  removeExpiredRevocations,
  removeExpiredUploads,
} from './queries.ts'
import { type RemoveExpired, recordClasses } from './retention.ts'

export const HOUSEKEEPING = 'housekeeping'

/** Limits per transaction and per run; what is left waits for the next run. */
const BATCH_RECORDS = 5000
const MAX_BATCHES = 200

type Context = JobContext<unknown, unknown, Capabilities<'auditKeys'>>
interface Rule {
  readonly record_class: string
  readonly keep_days: number
}

const sum = (rows: readonly RemovedRows[]): number => rows.reduce((all, { removed }) => all + removed, 0)

export const housekeepingJob = defineJob({
  kind: HOUSEKEEPING,
  every_s: 3600,
  summary: 'Removes expired answers, uploads and revocations, and old records of each class in the retention policy.',
  payload: closed({}),
  resumes: 'restart',
  // Retention applies to restricted rows too.
  sees: 'all',
  uses: ['auditKeys', 'jobs'],
  run: async (context) => {
    const { read, visible, finish, kernel } = context
    const policy = await read(findRetentionPolicy)
    const removed: Record<string, number> = {}
    const held: Record<string, number> = {}
    for (const known of recordClasses) {
      if (!('executors' in known)) continue
      const { record_class, executors, countHeld } = known
      removed[record_class] = 0
      if (countHeld) held[record_class] = 0
      const keep_days = policy?.classes.find((each) => each.record_class === record_class)?.keep_days
      // A class that the policy does not name is kept.
      if (!keep_days) continue
      for (const removeExpired of executors) {
        removed[record_class] += await removeVisible(context, removeExpired, { record_class, keep_days })
        await removeHidden(context, removeExpired, { record_class, keep_days })
      }
      if (countHeld) held[record_class] = await visible.read((tx) => countHeld(tx, keep_days))
    }
    await finish(async (tx) => {
      // An upgrade may add scheduled jobs that an older tenant lacks.
      await insertRecurringSchedules(tx, [...kernel.jobs.kinds.values()])
      return {
        answers: await removeExpiredAnswers(tx),
        uploads: await removeExpiredUploads(tx),
        revocations: await removeExpiredRevocations(tx),
        ...removed,
        held,
      }
    })
    return null
  },
})

/** What readers of the job see is counted in its result, its events and its steps. */
async function removeVisible(
  { visible }: Context,
  removeExpired: RemoveExpired,
  { record_class, keep_days }: Rule,
): Promise<number> {
  let total = 0
  for (let batch = 0, count = BATCH_RECORDS; batch < MAX_BATCHES && count === BATCH_RECORDS; batch++) {
    await visible.step(async (tx) => {
      count = sum(await removeExpired(tx, keep_days, BATCH_RECORDS))
      return count > 0 ? { audit: { record_class, keep_days, removed: count } } : {}
    })
    total += count
  }
  return total
}

/** What is left is hidden from readers of the job: its removal is recorded with the restriction that it belongs to. */
async function removeHidden(
  { write, kernel, job_id, signal }: Context,
  removeExpired: RemoveExpired,
  { record_class, keep_days }: Rule,
): Promise<void> {
  for (let batch = 0, count = BATCH_RECORDS; batch < MAX_BATCHES && count === BATCH_RECORDS; batch++) {
    signal.throwIfAborted()
    count = await write(async (tx) => {
      const rows = await removeExpired(tx, keep_days, BATCH_RECORDS)
      for (const { restriction_id, removed } of rows)
        recordEvent(tx, kernel.auditKeys, {
          operation: `job:${HOUSEKEEPING}`,
          object_type: 'jobs',
          object_id: job_id,
          request_id: null,
          detail: { record_class, keep_days, removed },
          restriction_id,
        })
      return sum(rows)
    })
  }
}
