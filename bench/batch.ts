/**
 * A batch of decisions end to end, from the order to the last item with its rating, beside a plain COPY of the same result
 * rows; and an impact run over the decisions of a batch.
 */
import pg from 'pg'
import { to } from 'pg-copy-streams'
import { copyIn } from '#kernel/database/copy.ts'
import { type BatchService, runBatch, runImpact, startBatchService, uploadItems } from './batch-service.ts'
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import { type Comparison, formatInteger } from './registry-bench.ts'

const PLAIN = 'bench_batch.item'
const KNOWN_EVERY = 4
const MILLION = 1_000_000

interface Bench {
  readonly service: BatchService
  readonly plain: pg.Client
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
  const largest = Math.max(...sizes)
  const plain = new pg.Client(databases.isolated('app'))
  // Ended by the database when a failure elsewhere stops it: that failure is the one to report.
  plain.on('error', () => {})
  await plain.connect()
  await plain.query(`select set_config('app.tenant_id', $1, false)`, [tenant_id])
  let service: BatchService | undefined
  try {
    await databases.runAsAdmin(`create schema bench_batch; create table ${PLAIN} (like app.batch_item including defaults);
      alter table ${PLAIN} add primary key (tenant_id, batch_id, seq);
      grant usage on schema bench_batch to app; grant insert on ${PLAIN} to app`)
    service = await startBatchService(options, { tenant_id, subjects: largest })
    const comparisons: Comparison[] = []
    for (const items of sizes) {
      log(`batch: ${items} items`)
      comparisons.push(...(await measureBatch({ service, plain }, databases, items)))
    }
    log(`impact: ${largest} subjects`)
    comparisons.push(...(await measureImpact(service, databases, largest)))
    return comparisons
  } finally {
    await plain.end()
    await service?.close()
  }
}

/** Every subject decided by a batch first. */
async function measureImpact(
  service: BatchService,
  databases: BenchDatabases,
  subjects: number,
): Promise<Comparison[]> {
  await runBatch(service, await uploadItems(service, subjects, 1))
  await databases.runAsAdmin('checkpoint')
  const { ms, cpu_us } = await runImpact(service, subjects)
  const line = { entries: subjects, baseline: '', ratio: null }
  return [
    {
      ...line,
      label: 'impact run, from the order to the result',
      ours: `${formatInteger((subjects / ms) * 1000)} subjects/s`,
    },
    { ...line, label: 'processor time of the service for a subject', ours: `${formatInteger(cpu_us / subjects)} µs` },
  ]
}

async function measureBatch(bench: Bench, databases: BenchDatabases, items: number): Promise<Comparison[]> {
  const upload_id = await uploadItems(bench.service, items, KNOWN_EVERY)
  await databases.runAsAdmin('checkpoint')
  const { ms, cpu_us, batch_id } = await runBatch(bench.service, upload_id)
  const copy_ms = await measureCopy(bench, databases, batch_id, items)
  const per_s = (items / ms) * 1000
  const entries = items
  return [
    {
      label: 'batch, from the order to the last rating',
      entries,
      ours: `${formatInteger(per_s)} items/s`,
      baseline: `COPY ${formatInteger((items / copy_ms) * 1000)} rows/s`,
      ratio: copy_ms / ms,
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
      ours: `${formatInteger(cpu_us / items)} µs`,
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
