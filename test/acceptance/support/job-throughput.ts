/** How soon an idle worker takes up a job, how many small jobs a second two workers get done, and how evenly the tenants are served. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { DurableDatabase } from './durable-database.ts'
import { WorkerProcesses } from './worker-processes.ts'

export interface ThroughputOptions {
  readonly jobs: number
  readonly random: (below: number) => number
  readonly signal: AbortSignal
  readonly log: (text: string) => void
}

const TENANTS = 20
const SLOTS = 4
const PICKUP_SAMPLES = 200
const BATCH = 100
const MAX_PICKUP_MS = 250
const MAX_LAG_MS = 50
const MAX_DURATION_S = 600
const MIN_FAIRNESS = 0.8

const smallJob = { upto: 1, pause_ms: 0 }

export async function runThroughput(database: DurableDatabase, options: ThroughputOptions) {
  const { log: say } = options
  const tenants = await database.makeTenants(TENANTS)
  const workers = new WorkerProcesses(database, SLOTS)
  try {
    await workers.start()
    say(`one idle worker, ${PICKUP_SAMPLES} jobs one at a time`)
    const { waits_ms, generator_late_ms } = await measurePickup(database, tenants, options)
    await workers.stop()

    const share = Math.ceil(options.jobs / TENANTS)
    say(`${share} jobs for each of ${TENANTS} tenants, then two workers`)
    const first = await readDatabaseTime(database)
    for (const tenant of tenants) {
      for (let left = share; left > 0; left -= BATCH) {
        await database.enqueue(tenant, 'demo-count', Array(Math.min(BATCH, left)).fill(smallJob))
      }
    }
    const started_ms = performance.now()
    await Promise.all([workers.start(), workers.start()])
    await waitForAllJobs(database, options.signal)
    const duration_s = (performance.now() - started_ms) / 1000
    const served = await countJobsByTenant(database, first)
    const fairness = Math.min(...served.halfway) / Math.max(...served.halfway)
    return {
      jobs: served.total,
      succeeded: served.succeeded,
      jobs_per_s: Math.round(served.total / duration_s),
      all_done_s: Math.round(duration_s),
      pick_up_p50_ms: quantile(waits_ms, 0.5),
      pick_up_p99_ms: quantile(waits_ms, 0.99),
      generator_late_ms,
      /** The machine was busy with something else: the figures say nothing about the queue. */
      void: generator_late_ms > MAX_LAG_MS,
      /** Least against most jobs a tenant had done when half of all were; 1 is perfectly even. */
      fairness: Math.round(fairness * 1000) / 1000,
      passed:
        generator_late_ms <= MAX_LAG_MS &&
        served.succeeded === served.total &&
        served.total >= options.jobs &&
        duration_s <= MAX_DURATION_S &&
        quantile(waits_ms, 0.99) <= MAX_PICKUP_MS &&
        fairness >= MIN_FAIRNESS,
    }
  } finally {
    await workers.stop()
  }
}

/** From the start of the transaction that enqueues to the start of the one that claims, by the database's own clock. */
async function measurePickup(
  database: DurableDatabase,
  tenants: readonly string[],
  { random, signal }: ThroughputOptions,
) {
  const waits_ms: number[] = []
  let late_ms = 0
  for (let i = 0; i < PICKUP_SAMPLES; i++) {
    const due_ms = performance.now() + 50 + random(250)
    await sleep(due_ms - performance.now(), undefined, { signal })
    late_ms = Math.max(late_ms, performance.now() - due_ms)
    const [job_id] = await database.enqueue(tenants[random(tenants.length)] as string, 'demo-count', [smallJob])
    await waitForAllJobs(database, signal)
    const [row] = await database.call<{ wait_ms: string }>(
      'select extract(epoch from started_at - created_at) * 1000 as wait_ms from app.job where job_id = $1',
      [job_id],
    )
    waits_ms.push(Number(row?.wait_ms))
  }
  return { waits_ms, generator_late_ms: Math.round(late_ms) }
}

async function waitForAllJobs(database: DurableDatabase, signal: AbortSignal): Promise<void> {
  for (;;) {
    const [row] = await database.call<{ busy: boolean }>(
      `select exists (select 1 from app.job where state in ('queued', 'running') and kind like 'demo-%') as busy`,
    )
    if (!row?.busy) return
    await sleep(20, undefined, { signal })
  }
}

async function readDatabaseTime(database: DurableDatabase): Promise<Date> {
  const [row] = await database.call<{ now: Date }>('select clock_timestamp() as now')
  return row?.now as Date
}

async function countJobsByTenant(database: DurableDatabase, since: Date) {
  const rows = await database.call<{ tenant_id: string; state: string; nth: string }>(
    `select tenant_id, state, row_number() over (order by finished_at) as nth from app.job
      where kind = 'demo-count' and created_at >= $1`,
    [since],
  )
  const halfway = new Map<string, number>(rows.map(({ tenant_id }) => [tenant_id, 0]))
  for (const { tenant_id, nth } of rows) {
    if (Number(nth) <= rows.length / 2) halfway.set(tenant_id, (halfway.get(tenant_id) as number) + 1)
  }
  return {
    total: rows.length,
    succeeded: rows.filter(({ state }) => state === 'succeeded').length,
    halfway: [...halfway.values()],
  }
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] as number) * 10) / 10
}
