/**
 * A process whose database queue is full refuses requests before routing, as it does for callers far beyond their limit: the
 * same answer as ever, for a fraction of the work.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { Problem } from '#kernel/problem.ts'
import { toProblemBody } from '#kernel/problem-body.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const POOL_SIZE = 2
const ENOUGH = 50 * POOL_SIZE

let w: TestApp
let base: string
let token: string
beforeAll(async () => {
  w = await startTestApp({ pool_size: POOL_SIZE })
  base = await w.listen()
  token = await w.token({ tenant_id: await w.makeTenant() })
})
afterAll(() => w.close())

/** So many wait as to fill the process, each of them of another tenant, until the body is through. */
async function behind<T>(body: () => Promise<T>): Promise<T> {
  const { semaphore: gate } = w.runtime.database
  const tenants = Array.from({ length: POOL_SIZE + ENOUGH }, () => uuidv7())
  const entering = tenants.map(async (tenant) => {
    await gate.acquire(tenant)
    return tenant
  })
  try {
    return await body()
  } finally {
    // Whoever leaves lets the next one in.
    for (const entered of entering) gate.release(await entered)
  }
}

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${base}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } })

const plain = (reply: Response) =>
  Object.fromEntries([...reply.headers].filter(([name]) => !/^(date|content-length)$/.test(name)))

test('the refusal has all headers and a request id of its own', async () => {
  const request_id = uuidv7()
  const headers = { 'x-request-id': request_id }
  const ordinary = await ask('/api/nowhere', headers)
  const refused = await behind(() => ask('/api/tenant', headers))
  expect([ordinary.status, refused.status]).toEqual([404, 503])
  expect(plain(refused)).toEqual({ ...plain(ordinary), 'retry-after': '1' })
  expect(await refused.json()).toEqual(toProblemBody(new Problem('overloaded'), request_id))
  expect((await ask('/api/tenant')).status).toBe(200)
})

test('a request with a body is refused too, and its connection stays usable', async () => {
  const send = () =>
    fetch(`${base}/api/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x'.repeat(100_000) }),
    })
  expect(await behind(async () => [(await send()).status, (await send()).status])).toEqual([503, 503])
  expect((await ask('/api/tenant')).status).toBe(200)
})

test('probes, preflight requests and operations without a database are served', async () => {
  await behind(async () => {
    expect((await ask('/api/health')).status).toBe(200)
    expect((await ask('/health')).status).toBe(200)
    expect((await ask('/')).status).not.toBe(503)
    expect((await ask('/api/nowhere')).status).toBe(503)
    expect((await ask('/api/nowhere', { origin: 'https://console.example' })).status).toBe(404)
  })
})

describe('far beyond a limit', () => {
  const ALLOWED = 5
  /** So many refusals are logged in full before those that follow within the second are refused before routing. */
  const IN_FULL = 100

  /** The clock is stopped, so buckets do not refill. */
  async function limited() {
    const tenant_id = await w.makeTenant()
    await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
      tx.run(`insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1, 'principal', 5, $2)`, [
        tenant_id,
        ALLOWED,
      ]),
    )
    let now_ms = Math.ceil(performance.now())
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now_ms)
    onTestFinished(() => clock.mockRestore())
    const mine = await w.token({ tenant_id })
    const wait = (ms: number) => {
      now_ms += ms
    }
    const call = (path: string, headers: Record<string, string> = {}) =>
      ask(path, { authorization: `Bearer ${mine}`, ...headers })
    const flood = async () => {
      const statuses: number[] = []
      for (let n = 0; n < ALLOWED + IN_FULL + 1; n++) statuses.push((await call('/api/tenant')).status)
      expect(statuses).toEqual(statuses.map((_, n) => (n < ALLOWED ? 200 : 429)))
    }
    return { tenant_id, mine, call, flood, wait }
  }

  test('a caller is refused before routing, with the body and headers of any 429', async () => {
    const { call } = await limited()
    const headers = { 'x-request-id': uuidv7() }
    for (let n = 0; n < ALLOWED; n++) await call('/api/tenant')
    const [ordinary, unknown] = [await call('/api/tenant', headers), await call('/api/nowhere', headers)]
    expect([ordinary.status, unknown.status]).toEqual([429, 404])
    for (let n = 0; n < IN_FULL; n++) expect((await call('/api/tenant')).status).toBe(429)
    const [refused, unseen] = [await call('/api/tenant', headers), await call('/api/nowhere', headers)]
    expect([refused.status, unseen.status]).toEqual([429, 429])
    expect(plain(refused)).toEqual(plain(ordinary))
    expect(plain(refused)).toMatchObject({ 'retry-after': '1', ratelimit: expect.stringContaining('"principal";r=0') })
    expect(await refused.json()).toEqual(await ordinary.json())
  })

  test('other callers of the tenant, other tenants and unknown tokens are not affected', async () => {
    const { tenant_id, flood } = await limited()
    await flood()
    const other = await w.token({ tenant_id })
    expect((await ask('/api/nowhere', { authorization: `Bearer ${other}` })).status).toBe(404)
    expect((await ask('/api/tenant', { authorization: `Bearer ${other}` })).status).toBe(200)
    expect((await ask('/api/nowhere')).status).toBe(404)
    expect((await ask('/api/tenant', { authorization: 'Bearer a.b.c' })).status).toBe(401)
  })

  test('requests are served again when the limit allows; probes and preflight requests always are', async () => {
    const { call, flood, wait } = await limited()
    await flood()
    expect((await call('/api/nowhere')).status).toBe(429)
    expect((await call('/api/health')).status).toBe(200)
    expect((await call('/api/nowhere', { origin: 'https://console.example' })).status).toBe(404)
    wait(201)
    expect((await call('/api/nowhere')).status).toBe(404)
    expect((await call('/api/tenant')).status).toBe(200)
  })

  test('a token revoked meanwhile gets token_revoked', async () => {
    const { tenant_id, mine, call, flood } = await limited()
    await flood()
    expect((await call('/api/tenant')).status).toBe(429)
    const { jti } = JSON.parse(Buffer.from(mine.split('.')[1] as string, 'base64url').toString())
    const officer = await w.token({ tenant_id })
    const body = { token_id: jti, reason: 'It floods us.' }
    expect((await w.call('POST /auth/token/revoke', { token: officer, body })).status).toBeLessThan(300)
    // Somebody else's request makes the process know of it, so that load shedding has to check it.
    expect((await ask('/api/tenant', { authorization: `Bearer ${officer}` })).status).toBe(200)
    expect((await call('/api/tenant')).status).toBe(401)
  })
})
