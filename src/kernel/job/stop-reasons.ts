/** A claimed job while a process runs it, and the three reasons why its body is aborted. */

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

/** A user cancelled it. */
export class JobCancelled extends Error {}

/** Another worker may be running it: nothing more may be written. */
export class LeaseLost extends Error {
  override readonly message = 'the lease of this job was lost; another worker may be running it'
}
