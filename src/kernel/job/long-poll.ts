/** Waits for a change of a job. No transaction is open in between, and concurrent waits for the same job share their reads. */

import { Problem } from '../problem.ts'
import type { JobRow } from './queries.ts'
import { isTerminal } from './schema.ts'

const POLL_INTERVAL_MS = 200
/** A read this recent is reused by everybody else who waits. */
const CACHE_TTL_MS = 100

type ReadJob = () => Promise<JobRow>

/** Reads of the same job, started by the first caller. */
export class CoalescedReads {
  readonly #recent = new Map<string, Promise<JobRow>>()

  read(key: string, read: ReadJob): Promise<JobRow> {
    const recent = this.#recent.get(key)
    if (recent) return recent
    const pending = read()
    this.#recent.set(key, pending)
    const evict = () => this.#recent.delete(key)
    pending.then(() => setTimeout(evict, CACHE_TTL_MS), evict)
    return pending
  }
}

/** Up to an eighth of the wait, at random, so that clients that came together do not return together. */
const JITTER = 1 / 8

export const deadlineWithJitter = (wait_ms: number): number =>
  performance.now() + wait_ms * (1 - JITTER * Math.random())

/** No connection was free: the wait continues while there is time left. */
const isOverloaded = (error: unknown): boolean => error instanceof Problem && error.code === 'overloaded'

/** Reads until the job has changed, the deadline has passed or the client has disconnected. */
export async function waitForChange(
  read: ReadJob,
  seen: JobRow,
  until_ms: number,
  signal: AbortSignal,
): Promise<JobRow> {
  let job = seen
  while (!isTerminal(job.state) && job.revision === seen.revision && performance.now() < until_ms && !signal.aborted) {
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(POLL_INTERVAL_MS, Math.max(1, until_ms - performance.now()))),
    )
    const next = await read().catch((error) => (isOverloaded(error) ? job : Promise.reject(error)))
    // Another wait may have read it before.
    if (next.revision > job.revision) job = next
  }
  return job
}
