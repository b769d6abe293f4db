/**
 * Kills worker processes with SIGKILL while schedules are due, round after round, sometimes all of them at once. Each due time must
 * leave exactly one run behind, each run that started exactly one batch, and no batch may be without its run. Prints one line of JSON.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { newPolicy } from '../support/example-policy.ts'
import type { ExampleTenant } from '../support/example-tenant.ts'
import { createRandom } from '../support/random.ts'
import { parseNumbers, parseWorkerPid, type RunningApi, reportResult, startApi } from './support/running-api.ts'
import { WorkerProcesses } from './support/worker-processes.ts'

const WORKERS = 3
const SLOTS = 2
const TIMEOUT_MS = 3 * 60_000

const { seed, rounds, schedules } = parseNumbers({ rounds: 6, schedules: 20 })
const random = createRandom(seed)

/** All of them were due so many times since they were looked at last. */
const makeDue = ({ database: ground }: RunningApi, hours: number) =>
  ground.call(`begin; set local app.actor = 'operator:acceptance';
    update app.batch_schedule set next_run_at = now() - interval '${hours} hours' where not paused;
    update app.job_schedule set next_run_at = now() where kind = 'scheduled-batch'; commit`)

const count = async ({ database: ground }: RunningApi, what: string): Promise<number> =>
  Number((await ground.call<{ n: string }>(`select count(*) as n from ${what}`))[0]?.n)

const RUNS_SQL = 'app.batch_schedule_run where due_at is not null'
const OPEN_JOBS_SQL = `app.job where kind in ('scheduled-batch', 'batch-evaluation') and state in ('queued', 'running')`

async function run(api: RunningApi) {
  const { database: ground, call: ask } = api
  const make = (at: string, { body }: { body?: object } = {}) => ask(at, body)
  const { matrix_key } = await newPolicy({ make } as unknown as ExampleTenant)
  const subject = { subject_type: 'person', name: 'Ada', segment: 'all', attributes: { country: 'DE' } }
  for (let n = 0; n < 50; n++) await ask('POST /subjects', subject)
  // Due when the run says so, and not by itself.
  const schedule = { matrix_key, filter: { segment: 'all' }, cron: '0 0 29 2 *', time_zone: 'UTC' }
  for (let n = 0; n < schedules; n++)
    await ask('POST /batch-evaluations/schedules', { ...schedule, name: `Schedule ${n}` })

  const workers = new WorkerProcesses(ground, SLOTS)
  const running = async () =>
    (await ground.call<{ worker: string }>(`select worker from ${OPEN_JOBS_SQL} and worker is not null`))
      .map(({ worker }) => parseWorkerPid(worker))
      .filter((pid) => workers.has(pid))
  let kills = 0
  const faults: string[] = []
  try {
    for (let n = 0; n < WORKERS; n++) await workers.start()
    for (let round = 1; round <= rounds; round++) {
      const before = await count(api, RUNS_SQL)
      await makeDue(api, 1 + random(1000))
      const until_ms = performance.now() + TIMEOUT_MS
      // Anywhere between the first look and the last batch.
      await sleep(random(1500))
      const victims = new Set(await running())
      for (const pid of [...victims].slice(0, round % 3 === 0 ? WORKERS : 1)) {
        await workers.kill(pid)
        kills++
        await workers.start()
      }
      while (performance.now() < until_ms) {
        if ((await count(api, RUNS_SQL)) >= before + schedules && (await count(api, OPEN_JOBS_SQL)) === 0) break
        await sleep(200)
      }
      const made = (await count(api, RUNS_SQL)) - before
      if (made !== schedules) faults.push(`round ${round}: ${made} runs of ${schedules} due times`)
      console.error(`round ${round}: ${made} runs, ${kills} kills`)
    }
  } finally {
    await workers.stop()
  }
  const expectNone = async (what: string, from: string) => {
    const found = await count(api, from)
    if (found > 0) faults.push(`${found} ${what}`)
  }
  await expectNone(
    'due times with two runs',
    `(select 1 from ${RUNS_SQL} group by schedule_id, due_at having count(*) > 1) twice`,
  )
  await expectNone('skipped runs', `app.batch_schedule_run where skipped is not null`)
  await expectNone(
    'batches of no run',
    `app.batch_evaluation b where b.note is distinct from 'canary'
       and not exists (select 1 from app.batch_schedule_run r where r.batch_id = b.batch_id)`,
  )
  await expectNone(
    'batches that are not as they should be',
    `app.batch_evaluation where note is distinct from 'canary' and (done, failed) is distinct from (50::bigint, 0::bigint)`,
  )
  return {
    rounds,
    schedules,
    kills,
    runs: await count(api, RUNS_SQL),
    faults,
    passed: kills > 0 && faults.length === 0,
  }
}

const started_ms = performance.now()
const api = await startApi()
try {
  const result = await run(api)
  reportResult('schedule-kills', { seed, ...result, duration_s: Math.round((performance.now() - started_ms) / 1000) })
} finally {
  await api.close()
}
