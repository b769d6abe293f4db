/**
 * The job engine under measurement: a process that works off a queue of small jobs, or one that runs long jobs until it
 * is killed. Both are the product's own runner with its own timing.
 */
import { Type } from 'typebox'
import { defineJob } from '../src/kernel/job/kind.ts'
import { uuidv7 } from '../src/kernel/uuid.ts'
import { benchRuntime, type RuntimeOrder } from './bench-runtime.ts'
import { announce, readOrder, report } from './child.ts'

export interface JobsOrder extends RuntimeOrder {
  readonly tenant_ids: readonly string[]
  readonly slots: number
  /** How many to enqueue before starting. */
  readonly small: number
  readonly long: number
}
export interface JobEvent {
  readonly kind: 'small' | 'long'
  readonly job_id: string
  readonly attempt: number
}

const tell = (kind: JobEvent['kind'], job_id: string, attempt: number) =>
  report({ kind, job_id, attempt } satisfies JobEvent)

const small = defineJob({
  kind: 'bench_small',
  summary: 'Does nothing',
  payload: Type.Object({}),
  resumes: 'restart',
  run: async ({ job_id, attempt }) => {
    tell('small', job_id, attempt)
    return { done: true }
  },
})
const long = defineJob({
  kind: 'bench_long',
  summary: 'Runs until it is stopped',
  payload: Type.Object({}),
  resumes: 'restart',
  run: async ({ job_id, attempt, signal }) => {
    tell('long', job_id, attempt)
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    return null
  },
})

const order = readOrder<JobsOrder>()
const { kernel, createRunner } = await benchRuntime(order, [small, long])

async function enqueue(kind: string, count: number): Promise<void> {
  for (const [index, tenant_id] of order.tenant_ids.entries()) {
    const share = Math.floor((count + index) / order.tenant_ids.length)
    await kernel.transactions.write({ tenant_id, actor: 'operator:bench' }, async (tx) => {
      for (let n = 0; n < share; n++) await kernel.jobs.enqueue(tx, { kind, payload: {}, job_id: uuidv7() })
    })
  }
}

await enqueue(small.kind, order.small)
await enqueue(long.kind, order.long)
announce({})
createRunner(order.slots).start()
