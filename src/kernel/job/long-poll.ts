/** Waits for a change of a job. No transaction is open in between, and concurrent waits for the same job share their reads. */

import { Problem } from '../problem.ts'
import type { JobRow } from './queries.ts'
import { isTerminal } from './schema.ts'

const POLL_INTERVAL_MS = 200
/** A read this recent is reused by everybody else who waits. */
const CACHE_TTL_MS = 100

type ReadJob = () => Promise<JobRow>

/** Who waits for jobs in this process: their reads are shared, and a job that ends here ends their waits at once. */
export class JobWatch {
  readonly #recent = new Map<string, Map<string, Promise<JobRow>>>()
  readonly #pauses = new Map<string, Set<() => void>>()

  /** Readers of the same kind share reads of the job, which the first of them starts. */
  read(job_id: string, reader: string, read: ReadJob): Promise<JobRow> {
    const reads = this.#recent.get(job_id) ?? new Map<string, Promise<JobRow>>()
    const recent = reads.get(reader)
    if (recent) return recent
    // A read that was under way when the job ended may not have seen its end.
    const pending = read().then((job) => (this.#recent.get(job_id) === reads ? job : this.read(job_id, reader, read)))
    this.#recent.set(job_id, reads.set(reader, pending))
    const evict = () => {
      reads.delete(reader)
      if (reads.size === 0 && this.#recent.get(job_id) === reads) this.#recent.delete(job_id)
    }
    pending.then(() => setTimeout(evict, CACHE_TTL_MS), evict)
    return pending
  }

  /** Resolves after this time, or when the job ends in this process. */
  pause(job_id: string, limit_ms: number): Promise<void> {
    return new Promise((resolve) => {
      const pauses = this.#pauses.get(job_id) ?? new Set()
      const end = () => {
        clearTimeout(timer)
        pauses.delete(end)
        if (pauses.size === 0 && this.#pauses.get(job_id) === pauses) this.#pauses.delete(job_id)
        resolve()
      }
      const timer = setTimeout(end, limit_ms)
      this.#pauses.set(job_id, pauses.add(end))
    })
  }

  /** The job has ended, or goes back to the queue. A hint only: one that runs elsewhere is noticed at the next read. */
  end(job_id: string): void {
    this.#recent.delete(job_id)
    const pauses = this.#pauses.get(job_id) ?? []
    this.#pauses.delete(job_id)
    for (const end of pauses) end()
  }
}

/** Up to an eighth of the wait, at random, so that clients that came together do not return together. */
const JITTER = 1 / 8

export const deadlineWithJitter = (wait_ms: number): number =>
  performance.now() + wait_ms * (1 - JITTER * Math.random())

/** No connection was free: the wait continues while there is time left. */
const isOverloaded = (error: unknown): boolean => error instanceof Problem && error.code === 'overloaded'

export interface JobReads {
  readonly read: ReadJob
  readonly pause: (limit_ms: number) => Promise<void>
}

/** Reads until the job has changed, the deadline has passed or the client has disconnected. */
export async function waitForChange(
  { read, pause }: JobReads,
  seen: JobRow,
  until_ms: number,
  signal: AbortSignal,
): Promise<JobRow> {
  let job = seen
  while (!isTerminal(job.state) && job.revision === seen.revision && performance.now() < until_ms && !signal.aborted) {
    await pause(Math.min(POLL_INTERVAL_MS, Math.max(1, until_ms - performance.now())))
    const next = await read().catch((error) => (isOverloaded(error) ? job : Promise.reject(error)))
    // Another wait may have read it before.
    if (next.revision > job.revision) job = next
  }
  return job
}
