/** Test fixtures of the jobs router: one valid call per operation. */
import type { Fixtures } from '#test/support/operation-fixture.ts'

export const fixtures: Fixtures = {
  listJobs: async (t) => {
    await t.job()
    return {}
  },
  getJob: async (t) => ({ params: { job_id: await t.job() } }),
  streamJobEvents: async (t) => ({ params: { job_id: await t.endedJob() } }),
  cancelJob: async (t) => ({ params: { job_id: await t.newJob() } }),
  retryJob: async (t) => ({ params: { job_id: await t.newEndedJob() } }),
}
