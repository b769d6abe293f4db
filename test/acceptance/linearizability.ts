/**
 * Real processes race activations and resolutions of one list; together they must have seen a linearizable register, and no
 * answer for an instant that had passed may change later. This file is the run and, started with a channel, one racer.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type pg from 'pg'
import { findLinearizabilityFaults, type RegisterRead, type RegisterWrite } from '../support/linearizability.ts'
import { createRandom } from '../support/random.ts'
import {
  createList,
  createTestRuntime,
  parseNumbers,
  partyType,
  type RunningApi,
  reportResult,
  startApi,
} from './support/running-api.ts'

const VERSIONS = 5
const LIST = 'race'

interface RaceRequest {
  readonly connections: Readonly<Record<'app' | 'worker', pg.PoolConfig>>
  readonly token: string
  readonly seed: number
  readonly steps: number
}
interface RaceResult {
  readonly writes: RegisterWrite[]
  readonly reads: RegisterRead[]
  readonly known: { readonly at: string; readonly activation_id: string }[]
}

/** The machine's own clock: the same for all its processes, and never set back. */
const now = (): number => Number(process.hrtime.bigint())

async function race({ connections, token, seed, steps }: RaceRequest): Promise<RaceResult> {
  const runtime = await createTestRuntime({ connection: (role) => connections[role as 'app' | 'worker'] })
  const server = await runtime.createServer()
  const call = async (method: 'GET' | 'POST', path: string, payload?: object) => {
    const headers = { authorization: `Bearer ${token}` }
    const url = `/api/reference-data/${path}`
    const reply = await server.app.inject({ method, url, headers, ...(payload && { payload }) })
    if (reply.statusCode >= 300) throw new Error(`${method} ${url} answered ${reply.statusCode} ${reply.body}`)
    return reply.json()
  }
  const random = createRandom(seed)
  const seen: RaceResult = { writes: [], reads: [], known: [] }
  const write = async () => {
    const began = now()
    const made = await call('POST', `datasets/${LIST}/activations`, { version: 1 + random(VERSIONS), reason: 'race' })
    const { seq, activation_id, recorded_at, version } = made
    seen.writes.push({ began, ended: now(), seq, activation_id, recorded_at, version })
  }
  const read = async () => {
    const began = now()
    const { activation_id, version } = await call('GET', `resolve/${LIST}`)
    seen.reads.push({ began, ended: now(), activation_id, version })
  }
  const readKnown = async () => {
    const at = new Date().toISOString()
    const { activation_id } = await call('GET', `resolve/${LIST}?valid_at=${at}&known_at=${at}`)
    seen.known.push({ at, activation_id })
  }
  const repeat = async (act: () => Promise<void>, times: number) => {
    for (let count = 0; count < times; count++) await act()
  }
  await Promise.all([repeat(write, steps), repeat(read, 3 * steps), repeat(read, 3 * steps), repeat(readKnown, steps)])
  await server.close()
  await runtime.close()
  return seen
}

async function startRacer(request: RaceRequest): Promise<RaceResult> {
  const child = fork(import.meta.filename, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  child.send(request)
  const [seen] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [RaceResult | number]
  if (typeof seen !== 'object' || seen === null) throw new Error(`a racer ended early: ${seen}`)
  return seen
}

async function run(api: RunningApi, { seed, processes, steps }: Record<'seed' | 'processes' | 'steps', number>) {
  await api.call('POST /reference-data/types', { type_key: 'party', ...partyType })
  await createList(api, LIST)
  const path = `/reference-data/datasets/${LIST}`
  for (let n = 1; n <= VERSIONS; n++) {
    await api.call(`POST ${path}/versions`, { data: [{ code: 'A', name: `Version ${n}` }] })
  }
  const began = now()
  const first = await api.call<Omit<RegisterWrite, 'began' | 'ended'>>(`POST ${path}/activations`, {
    version: 1,
    reason: 'first',
  })
  const writes: RegisterWrite[] = [{ ...first, began, ended: now() }]
  const { database: ground, token } = api
  const connections = { app: ground.connection('app'), worker: ground.connection('worker') }
  const orders = Array.from({ length: processes }, (_, n) => ({ connections, token, seed: seed + n, steps }))
  const seen = await Promise.all(orders.map(startRacer))
  writes.push(...seen.flatMap((one) => one.writes))
  const reads = seen.flatMap((one) => one.reads)
  const known = seen.flatMap((one) => one.known)
  let changed = 0
  for (const { at, activation_id } of known) {
    const again = await api.call<{ activation_id: string }>(
      `GET /reference-data/resolve/${LIST}?valid_at=${at}&known_at=${at}`,
    )
    if (again.activation_id !== activation_id) changed++
  }
  const faults = findLinearizabilityFaults({ writes, reads })
  return {
    processes,
    writes: writes.length,
    reads: reads.length,
    writes_seen: new Set(reads.map(({ activation_id }) => activation_id)).size,
    known_at: known.length,
    known_at_changed: changed,
    faults: faults.slice(0, 20),
    passed: faults.length === 0 && changed === 0 && writes.length === 1 + processes * steps,
  }
}

if (process.send) {
  process.once('message', async (request: RaceRequest) => {
    const seen = await race(request)
    process.send?.(seen, () => process.exit(0))
  })
  process.on('disconnect', () => process.exit(1))
} else {
  const options = parseNumbers({ processes: 3, steps: 100 })
  const api = await startApi()
  try {
    reportResult('linearizability', { seed: options.seed, ...(await run(api, options)) })
  } finally {
    await api.close()
  }
}
