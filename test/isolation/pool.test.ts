/**
 * Suite 7: tenants take turns on one or two connections while statements fail, are swallowed, cancelled, or lose their
 * backend. Nobody ever sees a foreign row, nothing half-done is committed, and the pool is whole again afterwards.
 */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { Database, type Scope } from '#kernel/database/tx.ts'
import type { Problem } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import {
  expectFailure,
  expectOwnRows,
  insertUser,
  type PoolOperation,
  poolOperations,
  selectAllUsers,
} from './pool-operations.ts'
import { connect } from './support.ts'

const SEED = 20_261_115
const TENANTS = 10
const OPERATIONS = 500
const AT_ONCE = 8

let w: TestApp
let admin: pg.Client
let tenants: string[]

beforeAll(async () => {
  w = await startTestApp({ pool_size: 2 })
  admin = await connect(w.clone.postgres)
  tenants = await Promise.all(Array.from({ length: TENANTS }, () => w.makeTenant()))
})
afterAll(async () => {
  await admin.end()
  await w.close()
})

/** Mulberry32: small, fast, the same everywhere. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

function openDatabase(options: { max: number; prepared?: boolean; wait_ms?: number; name?: string }): Database {
  return new Database({
    connection: { ...w.clone.app, application_name: options.name ?? 'pool' },
    max: options.max,
    prepared: (options.prepared ?? true) && inject('prepared'),
    statement_timeout_ms: 20_000,
    wait_ms: options.wait_ms ?? 20_000,
    onIdleError: () => {},
  })
}

const scopeOf = (tenant_id: string): Scope => fullScope(tenant_id, 'user:pool')

const weightedOperations = poolOperations.flatMap((turn) => Array.from({ length: turn.weight }, () => turn))

const countRowsByTenant = async (): Promise<Map<string, number>> => {
  const { rows } = await admin.query(
    `select tenant_id, count(*)::int as n from app.user_account where issuer = 'pool' group by tenant_id`,
  )
  return new Map(rows.map(({ tenant_id, n }) => [tenant_id, n]))
}

describe('interleaved tenants', () => {
  test.for(
    [
      { max: 1, prepared: true },
      { max: 1, prepared: false },
      { max: 2, prepared: true },
      { max: 2, prepared: false },
    ].filter(({ prepared }) => !prepared || inject('prepared')),
  )('on a pool of $max, prepared: $prepared', async ({ max, prepared }) => {
    const name = `pool-${max}-${prepared}`
    const database = openDatabase({ max, prepared, name })
    const random = randomFrom(SEED + max + (prepared ? 10 : 0))
    const expected = await countRowsByTenant()
    const played = new Map<string, number>()
    let left = OPERATIONS
    const player = async () => {
      while (left-- > 0) {
        const turn = weightedOperations[random(weightedOperations.length)] as PoolOperation
        const tenant_id = tenants[random(TENANTS)] as string
        await turn.play(database, scopeOf(tenant_id), admin)
        played.set(turn.name, (played.get(turn.name) ?? 0) + 1)
        expected.set(tenant_id, (expected.get(tenant_id) ?? 0) + turn.commits)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, player))
    expect([...played.keys()].sort(), `seed ${SEED}`).toEqual(poolOperations.map((turn) => turn.name).sort())
    const committed = await countRowsByTenant()
    for (const tenant_id of tenants) expect(committed.get(tenant_id) ?? 0).toBe(expected.get(tenant_id) ?? 0)

    // Whole again: everybody is served, no connection is left over, none is inside a transaction.
    await Promise.all(
      tenants.map(async (tenant_id) => {
        const rows = await database.one(scopeOf(tenant_id), selectAllUsers)
        expect(rows.length).toBeGreaterThanOrEqual(committed.get(tenant_id) ?? 0)
        expectOwnRows(rows, scopeOf(tenant_id))
      }),
    )
    expect([database.semaphore.inUse, database.semaphore.waiting]).toEqual([0, 0])
    const { rows } = await admin.query('select state from pg_stat_activity where application_name = $1', [name])
    expect(rows.length).toBeLessThanOrEqual(max)
    for (const { state } of rows) expect(state).toBe('idle')
    await database.end()
  })

  test('a transaction handle that was kept cannot be used inside the next transaction', async () => {
    const [one, two] = tenants.map(scopeOf) as [Scope, Scope]
    const database = openDatabase({ max: 1 })
    const kept = await Promise.all([
      database.one(one, async (tx) => tx),
      database.read(one, async (tx) => tx),
      database.write(one, async (tx) => tx),
    ])
    await database.write(two, async (tx) => {
      await insertUser(tx)
      for (const late of kept) await expectFailure(selectAllUsers(late))
      expectOwnRows(await selectAllUsers(tx), two)
      await insertUser(tx)
    })
    await database.end()
  })

  test('a released connection keeps neither tenant nor actor nor timeout', async () => {
    const database = openDatabase({ max: 1 })
    const scope = scopeOf(tenants[0] as string)
    await database.write(scope, insertUser)
    await database.one(scope, selectAllUsers)
    await expectFailure(database.write(scope, (tx) => tx.query('select 1 / 0')))
    const settings = `select coalesce(current_setting('app.tenant_id', true), '') || coalesce(current_setting('app.actor', true), '') as kept`
    // The handle's own setting hides what the connection keeps, so it is asked after the transaction was left by hand.
    const kept = await database.write(scope, async (tx) => {
      await tx.run('select 1')
      await tx.run('commit')
      const left = await tx.find<{ kept: string }>(settings)
      await tx.run('begin')
      return left?.kept
    })
    expect(kept).toBe('')
    await database.end()
  })
})

/** A promise to be settled from outside, to hold transactions open as long as a test needs. */
function createLatch(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

describe('the tenant semaphore', () => {
  test('gives one tenant at most half of the connections, answers its other requests 503 and serves other tenants', async () => {
    const database = openDatabase({ max: 4, wait_ms: 1000 })
    const [first, second] = tenants.map(scopeOf) as [Scope, Scope]
    const gate = createLatch()
    let inside = 0
    const hold = (scope: Scope) =>
      database.write(scope, async (tx) => {
        await tx.query('select 1')
        inside++
        await gate.opened
      })
    const held = Array.from({ length: 5 }, () =>
      hold(first).then(
        () => 'served',
        (error: Problem) => error.code,
      ),
    )
    const served = await database.one(second, selectAllUsers)
    expectOwnRows(served, second)
    const refused = await Promise.all(held.slice(2))
    expect(refused).toEqual(['overloaded', 'overloaded', 'overloaded'])
    expect([inside, database.semaphore.inUse]).toEqual([2, 2])
    gate.open()
    expect(await Promise.all(held)).toEqual(['served', 'served', 'overloaded', 'overloaded', 'overloaded'])
    await database.one(first, selectAllUsers)
    expect([database.semaphore.inUse, database.semaphore.waiting]).toEqual([0, 0])
    await database.end()
  })

  test('answers 503 when the pool is full, and serves a waiting request when a connection is free', async () => {
    const database = openDatabase({ max: 2, wait_ms: 1000 })
    const [first, second, third] = tenants.map(scopeOf) as [Scope, Scope, Scope]
    const gates = [createLatch(), createLatch()] as const
    const holding = [first, second].map((scope, i) =>
      database.write(scope, async (tx) => {
        await tx.query('select 1')
        await gates[i as 0 | 1].opened
      }),
    )
    const problem = await database.one(third, selectAllUsers).catch((error: Problem) => error)
    expect(problem).toMatchObject({ code: 'overloaded', extra: { retry_after_s: 1 } })
    const waiting = database.one(third, selectAllUsers)
    gates[0].open()
    expectOwnRows(await waiting, third)
    gates[1].open()
    await Promise.all(holding)
    expect([database.semaphore.inUse, database.semaphore.waiting]).toEqual([0, 0])
    await database.end()
  })
})

describe('single reads that find every connection taken', () => {
  test.runIf(inject('prepared'))('leave together, tenant by tenant, and each sees its own rows', async () => {
    const database = openDatabase({ max: 2, name: 'together' })
    const held = createLatch()
    const [holder, ...others] = tenants.map(scopeOf) as [Scope, ...Scope[]]
    const holding = [holder, others[0] as Scope].map((scope) =>
      database.write(scope, async (tx) => {
        await tx.query('select 1')
        await held.opened
      }),
    )
    const backends: { tenant_id: string; pid: number; began: string }[] = []
    const reads = others.slice(0, 4).flatMap((scope) =>
      Array.from({ length: 5 }, async () => {
        const question = `select app.tenant_id() as tenant_id, pg_backend_pid() as pid, now() as began,
          (select count(*) from app.user_account where tenant_id <> $1) as foreign_rows`
        const row = await database.one(scope, (tx) =>
          tx.find<{ tenant_id: string; pid: number; began: string; foreign_rows: number }>(question, [scope.tenant_id]),
        )
        expect([row?.tenant_id, row?.foreign_rows]).toEqual([scope.tenant_id, 0])
        if (row) backends.push(row)
      }),
    )
    expect(database.semaphore.waiting).toBe(20)
    held.open()
    await Promise.all([...holding, ...reads])
    expect(new Set(backends.map(({ pid, began }) => `${pid} ${began}`)).size, 'each in a transaction of its own').toBe(
      20,
    )
    expect([database.semaphore.inUse, database.semaphore.waiting]).toEqual([0, 0])
    await database.end()
  })
})

describe('over HTTP', () => {
  const REQUESTS = 600

  test('requests of all tenants, some aborted, get no foreign byte and no 500 while backends are killed', async () => {
    const base = await w.listen()
    const random = randomFrom(SEED)
    const tokens = await Promise.all(tenants.map((tenant_id) => w.token({ tenant_id })))
    const emailOf = (index: number) => `${random(1e9)}@${(tenants[index] as string).slice(-12)}.example`
    const made = tenants.map(() => 0)
    const unsure = tenants.map(() => 0)
    const statuses = new Map<number, number>()
    const known = tenants.map((): string[] => [])
    let left = REQUESTS

    const request = async (index: number, at: string, body?: object) => {
      const abandon = random(20) === 0 ? new AbortController() : undefined
      if (abandon) setTimeout(() => abandon.abort(), random(3))
      const [method, path] = at.split(' ') as [string, string]
      const reply = await fetch(`${base}/api${path}`, {
        method,
        headers: { authorization: `Bearer ${tokens[index]}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
        ...(abandon && { signal: abandon.signal }),
      })
        .then(async (answer) => ({ status: answer.status, text: await answer.text() }))
        .catch(() => undefined)
      if (!reply) return undefined
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
      for (const [other, tenant_id] of tenants.entries()) {
        if (other !== index) expect(reply.text).not.toContain(tenant_id.slice(-12))
      }
      return reply
    }

    const player = async () => {
      while (left-- > 0) {
        const index = random(TENANTS)
        const what = random(10)
        if (what < 3) await request(index, 'GET /tenant')
        else if (what < 6) await request(index, 'GET /users?limit=200')
        else if (what < 8) {
          const reply = await request(index, 'POST /users', { name: 'Ada', email: emailOf(index), roles: [] })
          if (reply?.status === 201) {
            made[index] = (made[index] as number) + 1
            known[index]?.push(JSON.parse(reply.text).user_id)
          } else unsure[index] = (unsure[index] as number) + 1
        } else if (what < 9) {
          const foreign = known[(index + 1) % TENANTS]?.at(-1) ?? uuidv7()
          const reply = await request(index, `GET /users/${foreign}`)
          if (reply) expect([404, 503]).toContain(reply.status)
        } else if (random(6) === 0) {
          await admin.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
              where usename = 'app' and datname = current_database() order by pid offset $1 limit 1`,
            [random(2)],
          )
        } else await request(index, 'POST /users', { name: 'Ada', email: 'not an address', roles: [] })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, player))
    expect([...statuses.keys()].filter((status) => ![200, 201, 404, 422, 503].includes(status))).toEqual([])
    expect(statuses.get(200)).toBeGreaterThan(REQUESTS / 4)
    for (const [index, tenant_id] of tenants.entries()) {
      const { rows } = await admin.query(
        `select count(*)::int as n from app.user_account where tenant_id = $1 and email like $2`,
        [tenant_id, `%@${tenant_id.slice(-12)}.example`],
      )
      expect(rows[0].n).toBeGreaterThanOrEqual(made[index] as number)
      expect(rows[0].n).toBeLessThanOrEqual((made[index] as number) + (unsure[index] as number))
      expect((await w.call('GET /tenant', { token: tokens[index] as string })).json.tenant_id).toBe(tenant_id)
    }
  })
})
