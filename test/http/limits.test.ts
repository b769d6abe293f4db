/** A caller over its limit gets 429 with Retry-After, and no other caller is affected. The clock is stopped, so buckets do not refill. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest'
import { modules } from '#app/modules.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { defaultLimits } from '#kernel/limits.ts'
import type { ProcessRegistry } from '#kernel/process/registry.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { startSecondProcess } from '../support/second-process.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { createTestModule } from '../support/test-module.ts'

const rehearsal = createTestModule()
let w: TestApp
let clock: MockInstance<() => number>
let now_ms: number

beforeAll(async () => {
  w = await startTestApp({ modules: [...modules, rehearsal.module] })
})
afterAll(() => w.close())
beforeEach(() => {
  // Whole milliseconds: adding a second to a fraction may round to a hair less than a second.
  now_ms = Math.ceil(performance.now())
  clock = vi.spyOn(performance, 'now').mockImplementation(() => now_ms)
})
afterEach(() => clock.mockRestore())

type Rows = Record<string, [per_second: number, burst: number]>

const setLimits = (tenant_id: string, rows: Rows) =>
  w.runtime.database.write(fullScope(tenant_id, 'operator:test'), async (tx) => {
    for (const [bucket, [per_second, burst]] of Object.entries(rows)) {
      await tx.run(
        `insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1, $2, $3, $4)
         on conflict on constraint tenant_limit_pkey do update set per_second = excluded.per_second, burst = excluded.burst`,
        [tenant_id, bucket, per_second, burst],
      )
    }
  })

async function tenantWith(rows: Rows) {
  const tenant_id = await w.makeTenant()
  await setLimits(tenant_id, rows)
  return { tenant_id, token: await w.token({ tenant_id }) }
}

const me = (token: string) => w.call('GET /auth/me', { token })
const from = async (remoteAddress: string, url: string, authorization?: string) => {
  const headers = authorization === undefined ? {} : { authorization }
  const reply = await w.server.app.inject({ url: `/api${url}`, remoteAddress, headers })
  return { status: reply.statusCode, headers: reply.headers, json: reply.json() }
}

describe('a principal', () => {
  test('gets RateLimit headers in every answer', async () => {
    const { token } = await tenantWith({ principal: [2, 10], tenant: [5, 50] })
    const { headers } = await me(token)
    expect(headers['ratelimit-policy']).toBe('"principal";q=10;w=5, "tenant";q=50;w=10')
    expect(headers['ratelimit']).toBe('"principal";r=9;t=1, "tenant";r=49;t=1')
    expect((await me(token)).headers['ratelimit']).toBe('"principal";r=8;t=1, "tenant";r=48;t=1')
    const missing = await w.call('GET /users?x=1', { token })
    expect([missing.status, missing.headers['ratelimit']]).toEqual([422, '"principal";r=7;t=2, "tenant";r=47;t=1'])
  })

  test('gets 429 with Retry-After when its bucket is empty, and is served when it has refilled', async () => {
    const { token, tenant_id } = await tenantWith({ principal: [1, 3] })
    for (let n = 0; n < 3; n++) expect((await me(token)).status).toBe(200)
    const refused = await me(token)
    expect(refused.json).toMatchObject({ status: 429, code: 'rate_limited', retryable: true })
    expect(refused.headers['retry-after']).toBe('1')
    expect(refused.headers['ratelimit']).toContain('"principal";r=0;t=3')
    expect((await me(await w.token({ tenant_id }))).status).toBe(200)
    now_ms += 1000
    expect((await me(token)).status).toBe(200)
    expect((await me(token)).status).toBe(429)
  })

  test('shares one bucket among its tokens', async () => {
    const { tenant_id } = await tenantWith({ principal: [1, 1] })
    const principal = 'user:00000000-0000-7000-8000-000000000001'
    expect((await me(await w.token({ tenant_id, principal }))).status).toBe(200)
    expect((await me(await w.token({ tenant_id, principal }))).status).toBe(429)
  })

  test("does not use the tenant's bucket while it is refused", async () => {
    const { token, tenant_id } = await tenantWith({ principal: [1, 3], tenant: [1, 10] })
    for (let n = 0; n < 50; n++) await me(token)
    const other = await me(await w.token({ tenant_id }))
    expect([other.status, other.headers['ratelimit']]).toEqual([200, expect.stringContaining('"tenant";r=6;')])
  })

  test('gets a longer Retry-After when its bucket refills slowly', async () => {
    const { token } = await tenantWith({ principal: [1, 100] })
    for (let n = 0; n < 100; n++) await me(token)
    expect((await me(token)).headers['ratelimit-policy']).toContain('"principal";q=100;w=100')
  })
})

describe('a tenant', () => {
  test('is limited as a whole, independently of other tenants', async () => {
    const { tenant_id } = await tenantWith({ tenant: [1, 2] })
    const people = await Promise.all([1, 2, 3].map(() => w.token({ tenant_id })))
    const statuses: number[] = []
    for (const token of people) statuses.push((await me(token)).status)
    expect(statuses).toEqual([200, 200, 429])
    const { token } = await tenantWith({})
    expect((await me(token)).status).toBe(200)
  })

  test('has the default limits without rows of its own', async () => {
    const { token } = await tenantWith({})
    const { principal, tenant } = defaultLimits
    expect((await me(token)).headers['ratelimit']).toBe(
      `"principal";r=${principal.burst - 1};t=1, "tenant";r=${tenant.burst - 1};t=1`,
    )
  })

  test('gets changed limits without a restart', async () => {
    const { token, tenant_id } = await tenantWith({ principal: [1, 1] })
    await me(token)
    expect((await me(token)).status).toBe(429)
    await setLimits(tenant_id, { principal: [1000, 1000] })
    // Past the age at which a request waits for the new status of the tenant.
    now_ms += 4001
    expect((await me(token)).headers['ratelimit']).toContain('"principal";r=999')
  })
})

describe('requests in flight', () => {
  test('are counted per tenant while they run', async () => {
    const { token, tenant_id } = await tenantWith({ in_flight: [1, 2] })
    const gates = ['one', 'two'].map((name) => rehearsal.hold(name))
    const running = ['one', 'two'].map((name) => w.call(`GET /rehearsal/pauses?name=${name}`, { token }))
    await Promise.all(gates.map(({ arrived }) => arrived))
    const refused = await me(await w.token({ tenant_id }))
    expect(refused.json).toMatchObject({ status: 429, code: 'concurrency_limited', retryable: true })
    expect(refused.headers['retry-after']).toBe('1')
    expect(refused.headers['ratelimit']).toContain('"principal"')
    const { token: elsewhere } = await tenantWith({})
    expect((await me(elsewhere)).status).toBe(200)
    for (const gate of gates) gate.release()
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200])
    expect((await me(token)).status).toBe(200)
  })

  test('are released by every answer, also by refusals and failures', async () => {
    const { token } = await tenantWith({ in_flight: [1, 1] })
    const codes: string[] = []
    for (const at of [
      'GET /users?x=1',
      'GET /users/x',
      'POST /rehearsal/accidents',
      'GET /jobs?cursor=A',
      'GET /users',
    ]) {
      const body = at.startsWith('POST') ? { body: { name: 'accident' } } : {}
      codes.push((await w.call(at, { token, ...body })).json.code)
    }
    expect(codes).toEqual(['validation_failed', 'validation_failed', 'internal', 'cursor_not_found', undefined])
    const { json } = await w.call('GET /limits', { token })
    expect(json.buckets).toContainEqual({ bucket: 'in_flight', limit: 1, remaining: 0, reset_s: 0 })
  })
})

describe('an anonymous address', () => {
  const { burst } = defaultLimits.anonymous

  test('gets 401 for a bad token until its bucket is empty, then 429', async () => {
    const address = '192.0.2.1'
    for (let n = 0; n < burst; n++) expect((await from(address, '/auth/me', 'Bearer bad')).status).toBe(401)
    const refused = await from(address, '/auth/me', 'Bearer bad')
    expect(refused.json).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(refused.headers['retry-after']).toBe('1')
    expect(refused.headers['ratelimit']).toBe(`"anonymous";r=0;t=${burst / defaultLimits.anonymous.per_second}`)
    expect((await from(address, '/auth/me')).status).toBe(429)
    expect((await from('192.0.2.2', '/auth/me', 'Bearer bad')).status).toBe(401)
    now_ms += 20
    expect((await from(address, '/auth/me', 'Bearer bad')).status).toBe(401)
    expect((await from(address, '/auth/me', 'Bearer bad')).status).toBe(429)
  })

  test('with an empty bucket does not block verified tokens from the same address', async () => {
    const address = '192.0.2.3'
    const [known, unknown] = [`Bearer ${await w.token()}`, `Bearer ${await w.token()}`]
    expect((await from(address, '/auth/me', known)).status).toBe(200)
    for (let n = 0; n < burst; n++) w.kernel.limits.takeAnonymous(address)
    expect((await from(address, '/auth/me')).status).toBe(429)
    expect((await from(address, '/auth/me', known)).status).toBe(200)
    expect((await from(address, '/auth/me', unknown)).status).toBe(429)
    now_ms += 20
    expect((await from(address, '/auth/me', unknown)).status).toBe(200)
  })

  test('has a bucket for public operations, shown in RateLimit headers', async () => {
    const address = '192.0.2.4'
    const first = await from(address, '/version')
    expect(first.headers['ratelimit-policy']).toBe(`"anonymous";q=${burst};w=10`)
    expect(first.headers['ratelimit']).toBe(`"anonymous";r=${burst - 1};t=1`)
    for (let n = 1; n < burst; n++) w.kernel.limits.takeAnonymous(address)
    expect((await from(address, '/version')).json.code).toBe('rate_limited')
    const exchange = { method: 'POST', url: '/api/auth/token', remoteAddress: address } as const
    const guess = await w.server.app.inject({ ...exchange, payload: { api_key: 'pk_guess' } })
    expect(guess.statusCode).toBe(429)
  })

  test('may call the probes without limit', async () => {
    const address = '192.0.2.5'
    for (let n = 0; n < burst; n++) w.kernel.limits.takeAnonymous(address)
    for (const url of ['/health', '/health/ready']) {
      const reply = await from(address, url)
      expect(reply.status).toBe(200)
      expect(reply.headers['ratelimit']).toBeUndefined()
    }
  })
})

describe('several processes on one database', () => {
  type Processes = { get: (token: string) => Promise<number>; registry: ProcessRegistry; close: () => Promise<unknown> }
  const kind = { serves_requests: true, runs_jobs: false }

  async function open(count: number): Promise<Processes[]> {
    const first: Processes = {
      get: async (token) => (await me(token)).status,
      registry: w.runtime.createProcessRegistry(kind),
      close: async () => {},
    }
    const others = await Promise.all(
      Array.from({ length: count - 1 }, async () => {
        const process = await startSecondProcess(w)
        return {
          get: async (token: string) => (await process.get('/api/auth/me', token)).status,
          registry: process.runtime.createProcessRegistry(kind),
          close: process.close,
        }
      }),
    )
    return [first, ...others]
  }
  const beatAll = async (processes: readonly Processes[]) => {
    // The first round makes them known, the second one tells all of them.
    for (let round = 0; round < 2; round++) for (const { registry } of processes) await registry.sendHeartbeat()
  }
  /** As fast as each of them lets it, for six seconds. */
  async function hammer(processes: readonly Processes[], token: string): Promise<number> {
    let served = 0
    for (let second = 0; second <= 6; second++) {
      for (const { get } of processes) while ((await get(token)) === 200) served++
      now_ms += 1000
    }
    return served
  }
  const limits = { principal: [20, 20], tenant: [20, 20] } as Rows
  const FULL = 20 + 6 * 20

  test('share a limit: three serve at most 1.2 times what one serves', async () => {
    const processes = await open(3)
    await beatAll(processes)
    const { token } = await tenantWith(limits)
    const together = await hammer(processes, token)
    expect(together).toBeLessThanOrEqual(1.2 * FULL)
    expect(together).toBeGreaterThanOrEqual(0.8 * FULL)

    // Two leave: the third has all of it from its next heartbeat on.
    const [alone, ...others] = processes as [Processes, ...Processes[]]
    for (const { registry, close } of others) {
      await registry.stop()
      await close()
    }
    await alone.registry.sendHeartbeat()
    const { token: next } = await tenantWith(limits)
    expect(await hammer([alone], next)).toBe(FULL)
    await alone.registry.stop()
  })

  test('count until 15 seconds after their last sign of life; workers do not count', async () => {
    const [own] = (await open(1)) as [Processes]
    const seen = async (age: string, serves_requests: boolean) => {
      await w.runtime.database.write(fullScope(SYSTEM_TENANT, 'operator:test'), (tx) =>
        tx.run(
          `insert into app.process (tenant_id, process_id, serves_requests, runs_jobs, seen_at) values ($1, $2, $3, true, now() - $4::interval)
           on conflict on constraint process_pkey do update set serves_requests = $3, seen_at = now() - $4::interval`,
          [SYSTEM_TENANT, OTHER, serves_requests, age],
        ),
      )
      await own.registry.sendHeartbeat()
      const { token } = await tenantWith({ principal: [1, 20] })
      return (await me(token)).headers['ratelimit-policy']
    }
    const OTHER = '00000000-0000-7000-8000-00000000000a'
    expect(await seen('10 seconds', true)).toContain('"principal";q=10;w=20')
    expect(await seen('10 seconds', false)).toContain('"principal";q=20;w=20')
    expect(await seen('16 seconds', true)).toContain('"principal";q=20;w=20')
    await own.registry.stop()
  })

  test('take turns at work that one of them can do', async () => {
    const worker = { serves_requests: false, runs_jobs: true }
    const registries = [1, 2, 3].map(() => w.runtime.createProcessRegistry(worker))
    const alone = registries[0] as ProcessRegistry
    expect(alone.isTurn(500)).toBe(true)
    for (let round = 0; round < 2; round++) for (const registry of registries) await registry.sendHeartbeat()
    for (let turn = 0; turn < 6; turn++)
      expect(registries.filter((registry) => registry.isTurn(500, turn * 500))).toHaveLength(1)
    for (const registry of registries.slice(1)) await registry.stop()
    await alone.sendHeartbeat()
    for (let turn = 0; turn < 3; turn++) expect(alone.isTurn(500, turn * 500)).toBe(true)
    await alone.stop()
  })
})

describe('GET /limits', () => {
  test('shows which bucket is empty', async () => {
    const { token } = await tenantWith({ principal: [1, 20], tenant: [2, 30], in_flight: [1, 8] })
    await me(token)
    const { status, json } = await w.call('GET /limits', { token })
    expect(status).toBe(200)
    expect(json).toEqual({
      buckets: [
        { bucket: 'principal', limit: 20, remaining: 18, reset_s: 2 },
        { bucket: 'tenant', limit: 30, remaining: 28, reset_s: 1 },
        { bucket: 'mcp', limit: 50, remaining: 50, reset_s: 0 },
        { bucket: 'in_flight', limit: 8, remaining: 7, reset_s: 0 },
      ],
    })
  })
})
