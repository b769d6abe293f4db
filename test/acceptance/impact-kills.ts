/**
 * An impact run over many past decisions, whose worker is killed with SIGKILL once in the middle. It must count every subject
 * exactly once, flip exactly those whose country moved, and keep the workers' memory flat. Prints one line of JSON.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { countries as listed, newPolicy } from '../support/example-policy.ts'
import type { ExampleTenant } from '../support/example-tenant.ts'
import { createRandom } from '../support/random.ts'
import {
  parseNumbers,
  parseWorkerPid,
  type RunningApi,
  readResidentMib,
  reportResult,
  startApi,
} from './support/running-api.ts'
import { WorkerProcesses } from './support/worker-processes.ts'

const WORKERS = 2
const GROWTH_LIMIT_MIB = 128
const TIMEOUT_MS = 30 * 60_000

const { seed, rows } = parseNumbers({ rows: 100_000 })
const random = createRandom(seed)
const countries = ['CH', 'DE', 'IR']
const countryOf = (n: number): string => countries[n % countries.length] as string
const moved = Array.from({ length: rows }, (_, n) => countryOf(n)).filter((country) => country === 'DE').length

/** One person a line, in pieces of some size, since each is sent by itself. */
function* generateRows(head: string, line: (n: number) => string): Generator<string> {
  let text = head
  for (let n = 0; n < rows; n++) {
    text += line(n)
    if (text.length < 65_536) continue
    yield text
    text = ''
  }
  yield text
}

interface ImpactRun {
  readonly state: string
  readonly progress: { readonly done: number; readonly total: number | null }
  readonly result: {
    readonly population: { readonly subjects: number; readonly taken: number }
    readonly decisions: number
    readonly unusable: number
    readonly flips: number
    readonly refusals_added: number
    readonly transitions: readonly { readonly decisions: number }[]
  } | null
}

/** Everybody is known and has been decided on once, by a batch. */
async function evaluateAll(api: RunningApi, matrix_key: string): Promise<void> {
  const finished = async (job: { job_id: string }) => {
    const { state } = await api.ended(job.job_id)
    if (state !== 'succeeded') throw new Error(`the ground was not laid: a job has ${state}`)
  }
  const subjects = generateRows('subject_type,external_id,name\n', (n) => `person,row-${n},Person ${n}\n`)
  const bulk = { format: 'csv', upload_id: await api.upload('subjects.csv', subjects) }
  await finished(await api.call('POST /subjects/bulk', bulk))
  const items = generateRows('external_id,country\n', (n) => `row-${n},${countryOf(n)}\n`)
  const upload_id = await api.upload('items.csv', items)
  await finished(await api.call('POST /batch-evaluations', { matrix_key, upload_id }))
}

async function run(api: RunningApi) {
  const { database: ground, call: ask } = api
  const make = (at: string, { body }: { body?: object } = {}) => ask(at, body)
  const { matrix_key, country_list } = await newPolicy({ make } as unknown as ExampleTenant)
  const workers = new WorkerProcesses(ground, 1)
  const seen = new Map<number, { first_mib: number; peak_mib: number }>()
  const watch = setInterval(() => {
    for (const [pid, memory] of seen) memory.peak_mib = Math.max(memory.peak_mib, readResidentMib(pid))
  }, 100)
  const running = async (): Promise<number | undefined> => {
    const [job] = await ground.call<{ worker: string }>(
      `select worker from app.job where kind = 'impact-run' and state = 'running'`,
    )
    const pid = job && parseWorkerPid(job.worker)
    return pid !== undefined && workers.has(pid) ? pid : undefined
  }
  let kills = 0
  try {
    for (let n = 0; n < WORKERS; n++) await workers.start()
    const ground_ms = performance.now()
    await evaluateAll(api, matrix_key)
    console.error(`${rows} decided in ${Math.round((performance.now() - ground_ms) / 1000)} s`)
    const data = listed.map((entry) => (entry.code === 'DE' ? { ...entry, score_bps: 5000 } : entry))
    const { version } = await ask<{ version: number }>(`POST /reference-data/datasets/${country_list}/versions`, {
      data,
    })

    const began_ms = performance.now()
    const at = `POST /reference-data/datasets/${country_list}/versions/${version}/impact`
    const job = await ask<{ job_id: string; resource: string }>(at, {})
    const readRun = () => ask<ImpactRun>(`GET ${job.resource.replace('/api', '')}`)
    // Somewhere in the middle half.
    const kill_at = Math.floor(rows / 4 + random(Math.max(1, Math.floor(rows / 2))))
    let standstill_ms = 0
    let now = await readRun()
    while (!['succeeded', 'failed', 'cancelled'].includes(now.state) && performance.now() < began_ms + TIMEOUT_MS) {
      await sleep(100)
      const pid = await running()
      if (pid !== undefined && !seen.has(pid)) seen.set(pid, { first_mib: readResidentMib(pid), peak_mib: 0 })
      now = await readRun()
      if (kills === 0 && pid !== undefined && now.progress.done >= kill_at && now.state === 'running') {
        const died_ms = await workers.kill(pid)
        seen.delete(pid)
        kills++
        await workers.start()
        const { done } = (await readRun()).progress
        while ((await readRun()).progress.done === done && performance.now() < began_ms + TIMEOUT_MS) await sleep(100)
        standstill_ms = performance.now() - died_ms
      }
    }
    const worked_s = (performance.now() - began_ms - standstill_ms) / 1000
    const growth_mib = Math.max(0, ...[...seen.values()].map(({ first_mib, peak_mib }) => peak_mib - first_mib))
    const faults = findFaults(now)
    return {
      kills,
      decisions: now.result?.decisions ?? null,
      flips: now.result?.flips ?? null,
      decisions_per_s: Math.round(rows / worked_s),
      worked_s: Math.round(worked_s),
      standstill_s: Math.round(standstill_ms / 1000),
      growth_mib: Math.round(growth_mib),
      faults,
      passed: kills === 1 && faults.length === 0 && growth_mib <= GROWTH_LIMIT_MIB,
    }
  } finally {
    clearInterval(watch)
    await workers.stop()
  }
}

function findFaults({ state, progress, result }: ImpactRun): string[] {
  const faults: string[] = []
  const expect = (what: string, found: unknown, right: unknown) => {
    if (found !== right) faults.push(`${what}: ${found} instead of ${right}`)
  }
  expect('state', state, 'succeeded')
  expect('subjects done', progress.done, rows)
  expect('subjects', result?.population.subjects, rows)
  expect('subjects taken', result?.population.taken, rows)
  expect('decisions', result?.decisions, rows)
  expect('unusable', result?.unusable, 0)
  expect('flips', result?.flips, moved)
  expect('refusals added', result?.refusals_added, 0)
  expect(
    'decisions in transitions',
    result?.transitions.reduce((sum, { decisions }) => sum + decisions, 0),
    rows,
  )
  return faults
}

const started_ms = performance.now()
const api = await startApi()
try {
  const result = await run(api)
  reportResult('impact-kills', {
    seed,
    rows,
    ...result,
    duration_s: Math.round((performance.now() - started_ms) / 1000),
  })
} finally {
  await api.close()
}
