/**
 * Runs one claimed job: loads its payload in the tenant, runs its body in a context that checks the lease, and records the
 * outcome.
 */
import { randomUUID } from 'node:crypto'
import { toAlarmReason } from '../alarm.ts'
import { recordEvent } from '../audit/record.ts'
import { fullScope, type Scope, type Sight } from '../database/scope.ts'
import type { Tx } from '../database/tx.ts'
import { type Kernel, pickCapabilities } from '../kernel.ts'
import { Problem, problems } from '../problem.ts'
import { toProblemBody } from '../problem-body.ts'
import type { JobContext, JobKind } from './kind.ts'
import { findLeasedJob, lockLease, updateDeferred, updateFinished, updateReleased, updateStep } from './queries.ts'
import { JobCancelled, JobDeferred, LeaseLost, Requeue, type RunningJob } from './stop-reasons.ts'

export type JobOutcome = 'succeeded' | 'failed' | 'cancelled' | 'retried' | 'deferred' | 'requeued' | 'lost'

export async function runJob(kernel: Kernel, job: RunningJob): Promise<JobOutcome> {
  const kind = kernel.jobs.kinds.get(job.kind) as JobKind
  try {
    const stored = await kernel.transactions.one(queueScope(job), (tx) => findLeasedJob(tx, job))
    if (!stored) throw new LeaseLost()
    if (stored.cancel_requested) throw new JobCancelled()
    const { restriction_id } = stored
    const scope: Scope = { ...queueScope(job), sight: chooseSight(kind.sees, stored) }
    const { context, complete, hasFinished } = createJobContext(kernel, job, {
      scope,
      readerScope: { ...scope, sight: chooseSight('restriction', stored) },
      restriction_id,
      kernel: pickCapabilities(kernel, kind.uses),
      payload: stored.payload,
      checkpoint: kind.resumes === 'checkpoint' ? stored.checkpoint : null,
    })
    const result = await kind.run(context)
    if (!hasFinished()) {
      // A body that returned because its signal aborted has not done its work.
      job.abort.signal.throwIfAborted()
      await complete(async () => result)
    }
    return 'succeeded'
  } catch (error) {
    return settleFailure(kernel, job, error)
  }
}

/** The queue's own changes of a job; its body has a sight of its own. */
const queueScope = (job: RunningJob): Scope => fullScope(job.tenant_id, `job:${job.job_id}`)

function chooseSight(sees: JobKind['sees'], stored: { created_by: string; restriction_id: string | null }): Sight {
  if (sees === 'all') return 'all'
  if (sees === 'requester') return `principal:${stored.created_by}`
  return stored.restriction_id === null ? 'none' : `restriction:${stored.restriction_id}`
}

function createJobContext(
  kernel: Kernel,
  job: RunningJob,
  stored: Pick<JobContext, 'kernel' | 'payload' | 'checkpoint' | 'scope'> & {
    readonly restriction_id: string | null
    readonly readerScope: Scope
  },
) {
  const { scope, readerScope, restriction_id, payload, checkpoint } = stored
  const record = (tx: Tx, detail: Record<string, unknown>) =>
    recordJobEvent(kernel, job, tx, { detail, restriction_id })
  /** The last effect and the end of the job, together or not at all. */
  const complete = (body: (tx: Tx) => Promise<Record<string, unknown> | null>) =>
    kernel.transactions.write(scope, async (tx) => {
      const result = await body(tx)
      if ((await updateFinished(tx, job, { state: 'succeeded', result, problem: null })) !== 1) throw new LeaseLost()
      record(tx, { result })
    })
  const runStep =
    (as: Scope): JobContext['step'] =>
    async (body) => {
      job.abort.signal.throwIfAborted()
      const { cancel_requested } = await kernel.transactions.write(as, async (tx) => {
        const { checkpoint, progress, audit } = await body(tx)
        if (audit) record(tx, audit)
        const held = await updateStep(tx, job, {
          checkpoint,
          done: progress?.done ?? null,
          total: progress?.total ?? null,
          unit: progress?.unit ?? null,
        })
        if (!held) throw new LeaseLost()
        return held
      })
      if (cancel_requested) job.abort.abort(new JobCancelled())
    }
  let finished = false
  const context: JobContext = {
    scope,
    kernel: stored.kernel,
    payload,
    checkpoint,
    job_id: job.job_id,
    tenant_id: job.tenant_id,
    attempt: job.attempt,
    signal: job.abort.signal,
    log: kernel.log.child({ job_id: job.job_id, tenant_id: job.tenant_id, kind: job.kind }),
    read: (body) => kernel.transactions.read(scope, body),
    write: (body) =>
      kernel.transactions.write(scope, async (tx) => {
        const result = await body(tx)
        if (!(await lockLease(tx, job))) throw new LeaseLost()
        return result
      }),
    step: runStep(scope),
    visible: { read: (body) => kernel.transactions.read(readerScope, body), step: runStep(readerScope) },
    finish: async (body) => {
      job.abort.signal.throwIfAborted()
      await complete(body)
      finished = true
    },
    defer: (until, reason) => {
      throw new JobDeferred(until, reason ?? null)
    },
  }
  return { context, complete, hasFinished: () => finished }
}

const recordJobEvent = (
  kernel: Kernel,
  job: RunningJob,
  tx: Tx,
  { detail, restriction_id }: { detail: Record<string, unknown>; restriction_id: string | null },
): string =>
  recordEvent(tx, kernel.auditKeys, {
    operation: `job:${job.kind}`,
    object_type: 'jobs',
    object_id: job.job_id,
    request_id: null,
    detail,
    restriction_id,
  })

async function settleFailure(kernel: Kernel, job: RunningJob, thrown: unknown): Promise<JobOutcome> {
  // The reason of the abort counts more than the error the body threw.
  const reason = job.abort.signal.aborted ? job.abort.signal.reason : thrown
  if (reason instanceof LeaseLost || thrown instanceof LeaseLost) return 'lost'
  if (reason instanceof JobCancelled) return endJob(kernel, job, 'cancelled', null)
  if (reason instanceof Requeue) return requeueJob(kernel, job)
  if (thrown instanceof JobDeferred) return deferJob(kernel, job, thrown)
  const problem = thrown instanceof Problem ? thrown : new Problem('internal')
  const body = toProblemBody(problem, randomUUID())
  if (problem.code === 'internal') {
    const { job_id, tenant_id, kind } = job
    kernel.raiseAlarm(toAlarmReason(thrown), { err: thrown, ...body, job_id, tenant_id, kind }, 'job attempt failed')
  }
  // A problem with the input is permanent; anything else is retried.
  const isRetryable = !(thrown instanceof Problem) || 'retryable' in problems[problem.code]
  if (!isRetryable || job.attempt >= job.max_attempts) return endJob(kernel, job, 'failed', body)
  const pause_s = Math.min(300, 4 ** (job.attempt - 1))
  return releaseJob(kernel, job, { pause_s, problem: body, attempt_counts: true })
}

async function endJob(
  kernel: Kernel,
  job: RunningJob,
  state: 'failed' | 'cancelled',
  problem: unknown,
): Promise<JobOutcome> {
  const ended = await kernel.transactions.write(queueScope(job), (tx) =>
    updateFinished(tx, job, { state, result: null, problem }),
  )
  return ended === 1 ? state : 'lost'
}

const DEFERRED_TOO_LONG = 'The job was deferred for seven days and made no progress.'

async function deferJob(kernel: Kernel, job: RunningJob, { until, reason }: JobDeferred): Promise<JobOutcome> {
  const problem = reason && toProblemBody(reason, randomUUID())
  const deferred = await kernel.transactions.write(queueScope(job), (tx) => updateDeferred(tx, job, { until, problem }))
  if (!deferred) return 'lost'
  if (deferred.state === 'cancelled') return 'cancelled'
  if (!deferred.has_expired) return 'deferred'
  return endJob(
    kernel,
    job,
    'failed',
    problem ?? toProblemBody(new Problem('dependency_unavailable', DEFERRED_TOO_LONG), randomUUID()),
  )
}

/** Returns the job to the queue for another worker. Whatever its body still writes is refused, because the lease is gone. */
export const requeueJob = (kernel: Kernel, job: RunningJob): Promise<JobOutcome> =>
  releaseJob(kernel, job, { pause_s: 0, problem: null, attempt_counts: false })

async function releaseJob(
  kernel: Kernel,
  job: RunningJob,
  how: Parameters<typeof updateReleased>[2],
): Promise<JobOutcome> {
  const released = await kernel.transactions.write(queueScope(job), (tx) => updateReleased(tx, job, how))
  if (!released) return 'lost'
  if (released.state === 'cancelled') return 'cancelled'
  return how.attempt_counts ? 'retried' : 'requeued'
}
