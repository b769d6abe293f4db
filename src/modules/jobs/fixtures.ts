/** Test fixtures of the jobs router: one valid call per operation. */
import { type Fixtures, noInput } from '#test/support/operation-fixture.ts'

export const fixtures: Fixtures = {
  listJobs: noInput,
  getJob: async (t) => ({ params: { job_id: await t.job() } }),
  streamJobEvents: async (t) => ({ params: { job_id: await t.endedJob() } }),
  cancelJob: async (t) => ({ params: { job_id: await t.newJob() } }),
  retryJob: async (t) => ({ params: { job_id: await t.newEndedJob() } }),
}
