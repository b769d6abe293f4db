/**
 * `npm run acceptance -- job-workers`: real worker processes on a real, durable PostgreSQL, killed in the middle of their jobs a hundred
 * times; with --throughput, how fast and how evenly the queue is worked off. Prints one line of JSON and exits 0 or 1.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { startDurableDatabase } from './support/durable-database.ts'
import { runThroughput } from './support/job-throughput.ts'
import { runWorkerKills } from './support/worker-kills.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    stalls: { type: 'string', default: '5' },
    workers: { type: 'string', default: '4' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    throughput: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '10000' },
  },
})

function readCount(name: 'kills' | 'stalls' | 'workers' | 'seed' | 'jobs', least: number): number {
  const value = Number(values[name])
  if (Number.isSafeInteger(value) && value >= least) return value
  console.error(`--${name} must be a whole number from ${least} on.`)
  process.exit(2)
}

const seed = readCount('seed', 0)
const plan = { kills: readCount('kills', 1), stalls: readCount('stalls', 0), workers: readCount('workers', 2) }
const jobs = readCount('jobs', 20)

/** Mulberry32: small, and the same everywhere for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const abort = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => abort.abort())

const shared = {
  random: randomFrom(seed),
  signal: abort.signal,
  log: (text: string) => console.error(text),
}
const database = await startDurableDatabase()
try {
  const result = values.throughput
    ? { mode: 'throughput', ...(await runThroughput(database, { ...shared, jobs })) }
    : { mode: 'kills', workers: plan.workers, ...(await runWorkerKills(database, { ...shared, ...plan })) }
  console.log(JSON.stringify({ run: 'job-workers', seed, ...result }))
  process.exitCode = result.passed ? 0 : 1
} finally {
  await database.stop()
}
