/** Several processes at one list: racing activations behave as a register, and every process is right at once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { typeBody } from '#modules/reference-data/fixtures.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import {
  findLinearizabilityFaults,
  type RegisterHistory,
  type RegisterRead,
  type RegisterWrite,
} from '../support/linearizability.ts'
import { createRandom } from '../support/random.ts'
import { startSecondProcess } from '../support/second-process.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const SEED = 20260214
const VERSIONS = 6
const WRITES = 12
const READS = 30

type Server = TestApp['server']
let w: TestApp
let t: ExampleTenant
let token: string
let others: Awaited<ReturnType<typeof startSecondProcess>>[]
let servers: Server[]

beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  token = await t.token()
  others = [await startSecondProcess(w), await startSecondProcess(w)]
  servers = [w.server, ...others.map(({ server }) => server)]
  await t.make('POST /reference-data/types', { body: { type_key: 'rating', ...typeBody() } })
})
afterAll(async () => {
  for (const other of others) await other.close()
  await w.close()
})

const entries = (version: number) => [
  { code: 'A', rating: version % 2 === 0 ? 'high' : 'low' },
  { code: `V${version}`, rating: 'low' },
]
async function newList(list_key: string, versions: number): Promise<string> {
  await t.make('POST /reference-data/datasets', { body: { list_key, type_key: 'rating', title: 'Ratings' } })
  for (let version = 1; version <= versions; version++) await publish(w.server, list_key, version)
  return list_key
}

async function ask(server: Server, method: 'GET' | 'POST', url: string, payload?: object) {
  const headers = { authorization: `Bearer ${token}` }
  const reply = await server.app.inject({ method, url: `/api${url}`, headers, ...(payload && { payload }) })
  if (reply.statusCode >= 300) throw new Error(`${method} ${url} answered ${reply.statusCode} ${reply.body}`)
  return reply.json()
}
const publish = (server: Server, list_key: string, version: number) =>
  ask(server, 'POST', `/reference-data/datasets/${list_key}/versions`, { data: entries(version) })
const activate = (server: Server, list_key: string, version: number) =>
  ask(server, 'POST', `/reference-data/datasets/${list_key}/activations`, { version, reason: 'race' })
const entryAt = async (server: Server, list_key: string, key: string) =>
  (await ask(server, 'GET', `/reference-data/resolve/${list_key}/entry?key=${key}`)).entry

describe('concurrent activations', () => {
  /** Answers for an instant that had just passed: they must never change. */
  const said: { at: string; activation_id: string }[] = []
  const history = { writes: [] as RegisterWrite[], reads: [] as RegisterRead[] }
  const now = () => performance.now()
  const knownAt = (server: Server, at: string) =>
    ask(server, 'GET', `/reference-data/resolve/race?valid_at=${at}&known_at=${at}`)

  beforeAll(async () => {
    await newList('race', VERSIONS)
    const first_began = now()
    const first = await activate(w.server, 'race', 1)
    history.writes.push({ ...first, began: first_began, ended: now() })
    const random = createRandom(SEED)
    const loops = servers.flatMap((server) => [
      async () => {
        for (let count = 0; count < WRITES; count++) {
          const began = now()
          const made = await activate(server, 'race', 1 + random(VERSIONS))
          history.writes.push({ ...made, began, ended: now() })
        }
      },
      async () => {
        for (let count = 0; count < READS; count++) {
          const began = now()
          const { activation_id, version } = await ask(server, 'GET', '/reference-data/resolve/race')
          history.reads.push({ activation_id, version, began, ended: now() })
        }
      },
      async () => {
        for (let count = 0; count < WRITES; count++) {
          const at = new Date().toISOString()
          said.push({ at, activation_id: (await knownAt(server, at)).activation_id })
        }
      },
    ])
    await Promise.all(loops.map((loop) => loop()))
  })

  test('are a linearizable register', () => {
    expect(history.writes).toHaveLength(1 + servers.length * WRITES)
    expect(history.reads).toHaveLength(servers.length * READS)
    expect(findLinearizabilityFaults(history)).toEqual([])
    // They did race: reads saw many of the writes, and not in the order of one caller.
    expect(new Set(history.reads.map(({ activation_id }) => activation_id)).size).toBeGreaterThan(5)
  })

  test('do not change answers for an earlier known_at', async () => {
    expect(said).toHaveLength(servers.length * WRITES)
    for (const { at, activation_id } of said) expect((await knownAt(w.server, at)).activation_id).toBe(activation_id)
  })
})

describe('the check of histories', () => {
  const write = (seq: number, began: number, ended: number): RegisterWrite => ({
    began,
    ended,
    seq,
    activation_id: `a${seq}`,
    recorded_at: `t${seq}`,
    version: seq,
  })
  const read = (seq: number, began: number, ended: number): RegisterRead => ({
    began,
    ended,
    activation_id: `a${seq}`,
    version: seq,
  })
  const writes = [write(1, 0, 1), write(2, 2, 5), write(3, 6, 7)]

  test.each<[string, RegisterHistory, RegExp | null]>([
    ['reads of either value while a write is under way', { writes, reads: [read(1, 3, 4), read(2, 4.1, 4.5)] }, null],
    [
      'answers to concurrent writes that arrive in another order',
      { writes: [write(1, 0, 1), write(2, 2, 9), write(3, 2, 3)], reads: [] },
      null,
    ],
    ['a stale read', { writes, reads: [read(1, 5.5, 6)] }, /^read of 1 came after write 2/],
    ['a read that goes back', { writes, reads: [read(2, 3, 3.5), read(1, 4, 4.5)] }, /^read of 1 came after read of 2/],
    ['a read from the future', { writes, reads: [read(3, 3, 4)] }, /before it began/],
    ['a read of what nobody wrote', { writes, reads: [read(9, 3, 4)] }, /nobody wrote/],
    ['an order against time', { writes: [write(1, 4, 5), write(2, 0, 1)], reads: [] }, /^write 1 came after write 2/],
    ['a gap', { writes: [write(1, 0, 1), write(3, 2, 3)], reads: [] }, /2 is missing/],
  ])('%s', (_name, history, fault) => {
    const [first] = findLinearizabilityFaults(history)
    if (fault) expect(first).toMatch(fault)
    else expect(first).toBeUndefined()
  })
})

describe('another process', () => {
  test('resolves a new activation at once with a warm cache', async () => {
    await newList('warm', 2)
    const [a, b] = servers as [Server, Server]
    for (const version of [1, 2, 1, 2]) {
      await activate(a, 'warm', version)
      expect(await entryAt(b, 'warm', 'A')).toEqual(entries(version)[0])
      expect(await entryAt(b, 'warm', `V${3 - version}`)).toBeNull()
    }
  })

  test('publishes concurrently without a gap in version numbers', async () => {
    await newList('published', 0)
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, n) => publish(servers[n % servers.length] as Server, 'published', n)),
    )
    expect(made.map(({ version }) => version).sort((x, y) => x - y)).toEqual(
      Array.from({ length: 12 }, (_, n) => n + 1),
    )
  })

  test('imports concurrently without a gap in version numbers', async () => {
    await newList('imported', 0)
    const start = async (n: number) => {
      const headers = { 'content-type': 'application/octet-stream' }
      const payload = entries(n)
        .map((entry) => `${JSON.stringify(entry)}\n`)
        .join('')
      const { upload_id } = await t.make(`POST /uploads?file_name=${n}.ndjson`, { payload, headers })
      const body = { list_key: 'imported', upload_id, adapter_key: 'ndjson' }
      return t.make('POST /reference-data/imports', { body })
    }
    const jobs = await Promise.all([1, 2, 3, 4, 5, 6].map(start))
    const runners = [w.runtime, ...others.map(({ runtime }) => runtime)].map((runtime) => runtime.createRunner(2))
    for (const runner of runners) runner.start()
    try {
      for (const job of jobs) await t.runToEnd(job)
    } finally {
      await Promise.all(runners.map((runner) => runner.stop(5000)))
    }
    const imports = await Promise.all(jobs.map(({ resource }) => t.make(`GET ${resource}`)))
    expect(imports.map(({ problem }) => problem)).toEqual(Array(6).fill(null))
    expect(imports.map(({ state }) => state)).toEqual(Array(6).fill('published'))
    expect(imports.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4, 5, 6])
  })
})
