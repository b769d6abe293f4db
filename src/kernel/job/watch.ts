/** Waiting for a job to move. No transaction is open in between, and those who wait for the same job share their looks. */

import { Problem } from '../problem.ts'
import type { JobRow } from './queries.ts'
import { isTerminal } from './view.ts'

const LOOK_EVERY_MS = 200
/** What somebody saw so short a time ago is good enough for everybody else who waits. */
const GOOD_FOR_MS = 100

type Look = () => Promise<JobRow>

/** Looks at the same thing, by whoever asks first. */
export class SharedLooks {
  readonly #recent = new Map<string, Promise<JobRow>>()

  look(key: string, look: Look): Promise<JobRow> {
    const recent = this.#recent.get(key)
    if (recent) return recent
    const seeing = look()
    this.#recent.set(key, seeing)
    const forget = () => this.#recent.delete(key)
    seeing.then(() => setTimeout(forget, GOOD_FOR_MS), forget)
    return seeing
  }
}

/** Up to an eighth of a wait, at random: those who came together come back one by one, not as the crowd they were. */
const SPREAD = 1 / 8

export const untilAbout = (wait_ms: number): number => performance.now() + wait_ms * (1 - SPREAD * Math.random())

/** No connection was free: no reason to end a wait that has time left. */
const isBusy = (error: unknown): boolean => error instanceof Problem && error.code === 'overloaded'

/** Looks until the job has moved past what was seen, the time is up or the client has gone. */
export async function watch(look: Look, seen: JobRow, until_ms: number, signal: AbortSignal): Promise<JobRow> {
  let job = seen
  while (!isTerminal(job.state) && job.revision === seen.revision && performance.now() < until_ms && !signal.aborted) {
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(LOOK_EVERY_MS, Math.max(1, until_ms - performance.now()))),
    )
    const next = await look().catch((error) => (isBusy(error) ? job : Promise.reject(error)))
    // Somebody else may have looked before we did.
    if (next.revision > job.revision) job = next
  }
  return job
}
