/** Public interface of the jobs router. */
import { countRunningJobs, insertJob } from '#kernel/job/queries.ts'
import type { Module } from '#kernel/module.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { jobSource } from './job-source.ts'
import { jobErasure } from './queries.ts'
import { jobRoutes } from './routes.ts'

export const jobs: Module = {
  name: 'jobs',
  segments: ['jobs'],
  tier: 'foundation',
  summary: 'One place to poll any long-running work.',
  routes: jobRoutes,
  jobs: [],
  search: { sources: [jobSource] },
  erases: [jobErasure],
  listDeletionObstacles: async (tx) => {
    const running = await countRunningJobs(tx)
    if (running === 0) return []
    return [`${running} of its jobs ${running === 1 ? 'is' : 'are'} still running; they stop within a few seconds.`]
  },
  canary_table: 'job',
  canary: async (tx) => {
    await insertJob(
      tx,
      {
        job_id: uuidv7(),
        // No worker declares this kind, so nobody ever runs it.
        kind: 'canary',
        payload: { note: 'canary' },
        resource: '/canary',
        visible_to: null,
        restriction_id: null,
        max_attempts: 1,
        progress_total: null,
        progress_unit: 'canary',
      },
      1_000_000,
    )
  },
}
