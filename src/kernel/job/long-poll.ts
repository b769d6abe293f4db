/** Waiting for a job to move. No transaction is open in between, and those who wait for the same job share their looks. */

import { Problem } from '../problem.ts'
import type { JobRow } from './queries.ts'
import { isTerminal } from './schema.ts'

const POLL_INTERVAL_MS = 200
/** What somebody saw so short a time ago is good enough for everybody else who waits. */
const CACHE_TTL_MS = 100

type ReadJob = () => Promise<JobRow>

/** Looks at the same thing, by whoever asks first. */
export class CoalescedReads {
  readonly #recent = new Map<string, Promise<JobRow>>()

  read(key: string, read: ReadJob): Promise<JobRow> {
    const recent = this.#recent.get(key)
    if (recent) return recent
    const pending = read()
    this.#recent.set(key, pending)
    const forget = () => this.#recent.delete(key)
    pending.then(() => setTimeout(forget, CACHE_TTL_MS), forget)
    return pending
  }
}

/** Up to an eighth of a wait, at random: those who came together come back one by one, not as the crowd they were. */
const JITTER = 1 / 8

export const deadlineWithJitter = (wait_ms: number): number =>
  performance.now() + wait_ms * (1 - JITTER * Math.random())

/** No connection was free: no reason to end a wait that has time left. */
const isOverloaded = (error: unknown): boolean => error instanceof Problem && error.code === 'overloaded'

/** Looks until the job has moved past what was seen, the time is up or the client has gone. */
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
    // Somebody else may have looked before we did.
    if (next.revision > job.revision) job = next
  }
  return job
}
