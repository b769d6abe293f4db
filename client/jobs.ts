/** Waits for a job by long-polling. */
import type { CallOptions, ResponseBody } from './call-types.ts'
import { type Job, problemFromJob } from './problem.ts'

export interface JobWaitOptions {
  /** Called with the job at first and after each change. */
  readonly onProgress?: (job: Job) => void
  readonly signal?: AbortSignal
}

export interface Jobs {
  /** Resolves with the job when it succeeds. Throws its problem if it failed, `job_cancelled` if it was cancelled. */
  wait(job: string | { readonly job_id: string }, options?: JobWaitOptions): Promise<Job>
}

/** The longest time the server delays a response. */
const WAIT_S = 8

type GetJob = (
  path: '/api/jobs/{job_id}',
  init: { params: { path: { job_id: string }; query: { wait: number } } } & CallOptions,
) => Promise<ResponseBody<'get', '/api/jobs/{job_id}'>>

export function createJobs(get: GetJob): Jobs {
  return {
    wait: async (given, { onProgress, signal } = {}) => {
      const job_id = typeof given === 'string' ? given : given.job_id
      for (let seen = 0; ; ) {
        const params = { path: { job_id }, query: { wait: seen === 0 ? 0 : WAIT_S } }
        const job = await get('/api/jobs/{job_id}', { params, ...(signal && { signal }) })
        if (job.revision !== seen) onProgress?.(job)
        seen = job.revision
        if (job.state === 'succeeded') return job
        if (job.state === 'failed' || job.state === 'cancelled') throw problemFromJob(job)
      }
    },
  }
}
