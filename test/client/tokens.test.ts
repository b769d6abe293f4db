/** Tokens from an API key: shared exchange, renewal, and exchange after a refusal. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { apiKeyTokens, createClient } from '#client/index.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { assertCreated } from './assert-created.ts'
import { startFaultyProxy } from './faulty-proxy.ts'

let w: TestApp
let front: Awaited<ReturnType<typeof startFaultyProxy>>
let api_key: string
let key_id: string

beforeAll(async () => {
  w = await startTestApp()
  front = await startFaultyProxy(await w.listen())
  const admin = createClient({ url: front.url, token: await w.token({ roles: ['tenant_admin'] }) })
  const { key, secret } = assertCreated(
    await admin.POST('/api/api-keys', { body: { name: 'nightly import', roles: ['viewer'] } }),
  )
  api_key = secret
  key_id = key.key_id
})
afterEach(() => vi.useRealTimers())
afterAll(async () => {
  await front?.close()
  await w?.close()
})

const exchanges = () => front.seen.filter(({ path }) => path === '/api/auth/token').length
/** Only the clock: timers stay real, because the server runs in this process too. */
const travel = (minutes: number) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 })
}

test('concurrent requests share one exchange', async () => {
  front.expect()
  const probity = createClient({ url: `${front.url}/`, api_key })
  const all = await Promise.all(Array.from({ length: 10 }, () => probity.GET('/api/auth/me')))
  expect(new Set(all.map(({ principal }) => principal))).toEqual(new Set([`key:${key_id}`]))
  expect(exchanges()).toBe(1)
})

test('a token is renewed before it expires, and used while renewal fails', async () => {
  front.expect()
  const probity = createClient({ url: front.url, api_key, attempts: 1 })
  const { token_id } = await probity.GET('/api/auth/me')
  travel(12)
  expect((await probity.GET('/api/auth/me')).token_id).toBe(token_id)
  travel(2)
  front.expect({ status: 503 })
  expect((await probity.GET('/api/auth/me')).token_id).toBe(token_id)
  expect((await probity.GET('/api/auth/me')).token_id).not.toBe(token_id)
  expect(exchanges()).toBe(2)
})

test('a refused token is exchanged once more', async () => {
  const reported: string[] = []
  const tokens = apiKeyTokens({ url: front.url, api_key, onToken: (token) => reported.push(token) })
  const probity = createClient({ url: front.url, token: tokens })
  await probity.GET('/api/auth/me')
  const refusal = { status: 401, headers: { 'content-type': 'application/problem+json' }, body: '{}' }
  front.expect(refusal)
  await probity.GET('/api/auth/me')
  expect(exchanges()).toBe(1)
  expect(new Set(reported).size).toBe(2)
  front.expect(refusal, 'none', refusal)
  await expect(probity.GET('/api/auth/me')).rejects.toMatchObject({ status: 401 })
  expect(front.seen).toHaveLength(3)
})

test('an invalid key throws with the first request', async () => {
  const probity = createClient({ url: front.url, api_key: `${api_key}x` })
  await expect(probity.GET('/api/auth/me')).rejects.toMatchObject({ code: 'api_key_invalid', status: 401 })
})

test('a token can come from a function, and public operations need none', async () => {
  const token = await w.token()
  for (const source of [token, () => token, async () => token]) {
    expect((await createClient({ url: front.url, token: source }).GET('/api/auth/me')).principal).toMatch(/^user:/)
  }
  const nobody = createClient({ url: front.url })
  expect((await nobody.GET('/api/health')).status).toBe('ok')
  await expect(nobody.GET('/api/auth/me')).rejects.toMatchObject({ code: 'token_missing' })
  expect(() => createClient({ url: front.url, token, api_key })).toThrow('not both')
})
