/** How many small jobs a second one process works off, and how long jobs stand still when their worker is killed. */
import { once } from 'node:events'
import { startChild } from './child.ts'
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import type { JobEvent, JobWorkerOptions } from './jobs.ts'
import { median } from './median.ts'
import { renderTable } from './table.ts'

const SLOTS = 4
const JOBS = 1500
const LONG_JOBS = 4

type WorkerDefaults = Omit<JobWorkerOptions, 'slots' | 'small' | 'long'>

/** Counted between the first and the last start of a body, with more jobs queued behind neither. */
async function measureThroughput(script: string, order: WorkerDefaults, count: number): Promise<number> {
  let started = 0
  let first_ms = 0
  let finish: (per_second: number) => void
  const result = new Promise<number>((resolve) => {
    finish = resolve
  })
  const child = await startChild(script, { ...order, slots: SLOTS, small: count, long: 0 } satisfies JobWorkerOptions, {
    onEvent: () => {
      started++
      if (started === 1) first_ms = performance.now()
      if (started === count) finish((count - 1) / ((performance.now() - first_ms) / 1000))
    },
  })
  const per_second = await result
  await child.stop()
  return per_second
}

interface Recovery {
  readonly median_s: number
  readonly longest_s: number
  readonly jobs: number
}

/** From `kill -9` of the worker to the next start of the body, in another worker that was there before. */
async function measureRecovery(script: string, order: WorkerDefaults): Promise<Recovery> {
  const running = new Set<string>()
  const again_s: number[] = []
  let killed_ms = 0
  let allRun: () => void
  let allBack: () => void
  const victimIsBusy = new Promise<void>((resolve) => {
    allRun = resolve
  })
  const recovered = new Promise<void>((resolve) => {
    allBack = resolve
  })
  const workerOptions = (long: number): JobWorkerOptions => ({ ...order, slots: LONG_JOBS, small: 0, long })
  const victim = await startChild(script, workerOptions(LONG_JOBS), {
    onEvent: (event) => {
      const { kind, job_id } = event as JobEvent
      // A small job whose worker was stopped before it ended runs again here; it is none of ours.
      if (kind === 'long') running.add(job_id)
      if (running.size === LONG_JOBS) allRun()
    },
  })
  await victimIsBusy
  const survivor = await startChild(script, workerOptions(0), {
    onEvent: (event) => {
      if (running.delete((event as JobEvent).job_id)) again_s.push((performance.now() - killed_ms) / 1000)
      if (running.size === 0) allBack()
    },
  })
  const gone = once(victim.process, 'exit')
  killed_ms = performance.now()
  victim.process.kill('SIGKILL')
  await gone
  await recovered
  await survivor.stop()
  return { median_s: median(again_s), longest_s: Math.max(...again_s), jobs: again_s.length }
}

export async function measureJobs(
  databases: BenchDatabases,
  script: string,
  tenant_ids: readonly string[],
  log: (text: string) => void,
): Promise<string> {
  const connections = { app: databases.isolated('app'), worker: databases.isolated('worker') }
  const order: WorkerDefaults = { ...connections, master_key_hex: MASTER_KEY_HEX, tenant_ids }
  const rates: number[] = []
  for (let round = 0; round < 3; round++) rates.push(await measureThroughput(script, order, JOBS))
  log('killing a worker')
  const recovery = await measureRecovery(script, order)
  return renderTable(
    ['jobs', 'measured'],
    [
      [`small jobs a second, one process with ${SLOTS} slots, ${JOBS} queued`, median(rates).toFixed(0)],
      [
        `seconds from kill -9 of the worker until its ${recovery.jobs} jobs ran again: median, longest`,
        `${recovery.median_s.toFixed(1)}, ${recovery.longest_s.toFixed(1)}`,
      ],
    ],
  )
}
