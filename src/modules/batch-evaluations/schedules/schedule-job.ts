/** The job of a due time: the batch, the run and the end of the job are one transaction, so it happens exactly once. */
import { defineJob } from '#kernel/job/define-job.ts'
import { closed, Id } from '#kernel/schema.ts'
import { runIfDue, SCHEDULED_BATCH } from './schedules.ts'

export const scheduledBatchJob = defineJob({
  kind: SCHEDULED_BATCH,
  summary: 'Orders the batch of a schedule that is due.',
  payload: closed({ schedule_id: Id() }),
  resumes: 'restart',
  uses: ['caches', 'encryption', 'jobs', 'metrics', 'plugin_policy', 'threads'],
  run: async ({ finish, kernel, payload }) => {
    await finish((tx) => runIfDue(kernel, tx, payload.schedule_id))
    kernel.jobs.wakeWorker()
    return null
  },
})
