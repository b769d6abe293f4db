/** Housekeeping: once an hour per tenant, removes records past their retention period. */
import { defineJob } from '#kernel/job/define-job.ts'
import { insertRecurringSchedules } from '#kernel/job/schedules/recurring.ts'
import { closed } from '#kernel/schema.ts'
import {
  findRetentionPolicy,
  hasHolds,
  removeExpiredAnswers,
  removeExpiredRevocations,
  removeExpiredUploads,
} from './queries.ts'
import { recordClasses } from './retention.ts'

export const HOUSEKEEPING = 'housekeeping'

/** Limits per transaction and per run; what is left waits for the next run. */
const BATCH_RECORDS = 5000
const MAX_BATCHES = 200

export const housekeepingJob = defineJob({
  kind: HOUSEKEEPING,
  every_s: 3600,
  summary: 'Removes expired answers, uploads and revocations, and old records of each class in the retention policy.',
  payload: closed({}),
  resumes: 'restart',
  // Retention applies to restricted rows too.
  sees: 'all',
  uses: ['jobs'],
  run: async ({ read, step, finish, kernel }) => {
    const policy = await read(findRetentionPolicy)
    const removed: Record<string, number> = {}
    const held: Record<string, number> = {}
    for (const known of recordClasses) {
      if (!('executors' in known)) continue
      const { record_class, executors } = known
      removed[record_class] = 0
      const keep_days = policy?.classes.find((each) => each.record_class === record_class)?.keep_days
      // A class that the policy does not name is kept.
      if (!keep_days) continue
      for (const removeExpired of executors) {
        for (let batch = 0, count = BATCH_RECORDS; batch < MAX_BATCHES && count === BATCH_RECORDS; batch++) {
          await step(async (tx) => {
            count = await removeExpired(tx, keep_days, BATCH_RECORDS)
            return count > 0 ? { audit: { record_class, keep_days, removed: count } } : {}
          })
          removed[record_class] += count
        }
      }
      const { countHeld } = known
      if (countHeld && (await read(hasHolds))) held[record_class] = await read((tx) => countHeld(tx, keep_days))
    }
    await finish(async (tx) => {
      // An upgrade may add scheduled jobs that an older tenant lacks.
      await insertRecurringSchedules(tx, [...kernel.jobs.kinds.values()])
      return {
        answers: await removeExpiredAnswers(tx),
        uploads: await removeExpiredUploads(tx),
        revocations: await removeExpiredRevocations(tx),
        ...removed,
        ...(Object.keys(held).length > 0 && { held }),
      }
    })
    return null
  },
})
