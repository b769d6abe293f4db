/** A claimed job while a process works on it, and the three reasons a body may be told to stop. */

export interface RunningJob {
  readonly tenant_id: string
  readonly job_id: string
  readonly kind: string
  readonly attempt: number
  readonly max_attempts: number
  readonly lease_token: string
  readonly abort: AbortController
}

/** The worker shuts down or the tenant was suspended: the job goes back to the queue, and the attempt does not count. */
export class Requeue extends Error {}

/** Somebody asked for it. */
export class JobCancelled extends Error {}

/** Another worker may be running it: nothing more may be written. */
export class LeaseLost extends Error {
  override readonly message = 'the lease of this job was lost; another worker may be running it'
}
