/** A process whose database is far behind refuses at the door: the same answer as ever, for a fraction of the work. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Problem, problemBody } from '../../src/kernel/problem.ts'
import { uuidv7 } from '../../src/kernel/uuid.ts'
import { type World, world } from '../support/world.ts'

const POOL_SIZE = 2
const ENOUGH = 50 * POOL_SIZE

let w: World
let base: string
let token: string
beforeAll(async () => {
  w = await world({ pool_size: POOL_SIZE })
  base = await w.listen()
  token = await w.token({ tenant_id: await w.makeTenant() })
})
afterAll(() => w.close())

/** So many wait as to fill the process, each of them of another tenant, until the body is through. */
async function behind<T>(body: () => Promise<T>): Promise<T> {
  const { gate } = w.runtime.database
  const tenants = Array.from({ length: POOL_SIZE + ENOUGH }, () => uuidv7())
  const entering = tenants.map(async (tenant) => {
    await gate.enter(tenant)
    return tenant
  })
  try {
    return await body()
  } finally {
    // Whoever leaves lets the next one in.
    for (const entered of entering) gate.leave(await entered)
  }
}

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${base}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } })

const plain = (reply: Response) =>
  Object.fromEntries([...reply.headers].filter(([name]) => !/^(date|content-length)$/.test(name)))

test('the answer is like any other, with its own id', async () => {
  const request_id = uuidv7()
  const headers = { 'x-request-id': request_id }
  const ordinary = await ask('/api/nowhere', headers)
  const refused = await behind(() => ask('/api/tenant', headers))
  expect([ordinary.status, refused.status]).toEqual([404, 503])
  expect(plain(refused)).toEqual({ ...plain(ordinary), 'retry-after': '1' })
  expect(await refused.json()).toEqual(problemBody(new Problem('overloaded'), request_id))
  expect((await ask('/api/tenant')).status).toBe(200)
})

test('a request with a body is refused too, and its connection goes on', async () => {
  const send = () =>
    fetch(`${base}/api/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x'.repeat(100_000) }),
    })
  expect(await behind(async () => [(await send()).status, (await send()).status])).toEqual([503, 503])
  expect((await ask('/api/tenant')).status).toBe(200)
})

test('probes of life, and who needs no database or must be allowed to read the answer, are let through', async () => {
  await behind(async () => {
    expect((await ask('/api/health')).status).toBe(200)
    expect((await ask('/health')).status).toBe(200)
    expect((await ask('/')).status).not.toBe(503)
    expect((await ask('/api/nowhere')).status).toBe(503)
    expect((await ask('/api/nowhere', { origin: 'https://console.example' })).status).toBe(404)
  })
})
