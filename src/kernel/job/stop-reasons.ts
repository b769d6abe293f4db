/** A claimed job while a process runs it, and the reasons why its body ends without a result. */
import type { Problem } from '../problem.ts'

export interface RunningJob {
  readonly tenant_id: string
  readonly job_id: string
  readonly kind: string
  readonly attempt: number
  readonly max_attempts: number
  readonly lease_token: string
  readonly abort: AbortController
}

/** The worker shuts down or the tenant was suspended: the job returns to the queue, and the attempt does not count. */
export class Requeue extends Error {}

/** The body waits for something outside: the job returns to the queue until then, and the attempt does not count. */
export class JobDeferred extends Error {
  readonly until: Date
  readonly reason: Problem | null
  constructor(until: Date, reason: Problem | null) {
    super('the job is deferred')
    this.until = until
    this.reason = reason
  }
}

/** A user cancelled it. */
export class JobCancelled extends Error {}

/** Another worker may be running it: nothing more may be written. */
export class LeaseLost extends Error {
  override readonly message = 'the lease of this job was lost; another worker may be running it'
}
