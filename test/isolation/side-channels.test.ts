/**
 * What one tenant could learn of another without reading a row: cursors, idempotency keys, entity tags, events, uniqueness,
 * locks, revocations, keys, limits. Each must answer as if the other tenant did not exist.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mintApiKey, parseApiKey } from '#kernel/auth/api-key.ts'
import { tryLockIdempotencyKey } from '#kernel/request/queries.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant, type Person } from '../support/example-tenant.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let one: ExampleTenant
let two: ExampleTenant
let tokens: { one: string; two: string }
/** The same person id in both tenants: only the tenant tells their callers apart. */
const person: Person = `user:${uuidv7()}`

beforeAll(async () => {
  w = await startTestApp()
  ;[one, two] = await Promise.all([ExampleTenant.create(w), ExampleTenant.create(w)])
  tokens = { one: await one.token(undefined, person), two: await two.token(undefined, person) }
})
afterAll(() => w.close())

const withoutInstance = ({ status, json }: Reply) => {
  const { instance: _, request_id: __, ...body } = json
  return { status, body }
}
const invitation = () => ({ name: 'Ada', email: `${uuidv7()}@example.com`, roles: ['viewer'] })

describe('cursors', () => {
  test('of another tenant are answered like invented ones', async () => {
    for (let i = 0; i < 2; i++) {
      await one.newUser()
      await two.newUser()
    }
    const { json } = await w.call('GET /users?limit=1', { token: tokens.one })
    expect(json.next_cursor).toEqual(expect.any(String))
    expect((await w.call(`GET /users?limit=1&cursor=${json.next_cursor}`, { token: tokens.one })).status).toBe(200)
    const foreign = await w.call(`GET /users?limit=1&cursor=${json.next_cursor}`, { token: tokens.two })
    const madeUp = await w.call(`GET /users?limit=1&cursor=${'A'.repeat(json.next_cursor.length)}`, {
      token: tokens.two,
    })
    expect([foreign.status, foreign.json.code]).toEqual([404, 'cursor_not_found'])
    expect(withoutInstance(foreign)).toEqual(withoutInstance(madeUp))
  })

  test('do not continue another listing of the same tenant', async () => {
    const { json } = await w.call('GET /users?limit=1', { token: tokens.one })
    expect((await w.call(`GET /jobs?limit=1&cursor=${json.next_cursor}`, { token: tokens.one })).status).toBe(404)
  })
})

describe('idempotency keys', () => {
  test('are independent: the same principal, key and body in two tenants create two resources', async () => {
    const headers = { 'idempotency-key': uuidv7() }
    const body = invitation()
    const first = await w.call('POST /users', { token: tokens.one, body, headers })
    const second = await w.call('POST /users', { token: tokens.two, body, headers })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.headers['idempotency-replayed']).toBeUndefined()
    expect(second.json.user_id).not.toBe(first.json.user_id)
    const again = await w.call('POST /users', { token: tokens.one, body, headers })
    expect([again.headers['idempotency-replayed'], again.text]).toEqual(['true', first.text])
  })

  test('with another body cause no conflict in another tenant', async () => {
    const headers = { 'idempotency-key': uuidv7() }
    await w.call('POST /users', { token: tokens.one, body: invitation(), headers })
    expect((await w.call('POST /users', { token: tokens.one, body: invitation(), headers })).json.code).toBe(
      'idempotency_key_reused',
    )
    expect((await w.call('POST /users', { token: tokens.two, body: invitation(), headers })).status).toBe(201)
  })

  test('locked by one tenant are free for another', async () => {
    const key = uuidv7()
    const headers = { 'idempotency-key': key }
    const body = invitation()
    await one.write(async (tx) => {
      expect(await tryLockIdempotencyKey(tx, { principal: person, operation: 'createUser', key })).toBe(true)
      const own = await w.call('POST /users', { token: tokens.one, body, headers })
      expect(own.json.code).toBe('idempotency_in_progress')
      expect((await w.call('POST /users', { token: tokens.two, body, headers })).status).toBe(201)
    })
  })
})

describe('jobs and entity tags', () => {
  test("return 404 without an ETag for another tenant's job and its events", async () => {
    const job_id = await one.endedJob()
    const own = await w.call(`GET /jobs/${job_id}`, { token: tokens.one })
    const etag = String(own.headers['etag'])
    const unchanged = await w.call(`GET /jobs/${job_id}`, { token: tokens.one, headers: { 'if-none-match': etag } })
    expect([own.status, unchanged.status]).toEqual([200, 304])
    for (const path of [`/jobs/${job_id}`, `/jobs/${job_id}/events`, `/jobs/${job_id}?wait=8`]) {
      const [foreign, unknown] = await Promise.all(
        [path, path.replace(job_id, uuidv7())].map((at) =>
          w.call(`GET ${at}`, { token: tokens.two, headers: { 'if-none-match': etag } }),
        ),
      )
      expect(foreign?.status).toBe(404)
      expect(withoutInstance(foreign as Reply)).toEqual(withoutInstance(unknown as Reply))
    }
  })

  test('If-Match does not reveal the revision of a foreign resource', async () => {
    const user_id = await one.user()
    const { headers } = await w.call(`GET /users/${user_id}`, { token: tokens.one })
    for (const match of [String(headers['etag']), '"999"', '*']) {
      const reply = await w.call(`PATCH /users/${user_id}`, {
        token: tokens.two,
        body: { team: 'x' },
        headers: { 'if-match': match },
      })
      expect([match, reply.status]).toEqual([match, 404])
    }
  })
})

describe('uniqueness', () => {
  test('an email address used in another tenant is free', async () => {
    const body = invitation()
    expect((await w.call('POST /users', { token: tokens.one, body })).status).toBe(201)
    expect((await w.call('POST /users', { token: tokens.one, body })).status).toBe(409)
    expect((await w.call('POST /users', { token: tokens.two, body })).status).toBe(201)
  })
})

describe('tokens and keys', () => {
  test('revoking a token id in one tenant does not revoke the same id in another', async () => {
    const me = await w.call('GET /auth/me', { token: tokens.two })
    const revoked = await w.call('POST /auth/token/revoke', {
      token: tokens.one,
      body: { token_id: me.json.token_id },
    })
    expect(revoked.status).toBe(200)
    w.kernel.tenantStatusCache.invalidate(two.tenant_id)
    expect((await w.call('GET /auth/me', { token: tokens.two })).status).toBe(200)
  })

  test('deactivating a user in one tenant does not deactivate the same id in another', async () => {
    const user_id = await one.newUser()
    const token = await two.token(undefined, `user:${user_id}`)
    expect((await w.call(`POST /users/${user_id}/deactivate`, { token: tokens.one })).status).toBe(200)
    w.kernel.tenantStatusCache.invalidate(two.tenant_id)
    expect((await w.call('GET /auth/me', { token })).status).toBe(200)
    const own = await one.token(undefined, `user:${user_id}`)
    expect((await w.call('GET /auth/me', { token: own })).json.code).toBe('token_revoked')
  })

  test("a key's id and secret are answered like invented ones under another tenant", async () => {
    const { key_id } = await one.key()
    const exchange = (api_key: string) => w.call('POST /auth/token', { body: { api_key } })
    const [renamed, invented] = [mintApiKey(two.tenant_id, key_id).text, mintApiKey(two.tenant_id, uuidv7()).text]
    expect(parseApiKey(renamed)?.tenant_id).toBe(two.tenant_id)
    const [foreign, unknown] = [await exchange(renamed), await exchange(invented)]
    expect([foreign.status, foreign.json.code]).toEqual([401, 'api_key_invalid'])
    expect(withoutInstance(foreign)).toEqual(withoutInstance(unknown))
  })
})

describe('limits and counts', () => {
  test("one tenant's usage does not count against another's limits", async () => {
    const remaining = async (token: string) =>
      (await w.call('GET /limits', { token })).json.buckets.map(({ remaining: left }: { remaining: number }) => left)
    const before = await remaining(tokens.two)
    for (let i = 0; i < 20; i++) await w.call('GET /tenant', { token: tokens.one })
    const after = await remaining(tokens.two)
    for (const [i, left] of before.entries()) expect(after[i]).toBeGreaterThanOrEqual(left - 2)
  })

  test('listings hold and count only rows of their tenant', async () => {
    const all = async (token: string, path: string) => (await w.call(`GET ${path}`, { token })).json.items
    for (const path of ['/users?limit=200', '/api-keys?limit=200', '/jobs?limit=200', '/change-requests?limit=200']) {
      const [mine, theirs] = [await all(tokens.one, path), await all(tokens.two, path)]
      const ids = new Set(mine.map((item: object) => Object.values(item)[0]))
      expect(theirs.filter((item: object) => ids.has(Object.values(item)[0]))).toEqual([])
    }
  })
})
