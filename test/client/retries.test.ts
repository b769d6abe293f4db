/** Retries against the real server through a faulty proxy. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, type ProbityClient } from '#client/index.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { createSimplePlugin } from '../support/example-plugin.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { assertCreated } from './assert-created.ts'
import { startFaultyProxy } from './faulty-proxy.ts'

let w: TestApp
let front: Awaited<ReturnType<typeof startFaultyProxy>>
let token: string
let probity: ProbityClient

beforeAll(async () => {
  w = await startTestApp()
  front = await startFaultyProxy(await w.listen())
  token = await w.token()
  probity = createClient({ url: front.url, token })
})
afterAll(async () => {
  await front?.close()
  await w?.close()
})

const busy = (retry_after: string) => ({ status: 503, headers: { 'retry-after': retry_after } })
const invitation = (name: string) => ({ name, email: `${name}@example.com`, roles: [] })
const usersNamed = async (name: string) => {
  const users = []
  for await (const user of probity.paginate('/api/users')) if (user.name === name) users.push(user)
  return users.length
}

test('a GET waits for Retry-After and succeeds', async () => {
  front.expect(busy('1'), busy('0'))
  expect((await probity.GET('/api/auth/me')).principal).toMatch(/^user:/)
  const [first, second, third] = front.seen
  expect(front.seen).toHaveLength(3)
  expect((second?.at_ms ?? 0) - (first?.at_ms ?? 0)).toBeGreaterThan(990)
  expect(third?.headers.authorization).toBe(`Bearer ${token}`)
})

test('Retry-After may be a date', async () => {
  front.expect(busy(new Date(Date.now() - 5000).toUTCString()))
  await probity.GET('/api/auth/me')
  expect(front.seen).toHaveLength(2)
})

test('a 503 that is not worth repeating is not repeated', async () => {
  const plugin_key = 'disabled-plugin'
  const calls = { token: await w.token() }
  await w.call('POST /plugins', { ...calls, body: { plugin_key, package: createSimplePlugin(plugin_key) } })
  await w.call(`POST /plugins/${plugin_key}/disable`, { ...calls, body: { reason: 'Wrong scores' } })
  front.expect()
  const run = probity.POST('/api/plugins/{plugin_key}/versions/{version}/run', {
    params: { path: { plugin_key, version: '1' } },
    body: { input: {} },
  })
  await expect(run).rejects.toMatchObject({ status: 503, code: 'plugin_invalid', retryable: false })
  expect(front.seen).toHaveLength(1)
})

test('broken connections are retried without Retry-After', async () => {
  front.expect('hang_up', { status: 503 }, 'lose')
  await probity.GET('/api/auth/me')
  expect(front.seen).toHaveLength(4)
})

test('502 and 504 of a proxy are retried for GET and POST', async () => {
  front.expect({ status: 502 }, { status: 504 })
  await probity.GET('/api/auth/me')
  expect(front.seen).toHaveLength(3)
  front.expect({ status: 502 })
  await probity.POST('/api/users', { body: invitation('behind-a-proxy') })
  expect(front.seen).toHaveLength(2)
  expect(await usersNamed('behind-a-proxy')).toBe(1)
})

test('attempts are limited, and the last response is thrown', async () => {
  front.expect(busy('0'), busy('0'), busy('0'), busy('0'))
  await expect(probity.GET('/api/auth/me')).rejects.toMatchObject({
    code: 'unreadable_answer',
    status: 503,
    retryable: true,
    retry_after_s: 0,
  })
  expect(front.seen).toHaveLength(4)
  front.expect('hang_up', 'hang_up', 'hang_up', 'hang_up')
  await expect(probity.GET('/api/auth/me')).rejects.toMatchObject({ code: 'unreachable', status: 0, retryable: true })
})

test('a Retry-After above the limit is thrown', async () => {
  front.expect(busy('31'))
  await expect(probity.GET('/api/auth/me')).rejects.toMatchObject({ status: 503, retry_after_s: 31 })
  expect(front.seen).toHaveLength(1)
})

test('a POST whose response is lost takes effect once, because all attempts carry the same key', async () => {
  front.expect('lose', 'hang_up')
  const user = assertCreated(await probity.POST('/api/users', { body: invitation('once') }))
  expect(user.email).toBe('once@example.com')
  const keys = front.seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(await usersNamed('once')).toBe(1)
})

test('each call has its own key unless the caller gives one', async () => {
  front.expect()
  await probity.POST('/api/users', { body: invitation('key-one') })
  await probity.POST('/api/users', { body: invitation('key-two') })
  const given = { body: invitation('key-three'), idempotency_key: 'mine' }
  const [first, again] = [await probity.POST('/api/users', given), await probity.POST('/api/users', given)]
  expect(again).toEqual(first)
  const keys = front.seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys[0]).not.toBe(keys[1])
  expect(keys.slice(2)).toEqual(['mine', 'mine'])
})

test('a running earlier attempt is waited for', async () => {
  const problem = {
    title: 'Still running',
    code: 'idempotency_in_progress',
    detail: 'Wait.',
    status: 409,
    retryable: true,
  }
  front.expect({ status: 409, headers: { 'retry-after': '0' }, body: JSON.stringify(problem) })
  await probity.POST('/api/users', { body: invitation('patient') })
  expect(front.seen).toHaveLength(2)
})

test('PUT, PATCH and DELETE are retried only after 429', async () => {
  const user = assertCreated(await probity.POST('/api/users', { body: invitation('patched') }))
  const params = { path: { user_id: user.user_id } }
  for (const trouble of [busy('0'), 'lose'] as const) {
    front.expect(trouble)
    await expect(probity.PATCH('/api/users/{user_id}', { params, body: { team: 'North' } })).rejects.toThrow()
    expect(front.seen).toHaveLength(1)
  }
  front.expect({ status: 429, headers: { 'retry-after': '0' } })
  expect((await probity.PATCH('/api/users/{user_id}', { params, body: { team: 'South' } })).team).toBe('South')
  expect(front.seen).toHaveLength(2)
})

test('a 429 of the real server is retried', async () => {
  const tenant_id = await w.makeTenant()
  await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
    tx.run(`insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1, 'principal', 1, 2)`, [
      tenant_id,
    ]),
  )
  const own = await w.token({ tenant_id })
  const limited = createClient({ url: front.url, token: own })
  const impatient = createClient({ url: front.url, token: own, attempts: 1 })
  await limited.GET('/api/auth/me')
  await limited.GET('/api/auth/me')
  await expect(impatient.GET('/api/auth/me')).rejects.toMatchObject({
    code: 'rate_limited',
    status: 429,
    retry_after_s: 1,
  })
  front.expect()
  expect((await limited.GET('/api/auth/me')).tenant.tenant_id).toBe(tenant_id)
  expect(front.seen.length).toBeGreaterThan(1)
})

test('the caller can abort during a request and during a delay', async () => {
  const before = AbortSignal.abort(new Error('changed my mind'))
  await expect(probity.GET('/api/auth/me', { signal: before })).rejects.toThrow('changed my mind')
  front.expect(busy('20'))
  const controller = new AbortController()
  const waiting = probity.GET('/api/auth/me', { signal: controller.signal })
  await expect.poll(() => front.seen.length).toBe(1)
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  expect(front.seen).toHaveLength(1)
})
