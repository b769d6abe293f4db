/** Runs one claimed job: loads its payload inside the tenant, gives the body its fenced context, and records how it ended. */
import { randomUUID } from 'node:crypto'
import { alarmReasonOf } from '../alarm.ts'
import { recordEvent } from '../audit/record.ts'
import type { Scope, Tx } from '../database/tx.ts'
import type { Kernel } from '../kernel.ts'
import { Problem, problemBody, problems } from '../problem.ts'
import type { JobContext, JobKind } from './kind.ts'
import { findHeldJob, updateEnded, updateReleased, updateStep } from './queries.ts'
import { Cancelled, HandOn, LeaseLost, type Running } from './stops.ts'

export type Outcome = 'succeeded' | 'failed' | 'cancelled' | 'retried' | 'handed_on' | 'lost'

export async function runBody(kernel: Kernel, job: Running): Promise<Outcome> {
  const kind = kernel.jobs.kinds.get(job.kind) as JobKind
  try {
    const stored = await kernel.transactions.one(scopeOf(job), (tx) => findHeldJob(tx, job))
    if (!stored) throw new LeaseLost()
    if (stored.cancel_requested) throw new Cancelled()
    const { context, hasFinished } = contextOf(kernel, job, {
      payload: stored.payload,
      checkpoint: kind.resumes === 'checkpoint' ? stored.checkpoint : null,
    })
    const result = await kind.run(context)
    if (!hasFinished()) {
      // A body that returned because it was told to stop has not done its work.
      job.abort.signal.throwIfAborted()
      await succeed(kernel, job, async () => result)
    }
    return 'succeeded'
  } catch (error) {
    return settle(kernel, job, error)
  }
}

const scopeOf = (job: Running): Scope => ({ tenant_id: job.tenant_id, actor: `job:${job.job_id}` })

function contextOf(kernel: Kernel, job: Running, stored: { payload: unknown; checkpoint: unknown }) {
  const scope = scopeOf(job)
  let finished = false
  const context: JobContext = {
    ...stored,
    job_id: job.job_id,
    tenant_id: job.tenant_id,
    attempt: job.attempt,
    signal: job.abort.signal,
    kernel,
    log: kernel.log.child({ job_id: job.job_id, tenant_id: job.tenant_id, kind: job.kind }),
    read: (body) => kernel.transactions.read(scope, body),
    write: (body) => kernel.transactions.write(scope, body),
    step: async (body) => {
      job.abort.signal.throwIfAborted()
      const { cancel_requested } = await kernel.transactions.write(scope, async (tx) => {
        const { checkpoint, progress, audit } = await body(tx)
        if (audit) record(kernel, job, tx, audit)
        const held = await updateStep(tx, job, {
          checkpoint,
          done: progress?.done ?? null,
          total: progress?.total ?? null,
          unit: progress?.unit ?? null,
        })
        if (!held) throw new LeaseLost()
        return held
      })
      if (cancel_requested) job.abort.abort(new Cancelled())
    },
    finish: async (body) => {
      job.abort.signal.throwIfAborted()
      await succeed(kernel, job, body)
      finished = true
    },
  }
  return { context, hasFinished: () => finished }
}

const record = (kernel: Kernel, job: Running, tx: Tx, detail: Record<string, unknown>): void =>
  recordEvent(tx, kernel.audit, {
    operation: `job:${job.kind}`,
    object_type: 'jobs',
    object_id: job.job_id,
    request_id: null,
    detail,
  })

/** The last effect and the end of the job, together or not at all. */
const succeed = (kernel: Kernel, job: Running, body: (tx: Tx) => Promise<Record<string, unknown> | null>) =>
  kernel.transactions.write(scopeOf(job), async (tx) => {
    const result = await body(tx)
    if ((await updateEnded(tx, job, { state: 'succeeded', result, problem: null })) !== 1) throw new LeaseLost()
    record(kernel, job, tx, { result })
  })

async function settle(kernel: Kernel, job: Running, thrown: unknown): Promise<Outcome> {
  // What stopped it counts more than how the body reported that.
  const reason = job.abort.signal.aborted ? job.abort.signal.reason : thrown
  if (reason instanceof LeaseLost || thrown instanceof LeaseLost) return 'lost'
  if (reason instanceof Cancelled) return end(kernel, job, 'cancelled', null)
  if (reason instanceof HandOn) return handOn(kernel, job)
  const problem = thrown instanceof Problem ? thrown : new Problem('internal')
  const body = problemBody(problem, randomUUID())
  if (problem.code === 'internal') {
    const { job_id, tenant_id, kind } = job
    kernel.alarm(alarmReasonOf(thrown), { err: thrown, ...body, job_id, tenant_id, kind }, 'job attempt failed')
  }
  // A problem that names a fault of the input will not go away by itself; anything else may.
  const worthRepeating = !(thrown instanceof Problem) || 'retryable' in problems[problem.code]
  if (!worthRepeating || job.attempt >= job.max_attempts) return end(kernel, job, 'failed', body)
  const pause_s = Math.min(300, 4 ** (job.attempt - 1))
  return release(kernel, job, { pause_s, problem: body, attempt_counts: true })
}

async function end(kernel: Kernel, job: Running, state: 'failed' | 'cancelled', problem: unknown): Promise<Outcome> {
  const ended = await kernel.transactions.write(scopeOf(job), (tx) =>
    updateEnded(tx, job, { state, result: null, problem }),
  )
  return ended === 1 ? state : 'lost'
}

/** Gives the job back for another worker to go on with. Whatever this one's body still does is refused by the fence. */
export const handOn = (kernel: Kernel, job: Running): Promise<Outcome> =>
  release(kernel, job, { pause_s: 0, problem: null, attempt_counts: false })

async function release(kernel: Kernel, job: Running, how: Parameters<typeof updateReleased>[2]): Promise<Outcome> {
  const released = await kernel.transactions.write(scopeOf(job), (tx) => updateReleased(tx, job, how))
  if (!released) return 'lost'
  if (released.state === 'cancelled') return 'cancelled'
  return how.attempt_counts ? 'retried' : 'handed_on'
}
