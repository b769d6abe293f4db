/** Waits for a job by long-polling. */
import type { CallOptions, ResponseBody } from './call-types.ts'
import { type Job, problemFromJob, unexpectedBodyProblem } from './problem.ts'
import { sleep } from './transport.ts'

export interface JobWaitOptions {
  /** Called with the job at first and after each change. */
  readonly onProgress?: (job: Job) => void
  readonly signal?: AbortSignal
}

export interface Jobs {
  /**
   * Resolves with the job when it succeeds. Throws its problem if it failed, `job_cancelled` if it was cancelled, and
   * `unreadable_answer` if the answer is no job.
   */
  wait(job: string | { readonly job_id: string }, options?: JobWaitOptions): Promise<Job>
}

/** The longest time the server delays a response. */
const WAIT_S = 8
/** The pause when a response says nothing new and was not delayed, which a cache or a proxy can cause. */
const PAUSE_MS = 1000

const states: Readonly<Record<Job['state'], true>> = {
  queued: true,
  running: true,
  succeeded: true,
  failed: true,
  cancelled: true,
}

function assertJob(answer: unknown): asserts answer is Job {
  const { state, revision } = (answer ?? {}) as Partial<Job>
  if (typeof state !== 'string' || !Object.hasOwn(states, state) || typeof revision !== 'number') {
    throw unexpectedBodyProblem('a job')
  }
}

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
        const asked_at_ms = Date.now()
        const job: unknown = await get('/api/jobs/{job_id}', { params, ...(signal && { signal }) })
        assertJob(job)
        const isNews = job.revision !== seen
        if (isNews) onProgress?.(job)
        seen = job.revision
        if (job.state === 'succeeded') return job
        if (job.state === 'failed' || job.state === 'cancelled') throw problemFromJob(job)
        if (!isNews && Date.now() - asked_at_ms < PAUSE_MS)
          await sleep(PAUSE_MS, signal ?? new AbortController().signal)
      }
    },
  }
}
