/**
 * A batch of decisions end to end, from the order to the last item with its rating, beside a plain COPY of the same result
 * rows; and an impact run over the decisions of a batch. Upload, worker and PostgreSQL are the product's own; only the upload
 * of the file is not counted.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { to } from 'pg-copy-streams'
import type { Runtime } from '#app/runtime.ts'
import { roles } from '#kernel/auth/roles.ts'
import { copyIn } from '#kernel/database/copy.ts'
import { newPolicy } from '#test/support/example-policy.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createBenchRuntime } from './bench-runtime.ts'
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import type { Comparison } from './registry-bench.ts'

const PLAIN = 'bench_batch.item'
/** One row in four is about a subject that is known, and is rated. */
const KNOWN_EVERY = 4
const MILLION = 1_000_000
const formatInteger = (value: number): string => Math.round(value).toLocaleString('en')

interface Bench {
  readonly runtime: Runtime
  readonly plain: pg.Client
  readonly tenant_id: string
  readonly matrix_key: string
  readonly country_list: string
  make(at: string, options?: { body?: object; payload?: string }): Promise<Record<string, never>>
}

export async function measureBatches(
  databases: BenchDatabases,
  tenant_id: string,
  sizes: readonly number[],
  log: (text: string) => void,
): Promise<Comparison[]> {
  const options = {
    app: databases.isolated('app'),
    worker: databases.isolated('worker'),
    master_key_hex: MASTER_KEY_HEX,
  }
  const runtime = await createBenchRuntime(options)
  const server = await runtime.createServer()
  const { token } = await runtime.kernel.issuer.mint({
    tenant_id,
    principal: `user:${tenant_id}`,
    roles,
    lifetime_s: 3600,
  })
  const make: Bench['make'] = async (at, { body, payload } = {}) => {
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
  const plain = new pg.Client(databases.isolated('app'))
  // Ended by the database when a failure elsewhere stops it: that failure is the one to report.
  plain.on('error', () => {})
  await plain.connect()
  await plain.query(`select set_config('app.tenant_id', $1, false)`, [tenant_id])
  const runner = runtime.createRunner(1)
  runner.start()
  try {
    await databases.runAsAdmin(`create schema bench_batch; create table ${PLAIN} (like app.batch_item including defaults);
      alter table ${PLAIN} add primary key (tenant_id, batch_id, seq);
      grant usage on schema bench_batch to app; grant insert on ${PLAIN} to app`)
    const { matrix_key, country_list } = await newPolicy({ make } as unknown as ExampleTenant)
    const bench: Bench = { runtime, plain, tenant_id, matrix_key, country_list, make }
    await waitForJob(
      bench,
      await make('POST /subjects/bulk', { body: await buildBulkRequest(bench, Math.max(...sizes)) }),
    )
    const comparisons: Comparison[] = []
    for (const items of sizes) {
      log(`batch: ${items} items`)
      comparisons.push(...(await measureBatch(bench, databases, items)))
    }
    log(`impact: ${Math.max(...sizes)} subjects`)
    comparisons.push(...(await measureImpact(bench, databases, Math.max(...sizes))))
    return comparisons
  } finally {
    await runner.stop(5000)
    await plain.end()
    await server.close()
    await runtime.close()
  }
}

const upload = async ({ make }: Bench, payload: string) =>
  (await make('POST /uploads?file_name=bench.csv', { payload }))['upload_id']

async function buildBulkRequest(bench: Bench, items: number) {
  const lines = Array.from({ length: items }, (_, n) => `person,bench-${n},Person ${n},branch`)
  const text = `subject_type,external_id,name,attributes.channel\n${lines.join('\n')}\n`
  return { format: 'csv', upload_id: await upload(bench, text) }
}

async function waitForJob({ make }: Bench, job: Record<string, unknown>): Promise<void> {
  for (let now = job; ; now = await make(`GET /jobs/${job['job_id']}`)) {
    if (now['state'] === 'succeeded') return
    if (now['state'] !== 'queued' && now['state'] !== 'running') throw new Error(JSON.stringify(now))
    await sleep(100)
  }
}

async function uploadItems(bench: Bench, items: number, known_every: number) {
  const countries = ['CH', 'DE', 'IR']
  const ids = Array.from({ length: items }, (_, n) => (n % known_every === 0 ? `bench-${n}` : `unknown-${n}`))
  const lines = ids.map((id, n) => `${id},${countries[n % 3]},${n % 7 === 0}`)
  return upload(bench, `external_id,country,pep\n${lines.join('\n')}\n`)
}

/** Every subject decided by a batch first; then both versions are decided again for each. */
async function measureImpact(bench: Bench, databases: BenchDatabases, subjects: number): Promise<Comparison[]> {
  const upload_id = await uploadItems(bench, subjects, 1)
  await waitForJob(
    bench,
    await bench.make('POST /batch-evaluations', { body: { matrix_key: bench.matrix_key, upload_id } }),
  )
  await databases.runAsAdmin('checkpoint')
  const before = process.cpuUsage()
  const from_ms = performance.now()
  const job = await bench.make(`POST /reference-data/datasets/${bench.country_list}/versions/1/impact`, {
    body: { max_subjects: subjects },
  })
  await waitForJob(bench, job)
  const per_s = (subjects / (performance.now() - from_ms)) * 1000
  const { user, system } = process.cpuUsage(before)
  const cost = `${formatInteger((user + system) / subjects)} µs`
  const line = { entries: subjects, baseline: '', ratio: null }
  return [
    { ...line, label: 'impact run, from the order to the result', ours: `${formatInteger(per_s)} subjects/s` },
    { ...line, label: 'processor time of the service for a subject', ours: cost },
  ]
}

async function measureBatch(bench: Bench, databases: BenchDatabases, items: number): Promise<Comparison[]> {
  const upload_id = await uploadItems(bench, items, KNOWN_EVERY)
  await databases.runAsAdmin('checkpoint')
  const before = process.cpuUsage()
  const from_ms = performance.now()
  const job = await bench.make('POST /batch-evaluations', { body: { matrix_key: bench.matrix_key, upload_id } })
  await waitForJob(bench, job)
  const ours_ms = performance.now() - from_ms
  const { user, system } = process.cpuUsage(before)
  const batch_id = String(job['resource']).split('/').at(-1) as string
  const copy_ms = await measureCopy(bench, databases, batch_id, items)
  const per_s = (items / ours_ms) * 1000
  const entries = items
  return [
    {
      label: 'batch, from the order to the last rating',
      entries,
      ours: `${formatInteger(per_s)} items/s`,
      baseline: `COPY ${formatInteger((items / copy_ms) * 1000)} rows/s`,
      ratio: copy_ms / ours_ms,
    },
    {
      label: 'a million at this rate, extrapolated',
      entries: MILLION,
      ours: `${formatInteger(MILLION / per_s)} s`,
      baseline: '',
      ratio: null,
    },
    {
      label: 'processor time of the service for an item',
      entries,
      ours: `${formatInteger((user + system) / items)} µs`,
      baseline: '',
      ratio: null,
    },
  ]
}

/** The very rows, as text, into a table with the same columns and primary key and nothing else. */
async function measureCopy(
  { plain }: Bench,
  databases: BenchDatabases,
  batch_id: string,
  items: number,
): Promise<number> {
  const rows = plain.query(
    to(`copy (select * from app.batch_item where batch_id = '${batch_id}' order by seq) to stdout`),
  )
  const pieces: Buffer[] = []
  for await (const piece of rows) pieces.push(piece)
  await databases.runAsAdmin('checkpoint')
  const from_ms = performance.now()
  const copied = await copyIn(plain, `copy ${PLAIN} from stdin`, toAsyncIterable(pieces))
  if (copied !== items) throw new Error(`${copied} rows were copied instead of ${items}`)
  return performance.now() - from_ms
}

async function* toAsyncIterable(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}
