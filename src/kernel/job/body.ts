/** Runs one claimed job: loads its payload inside the tenant, gives the body its fenced context, and records how it ended. */
import { randomUUID } from 'node:crypto'
import type { Scope, Tx } from '../database/tx.ts'
import type { Kernel } from '../kernel.ts'
import { Problem, problemBody, problems } from '../problem.ts'
import type { JobContext, JobKind } from './kind.ts'
import { findHeldJob, type Held, updateEnded, updateReleased, updateStep } from './queries.ts'
import { Cancelled, Draining, LeaseLost, type Running } from './stops.ts'

export type Outcome = 'succeeded' | 'failed' | 'cancelled' | 'retried' | 'handed_on' | 'lost'

export async function runBody(kernel: Kernel, job: Running): Promise<Outcome> {
  const kind = kernel.jobs.kinds.get(job.kind) as JobKind
  const scope: Scope = { tenant_id: job.tenant_id, actor: `job:${job.job_id}` }
  const stored = await kernel.transactions.one(scope, (tx) => findHeldJob(tx, job))
  if (!stored) return 'lost'
  const end = endings(kernel, scope, job)
  if (stored.cancel_requested) return end.cancelled()
  let finished = false
  const context: JobContext = {
    job_id: job.job_id,
    tenant_id: job.tenant_id,
    payload: stored.payload,
    checkpoint: kind.resumes === 'checkpoint' ? stored.checkpoint : null,
    attempt: job.attempt,
    signal: job.abort.signal,
    kernel,
    log: kernel.log.child({ job_id: job.job_id, tenant_id: job.tenant_id, kind: job.kind }),
    read: (body) => kernel.transactions.read(scope, body),
    step: async (body) => {
      job.abort.signal.throwIfAborted()
      await kernel.transactions.write(scope, async (tx) => {
        const { checkpoint, progress } = await body(tx)
        await fence(
          updateStep(tx, job, {
            checkpoint,
            done: progress?.done ?? null,
            total: progress?.total ?? null,
            unit: progress?.unit ?? null,
          }),
        )
      })
    },
    finish: async (body) => {
      await end.succeeded(body)
      finished = true
    },
  }
  try {
    const result = await kind.run(context)
    if (!finished) await end.succeeded(async () => result)
    return 'succeeded'
  } catch (error) {
    return end.failed(error, kind)
  }
}

async function fence(changed: Promise<number>): Promise<void> {
  if ((await changed) !== 1) throw new LeaseLost()
}

const backOff_s = (attempt: number): number => Math.min(300, 4 ** (attempt - 1))

function endings(kernel: Kernel, scope: Scope, job: Held & { abort: AbortController; attempt: number }) {
  const write = <T>(body: (tx: Tx) => Promise<T>) => kernel.transactions.write(scope, body)
  const cancelled = async (): Promise<Outcome> => {
    await write((tx) => fence(updateEnded(tx, job, { state: 'cancelled', result: null, problem: null })))
    return 'cancelled'
  }
  return {
    cancelled,
    succeeded: (body: (tx: Tx) => Promise<Record<string, unknown> | null>) =>
      write(async (tx) => {
        const result = await body(tx)
        await fence(updateEnded(tx, job, { state: 'succeeded', result, problem: null }))
      }),
    failed: async (thrown: unknown, kind: JobKind): Promise<Outcome> => {
      // What stopped it counts more than how the body reported that.
      const reason = job.abort.signal.aborted ? job.abort.signal.reason : thrown
      if (reason instanceof LeaseLost || thrown instanceof LeaseLost) return 'lost'
      if (reason instanceof Cancelled) return cancelled()
      if (reason instanceof Draining) {
        await write((tx) => updateReleased(tx, job, { pause_s: 0, problem: null, attempt_counts: false }))
        return 'handed_on'
      }
      const problem = thrown instanceof Problem ? thrown : new Problem('internal')
      const body = problemBody(problem, randomUUID())
      if (!(thrown instanceof Problem))
        kernel.log.error({ err: thrown, ...body, job_id: job.job_id }, 'job attempt failed')
      // A problem that names a fault of the input will not go away by itself; anything else may.
      const worthRepeating = !(thrown instanceof Problem) || 'retryable' in problems[problem.code]
      if (worthRepeating && job.attempt < kind.max_attempts) {
        await write((tx) =>
          updateReleased(tx, job, { pause_s: backOff_s(job.attempt), problem: body, attempt_counts: true }),
        )
        return 'retried'
      }
      await write((tx) => fence(updateEnded(tx, job, { state: 'failed', result: null, problem: body })))
      return 'failed'
    },
  }
}
