/** Batches and impact runs of the product itself, in this process: upload, worker and PostgreSQL are its own. */
import { setTimeout as sleep } from 'node:timers/promises'
import { roles } from '#kernel/auth/roles.ts'
import { newPolicy } from '#test/support/example-policy.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { type BenchRuntimeOptions, createBenchRuntime } from './bench-runtime.ts'

/** A tenant with a policy and known subjects, served by this process with one slot for jobs. */
export interface BatchService {
  readonly matrix_key: string
  readonly country_list: string
  /** External ids of its subjects begin with it. */
  readonly prefix: string
  make(at: string, options?: { body?: object; payload?: string }): Promise<Record<string, never>>
  close(): Promise<void>
}

export interface TimedRun {
  readonly ms: number
  /** Processor time of this process. */
  readonly cpu_us: number
}

export async function startBatchService(
  options: BenchRuntimeOptions,
  { tenant_id, subjects, prefix = 'bench' }: { tenant_id: string; subjects: number; prefix?: string },
): Promise<BatchService> {
  const runtime = await createBenchRuntime(options)
  const server = await runtime.createServer()
  const { token } = await runtime.kernel.issuer.mint({
    tenant_id,
    principal: `user:${tenant_id}`,
    roles,
    lifetime_s: 3600,
  })
  const make: BatchService['make'] = async (at, { body, payload } = {}) => {
    const [method, url] = at.split(' ') as ['POST', string]
    const type = body ? 'application/json' : 'application/octet-stream'
    const content = body ? JSON.stringify(body) : payload
    const reply = await server.app.inject({
      method,
      url: `/api${url}`,
      headers: { authorization: `Bearer ${token}`, ...(content !== undefined && { 'content-type': type }) },
      ...(content !== undefined && { payload: content }),
    })
    if (reply.statusCode >= 300) throw new Error(`${at} answered ${reply.statusCode} ${reply.body}`)
    return reply.json()
  }
  const runner = runtime.createRunner(1)
  runner.start()
  const close = async () => {
    await runner.stop(5000)
    await server.close()
    await runtime.close()
  }
  try {
    const { matrix_key, country_list } = await newPolicy({ make } as unknown as ExampleTenant)
    const service: BatchService = { matrix_key, country_list, prefix, make, close }
    await waitForJob(service, await make('POST /subjects/bulk', { body: await buildBulkRequest(service, subjects) }))
    return service
  } catch (error) {
    await close()
    throw error
  }
}

async function upload({ make }: BatchService, payload: string): Promise<string> {
  const { upload_id }: Record<string, unknown> = await make('POST /uploads?file_name=bench.csv', { payload })
  return upload_id as string
}

async function buildBulkRequest(service: BatchService, items: number) {
  const lines = Array.from({ length: items }, (_, n) => `person,${service.prefix}-${n},Person ${n},branch`)
  const text = `subject_type,external_id,name,attributes.channel\n${lines.join('\n')}\n`
  return { format: 'csv', upload_id: await upload(service, text) }
}

async function waitForJob({ make }: BatchService, job: Record<string, unknown>): Promise<void> {
  for (let now = job; ; now = await make(`GET /jobs/${job['job_id']}`)) {
    if (now['state'] === 'succeeded') return
    if (now['state'] !== 'queued' && now['state'] !== 'running') throw new Error(JSON.stringify(now))
    await sleep(100)
  }
}

/** One item in `known_every` is about a subject that is known, and is rated. */
export async function uploadItems(service: BatchService, items: number, known_every: number): Promise<string> {
  const countries = ['CH', 'DE', 'IR']
  const ids = Array.from({ length: items }, (_, n) =>
    n % known_every === 0 ? `${service.prefix}-${n}` : `unknown-${n}`,
  )
  const lines = ids.map((id, n) => `${id},${countries[n % 3]},${n % 7 === 0}`)
  return upload(service, `external_id,country,pep\n${lines.join('\n')}\n`)
}

/** From the order to the end of the job; the upload is not counted. */
export async function runBatch(service: BatchService, upload_id: string): Promise<TimedRun & { batch_id: string }> {
  const { job, ...timed } = await runJob(service, 'POST /batch-evaluations', {
    matrix_key: service.matrix_key,
    upload_id,
  })
  return { ...timed, batch_id: String(job['resource']).split('/').at(-1) as string }
}

/** Both versions of the list of countries are decided again for each subject. */
export const runImpact = (service: BatchService, max_subjects: number): Promise<TimedRun> =>
  runJob(service, `POST /reference-data/datasets/${service.country_list}/versions/1/impact`, { max_subjects })

async function runJob(service: BatchService, at: string, body: object) {
  const before = process.cpuUsage()
  const from_ms = performance.now()
  const job: Record<string, unknown> = await service.make(at, { body })
  await waitForJob(service, job)
  const ms = performance.now() - from_ms
  const { user, system } = process.cpuUsage(before)
  return { ms, cpu_us: user + system, job }
}
