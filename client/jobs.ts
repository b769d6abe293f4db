/** Waiting for long work: long-polls a job until it has ended. */
import type { CallOptions, ResponseBody } from './call-types.ts'
import { type Job, problemFromJob } from './problem.ts'

export interface JobWaitOptions {
  /** Called with the job at first and whenever it has moved. */
  readonly onProgress?: (job: Job) => void
  readonly signal?: AbortSignal
}

export interface Jobs {
  /** The job once it succeeded. Throws its problem when it failed, `job_cancelled` when it was cancelled. */
  wait(job: string | { readonly job_id: string }, options?: JobWaitOptions): Promise<Job>
}

/** The longest the server holds an answer back. */
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
