/** The job of a due time: the request, the next due time and the end of the job are one transaction, so it happens exactly once. */
import { defineJob } from '#kernel/job/define-job.ts'
import { closed, Id } from '#kernel/schema.ts'
import { runIfDue, SCHEDULED_REPORT } from './schedules.ts'

export const scheduledReportJob = defineJob({
  kind: SCHEDULED_REPORT,
  summary: 'Requests the report of a schedule that is due.',
  payload: closed({ schedule_id: Id() }),
  resumes: 'restart',
  uses: ['jobs', 'modules', 'printing'],
  run: async ({ finish, kernel, payload }) => {
    await finish((tx) => runIfDue(kernel, tx, payload.schedule_id))
    kernel.jobs.wakeWorker()
    return null
  },
})
