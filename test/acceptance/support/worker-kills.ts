/**
 * Kills worker processes in the middle of their jobs, and stalls some beyond their lease, while jobs keep coming; then
 * counts what is there: every job done, every effect once, and how long jobs of killed workers were shown as running.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { DurableDatabase } from './durable-database.ts'
import { WorkerProcesses } from './worker-processes.ts'

export interface WorkerKillOptions {
  readonly kills: number
  readonly stalls: number
  readonly workers: number
  readonly random: (below: number) => number
  readonly signal: AbortSignal
  readonly log: (text: string) => void
}

const SLOTS = 4
const TENANTS = 6
const BACKLOG = 40
const NUMBERS = 20
/** Beyond the lease of 15 s and the first back-off, so that a stalled worker comes back while another has its jobs. */
const STALL_MS = 16_500
const STALL_SPREAD_MS = 2000
const RUNNING_LIMIT_MS = 60_000
const LAST_JOB_LIMIT_MS = 15 * 60_000

interface PlannedJob {
  readonly job_id: string
  readonly numbers: number
}

const pidOf = (worker: string): number => Number(worker.split(':').at(-2))

export async function runWorkerKills(database: DurableDatabase, options: WorkerKillOptions) {
  const { random, log: say, signal } = options
  const started_ms = performance.now()
  const tenants = await database.makeTenants(TENANTS)
  const planned: PlannedJob[] = []
  const deaths = new Map<number, number>()
  let interrupted = 0
  let longest_running_ms = 0
  let kills = 0
  let stalls = 0
  let feeding = true
  let watching = true

  const unfinished = async () => {
    const [row] = await database.call<{ count: string }>(
      `select count(*) from app.job where state in ('queued', 'running') and kind like 'demo-%'`,
    )
    return Number(row?.count)
  }

  const enqueueJobs = async () => {
    for (; feeding; await sleep(100, undefined, { signal })) {
      for (let limit = BACKLOG - (await unfinished()); limit > 0; limit--) {
        const tenant = tenants[random(tenants.length)] as string
        const counts = random(3) > 0
        const pause_ms = counts ? 10 + random(random(4) > 0 ? 30 : 200) : 200 + random(600)
        const payload = counts ? { upto: NUMBERS, pause_ms } : { pause_ms }
        const [job_id] = await database.enqueue(tenant, counts ? 'demo-count' : 'demo-stamp', [payload])
        planned.push({ job_id: job_id as string, numbers: counts ? NUMBERS : 1 })
      }
    }
  }

  /** Jobs that still say they are running although their worker is dead. */
  const watchDeadWorkers = async () => {
    for (; watching; await sleep(100, undefined, { signal })) {
      const rows = await database.call<{ worker: string }>(
        `select distinct worker from app.job where state = 'running'`,
      )
      for (const { worker } of rows) {
        const died_ms = deaths.get(pidOf(worker))
        if (died_ms !== undefined) longest_running_ms = Math.max(longest_running_ms, performance.now() - died_ms)
      }
    }
  }

  const findBusyWorker = async (workers: WorkerProcesses): Promise<number | undefined> => {
    const rows = await database.call<{ worker: string }>(
      `select distinct worker from app.job where state = 'running' and lease_until > now() order by worker`,
    )
    const pids = rows.map(({ worker }) => pidOf(worker)).filter((pid) => workers.has(pid))
    return pids[random(Math.max(1, pids.length))]
  }

  const killWorkers = async (workers: WorkerProcesses) => {
    while (kills < options.kills) {
      await sleep(200 + random(1200), undefined, { signal })
      const pid = await findBusyWorker(workers)
      if (pid === undefined) continue
      deaths.set(pid, await workers.kill(pid))
      const [left] = await database.call<{ count: string }>(
        `select count(*) from app.job where state = 'running' and split_part(worker, ':', 2) = $1`,
        [String(pid)],
      )
      // Only a death in the middle of a job counts.
      if (Number(left?.count) > 0) kills++
      interrupted += Number(left?.count)
      if (kills % 10 === 0) say(`${kills} kills, ${interrupted} jobs interrupted, ${planned.length} jobs so far`)
      await workers.start()
    }
  }

  const stallWorkers = async (workers: WorkerProcesses) => {
    while (stalls < options.stalls) {
      const pid = await findBusyWorker(workers)
      if (pid !== undefined) {
        const goOn = workers.stall(pid)
        await sleep(STALL_MS + random(STALL_SPREAD_MS), undefined, { signal }).finally(goOn)
        stalls++
      }
      await sleep(1000, undefined, { signal })
    }
  }

  const workers = new WorkerProcesses(database, SLOTS)
  try {
    await Promise.all(Array.from({ length: options.workers }, () => workers.start()))
    const feeder = enqueueJobs()
    const watcher = watchDeadWorkers()
    await Promise.all([killWorkers(workers), stallWorkers(workers)])
    feeding = false
    await feeder
    say(`all kills done, waiting for the last of ${planned.length} jobs`)
    const giveUpAt_ms = performance.now() + LAST_JOB_LIMIT_MS
    while ((await unfinished()) > 0 && performance.now() < giveUpAt_ms) await sleep(200, undefined, { signal })
    watching = false
    await watcher
  } finally {
    feeding = false
    watching = false
    await workers.stop()
  }
  const found = await countEffects(database, planned)
  const ran_to_plan = kills === options.kills && stalls === options.stalls && interrupted > 0
  return {
    kills,
    stalls,
    jobs: planned.length,
    interrupted,
    ...found,
    longest_running_after_death_ms: Math.round(longest_running_ms),
    duration_s: Math.round((performance.now() - started_ms) / 1000),
    passed:
      ran_to_plan &&
      found.lost === 0 &&
      found.not_succeeded === 0 &&
      found.effects_twice === 0 &&
      found.effects_missing === 0 &&
      longest_running_ms <= RUNNING_LIMIT_MS,
  }
}

/** Compares what was asked for with what is in the database. */
async function countEffects(database: DurableDatabase, planned: readonly PlannedJob[]) {
  const jobs = await database.call<{ job_id: string; state: string; attempts: string }>(
    `select job_id, state, attempts from app.job where kind like 'demo-%'`,
  )
  const byId = new Map(jobs.map((job) => [job.job_id, job]))
  const effects = await database.call<{ job_id: string; number: string; times: string }>(
    'select job_id, number, count(*) as times from app.demo_effect group by job_id, number',
  )
  const timesOf = new Map(effects.map(({ job_id, number, times }) => [`${job_id} ${number}`, Number(times)]))
  const wanted = planned.flatMap(({ job_id, numbers }) =>
    Array.from({ length: numbers }, (_, index) => `${job_id} ${index + 1}`),
  )
  return {
    lost: planned.filter(({ job_id }) => !byId.has(job_id)).length,
    not_succeeded: jobs.filter(({ state }) => state !== 'succeeded').length,
    effects: wanted.length,
    effects_twice: [...timesOf.values()].filter((times) => times > 1).length,
    effects_missing: wanted.filter((effect) => !timesOf.has(effect)).length,
    most_attempts: Math.max(...jobs.map(({ attempts }) => Number(attempts))),
  }
}
