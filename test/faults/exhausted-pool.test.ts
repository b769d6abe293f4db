/** F6: when every connection is in use, other requests get 503 after a bounded wait, the process stays alive and recovers. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { createKeySet } from '#kernel/auth/key-sets.ts'
import { fail } from '#kernel/problem.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { createTestModule, type HandlerGate } from '../support/test-module.ts'

const rehearsal = createTestModule()
const POOL_SIZE = 4
let w: TestApp
beforeAll(async () => {
  w = await startTestApp({ modules: [...modules, rehearsal.module], pool_size: POOL_SIZE, wait_ms: 400 })
})
afterAll(() => w.close())

/** Writes that stand inside their transactions, each on a connection of its own. */
async function hold(token: string, names: readonly string[]) {
  const gates = new Map<string, HandlerGate>(names.map((name) => [name, rehearsal.hold(name)]))
  const writing = names.map((name) => w.call('POST /rehearsal/marks', { token, body: { name } }))
  await Promise.all([...gates.values()].map(({ arrived }) => arrived))
  return {
    release: async () => {
      for (const gate of gates.values()) gate.release()
      return (await Promise.all(writing)).map(({ status }) => status)
    },
  }
}

test('other requests get 503 with Retry-After, liveness is answered, and afterwards requests are served', async () => {
  const [one, two, other] = await Promise.all(
    [w.makeTenant(), w.makeTenant(), w.makeTenant()].map(async (made) => w.token({ tenant_id: await made })),
  )
  const held = [await hold(one as string, ['one-a', 'one-b']), await hold(two as string, ['two-a', 'two-b'])]
  expect(w.runtime.database.semaphore.inUse).toBe(POOL_SIZE)

  const asked = { token: other as string }
  const refused = await Promise.all([
    w.call('GET /users', asked),
    w.call('GET /tenant', asked),
    w.call('POST /users', { ...asked, body: { name: 'Ada', email: 'ada@example.com', roles: [] } }),
  ])
  for (const { status, headers, json } of refused) {
    expect([status, json.code, json.retryable]).toEqual([503, 'overloaded', true])
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/)
  }
  expect((await w.call('GET /health')).status).toBe(200)
  expect((await w.call('GET /version')).status).toBe(200)
  const ready = await w.call('GET /health/ready')
  expect([ready.status, ready.json.checks.database.status]).toEqual([503, 'failed'])
  // Nobody was let in meanwhile, and nobody is left waiting.
  expect([w.runtime.database.semaphore.inUse, w.runtime.database.semaphore.waiting]).toEqual([POOL_SIZE, 0])

  expect((await Promise.all(held.map(({ release }) => release()))).flat()).toEqual([201, 201, 201, 201])
  expect((await w.call('GET /users', asked)).status).toBe(200)
  expect((await w.call('GET /health/ready')).status).toBe(200)
  await expect.poll(() => w.runtime.database.semaphore.inUse).toBe(0)
})

test('one tenant cannot hold all connections: its third write waits, another tenant is served', async () => {
  const [greedy, other] = await Promise.all([w.makeTenant(), w.makeTenant()])
  const token = await w.token({ tenant_id: greedy })
  const held = await hold(token, ['greedy-a', 'greedy-b'])
  const third = await w.call('POST /rehearsal/marks', { token, body: { name: 'greedy-c' } })
  expect([third.status, third.json.code]).toEqual([503, 'overloaded'])
  expect((await w.call('GET /users', { token: await w.token({ tenant_id: other }) })).status).toBe(200)
  expect(await held.release()).toEqual([201, 201])
  expect((await w.call('POST /rehearsal/marks', { token, body: { name: 'greedy-c' } })).status).toBe(201)
})

test('a request whose wait for signing keys timed out gets 503 without waiting again', async () => {
  let now_ms = 0
  let busy = false
  const keys = createKeySet(
    { kind: 'static', jwks: async () => (busy ? fail('overloaded', { retry_after_s: 1 }) : []) },
    { now: () => now_ms },
  )
  expect(await keys.find('ES256', 'any')).toBeUndefined()
  busy = true
  now_ms = 6000
  await expect(keys.find('ES256', 'any')).rejects.toMatchObject({ code: 'overloaded' })
  busy = false
  now_ms = 12_000
  expect(await keys.find('ES256', 'any')).toBeUndefined()
})
