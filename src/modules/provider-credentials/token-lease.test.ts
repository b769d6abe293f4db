/** Access tokens across processes: one request per expiry, whoever asks, and no stale token ever replaces a newer one. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { insertCredential, insertCredentialVersion } from './queries.ts'
import { discardToken, type FetchedToken, getAccessToken } from './token-lease.ts'
import { encryptSecret } from './with-credential.ts'

let w: TestApp
let t: ExampleTenant
let credential: { credential_id: string; version: number }
let fetched: string[]
beforeAll(async () => {
  w = await shareTestApp()
})
beforeEach(async () => {
  t = await ExampleTenant.create(w)
  credential = { credential_id: uuidv7(), version: 1 }
  fetched = []
  await t.write(async (tx) => {
    await insertCredential(tx, { ...credential, provider_key: 'acme', label: 'Main', environment: 'live' })
    const members = { client_id: 'us', client_secret: 'hush' }
    const encrypted = await encryptSecret(w.kernel, tx, credential, members)
    await insertCredentialVersion(tx, { ...credential, ...encrypted, members: Object.keys(members), expires_at: null })
  })
})
afterAll(() => w.close())

const transact = <T>(body: (tx: Tx) => Promise<T>) => t.write(body)

const get = (fetchToken: () => Promise<FetchedToken> = issue) =>
  getAccessToken(w.kernel, transact, {
    ...credential,
    is_verification: true,
    call_id: null,
    fetchToken: async (members) => {
      expect(members.get('client_secret')?.toString()).toBe('hush')
      return fetchToken()
    },
  })

async function issue(lifetime_s = 3600): Promise<FetchedToken> {
  const text = `token-${fetched.length + 1}`
  fetched.push(text)
  await sleep(20)
  return { text, lifetime_s }
}

const setToken = (assignment: string) =>
  t.write((tx) => tx.run(`update app.credential_token set ${assignment} where tenant_id = $1`, [t.tenant_id]))
const many = (count: number) => Promise.all(Array.from({ length: count }, () => get()))

test('a hundred callers cause one token request per expiry', async () => {
  const first = await many(50)
  expect(new Set(first.map(({ text }) => text))).toEqual(new Set(['token-1']))
  await setToken(`expires_at = now() - interval '1 s', refresh_at = now() - interval '1 s'`)
  const second = await many(50)
  expect(new Set(second.map(({ text }) => text))).toEqual(new Set(['token-2']))
  expect(fetched).toEqual(['token-1', 'token-2'])
})

test('a token that is due for replacement is used by the others while one fetches the next', async () => {
  await get()
  await setToken(`refresh_at = now() - interval '1 s'`)
  const texts = (await many(20)).map(({ text }) => text)
  expect(new Set(texts)).toEqual(new Set(['token-1', 'token-2']))
  expect(fetched).toHaveLength(2)
})

test('recovers when the token endpoint was down', async () => {
  await expect(get(async () => Promise.reject(new Error('down')))).rejects.toThrow('down')
  await setToken('lease_until = now()')
  expect((await get()).text).toBe('token-1')
})

test('whoever lost the lease stores nothing and uses the newer token', async () => {
  let calls = 0
  const late = get(async () => {
    if (calls++ > 0) return issue()
    // The lease ends while this process waits for its answer, and another one fetches a token.
    await setToken(`lease_until = now() - interval '1 s'`)
    expect((await get()).text).toBe('token-1')
    return { text: 'stale', lifetime_s: 3600 }
  })
  expect((await late).text).toBe('token-1')
  expect((await get()).text).toBe('token-1')
})

test('a refused token is replaced once, and one that was replaced meanwhile stays', async () => {
  const { token_no } = await get()
  await discardToken(transact, credential, token_no)
  expect((await get()).text).toBe('token-2')
  await discardToken(transact, credential, token_no)
  expect((await get()).text).toBe('token-2')
})

test('a token is stored encrypted, and every use of the client secret is recorded', async () => {
  await get()
  const { token } = (await t.write((tx) =>
    tx.find<{ token: Buffer }>('select token from app.credential_token where tenant_id = $1', [t.tenant_id]),
  )) as { token: Buffer }
  expect(token.includes('token-1')).toBe(false)
  const log = await t.make(`GET /provider-credentials/${credential.credential_id}/access-log`)
  expect(log.items).toMatchObject([{ purpose: 'token', version: 1 }])
})
