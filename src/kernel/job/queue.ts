/** Enqueues jobs in the request's own transaction: the job exists if and only if that transaction commits. */
import type { Tx } from '../database/tx.ts'
import { describeSchemaErrors } from '../http/validation.ts'
import { defaultLimits } from '../limits.ts'
import { fail } from '../problem.ts'
import { uuidv7 } from '../uuid.ts'
import type { JobKind } from './kind.ts'
import { JobWatch } from './long-poll.ts'
import { insertJob, type JobRow, updateRetried } from './queries.ts'

export interface EnqueueRequest {
  readonly kind: string
  readonly payload: unknown
  readonly job_id?: string
  /** Path of what the job concerns. */
  readonly resource?: `/api/${string}`
  readonly total?: number
  readonly unit?: string
  /** Of the object that it works on: it is hidden with it, and its body sees nothing else that is restricted. */
  readonly restriction_id?: string | null
  /** Not started by a request, for example by a schedule: it does not count against the tenant's limit. */
  readonly unlimited?: true
}

export class JobQueue {
  readonly kinds: ReadonlyMap<string, JobKind>
  /** Who waits for jobs in this process. */
  readonly watch = new JobWatch()
  #wake: () => void = () => {}

  constructor(kinds: readonly JobKind[]) {
    this.kinds = new Map(kinds.map((kind) => [kind.kind, kind]))
    if (this.kinds.size !== kinds.length) throw new Error('two job kinds share a name')
  }

  /** A worker in the same process polls immediately instead of at its next interval. A hint only. */
  onWake(listener: () => void): void {
    this.#wake = listener
  }
  wakeWorker(): void {
    this.#wake()
  }

  async enqueue(tx: Tx, job: EnqueueRequest): Promise<JobRow> {
    const kind = this.kinds.get(job.kind)
    if (!kind) throw new Error(`no module declares the job kind ${job.kind}`)
    const fault = describeSchemaErrors(kind.payload, job.payload)
    if (fault) throw new Error(`the payload of a ${job.kind} job does not fit its declaration: ${fault}`)
    const row = await insertJob(
      tx,
      {
        job_id: job.job_id ?? uuidv7(),
        kind: job.kind,
        payload: job.payload,
        resource: job.resource ?? null,
        visible_to: kind.visible_to,
        restriction_id: job.restriction_id ?? null,
        max_attempts: kind.max_attempts,
        progress_total: job.total ?? null,
        progress_unit: job.unit ?? null,
      },
      job.unlimited ? null : defaultLimits.heavy.burst,
    )
    return row ?? failJobLimit()
  }

  /** Starts a failed or cancelled job again from its last checkpoint. */
  async retry(tx: Tx, job_id: string): Promise<JobRow> {
    return (await updateRetried(tx, job_id, defaultLimits.heavy.burst)) ?? failJobLimit()
  }
}

const failJobLimit = (): never =>
  fail('concurrency_limited', {
    detail: 'This tenant has as many unfinished jobs as its limit allows. Wait for some to finish, or cancel them.',
    retry_after_s: 5,
  })
