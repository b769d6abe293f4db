/**
 * The job engine under measurement: a process that works off a queue of small jobs, or one that runs long jobs until it
 * is killed. Both are the product's own runner with its own timing.
 */
import { Type } from 'typebox'
import { fullScope } from '#kernel/database/scope.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { type BenchRuntimeOptions, createBenchRuntime } from './bench-runtime.ts'
import { readStartOptions, reportReady, sendEvent } from './child.ts'

export interface JobWorkerOptions extends BenchRuntimeOptions {
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

const reportStart = (kind: JobEvent['kind'], job_id: string, attempt: number) =>
  sendEvent({ kind, job_id, attempt } satisfies JobEvent)

const small = defineJob({
  kind: 'bench_small',
  summary: 'Does nothing',
  payload: Type.Object({}),
  resumes: 'restart',
  run: async ({ job_id, attempt }) => {
    reportStart('small', job_id, attempt)
    return { done: true }
  },
})
const long = defineJob({
  kind: 'bench_long',
  summary: 'Runs until it is stopped',
  payload: Type.Object({}),
  resumes: 'restart',
  run: async ({ job_id, attempt, signal }) => {
    reportStart('long', job_id, attempt)
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    return null
  },
})

const options = readStartOptions<JobWorkerOptions>()
const runtime = await createBenchRuntime(options, [small, long])
const { kernel } = runtime

async function enqueue(kind: string, count: number): Promise<void> {
  for (const [index, tenant_id] of options.tenant_ids.entries()) {
    const share = Math.floor((count + index) / options.tenant_ids.length)
    await kernel.transactions.write(fullScope(tenant_id, 'operator:bench'), async (tx) => {
      for (let n = 0; n < share; n++) await kernel.jobs.enqueue(tx, { kind, payload: {}, job_id: uuidv7() })
    })
  }
}

await enqueue(small.kind, options.small)
await enqueue(long.kind, options.long)
reportReady({})
runtime.createRunner(options.slots).start()
