/** The fixed order of evaluation: of two faults the earlier one is always reported. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let admin: string
let viewer: string
let user_id: string
let addresses = 0

beforeAll(async () => {
  w = await startTestApp()
  admin = await w.token({ roles: ['tenant_admin'] })
  viewer = await w.token({ roles: ['viewer'] })
  const invited = { name: 'Ada', email: 'ada@example.com', roles: [] }
  user_id = (await w.call('POST /users', { token: admin, body: invited })).json.user_id
})
afterAll(() => w.close())
afterEach(() => {
  vi.restoreAllMocks()
})

/** With a stopped clock an empty bucket stays empty. */
const stopClock = () => vi.spyOn(performance, 'now').mockReturnValue(performance.now())

const code = async (...request: Parameters<TestApp['call']>) => {
  const { status, json } = await w.call(...request)
  return `${status} ${json?.code}`
}

/** An address of its own whose bucket is empty. */
function exhausted(): { address: string } {
  stopClock()
  const address = `192.0.2.${++addresses}`
  expect(() => {
    for (;;) w.kernel.limits.takeAnonymous(address)
  }).toThrow('rate_limited')
  return { address }
}

/** A tenant of its own whose principals may send one request and then none for long. */
async function slowTenant() {
  const tenant_id = await w.makeTenant()
  await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
    tx.run(`insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1, 'principal', 1, 1)`, [
      tenant_id,
    ]),
  )
  return tenant_id
}

const huge = `{"name":"${'x'.repeat(1024 * 1024)}`
const unknown = `/users/${uuidv7()}`

describe('before authentication', () => {
  test('returns 404 for an unknown path whatever else is wrong', async () => {
    const from = exhausted()
    const typed = (type: string) => ({ ...from, payload: '{', headers: { 'content-type': type } })
    expect(await code('GET /nowhere', from)).toBe('404 not_found')
    expect(await code('POST /nowhere', typed('application/json'))).toBe('404 not_found')
    expect(await code('POST /nowhere', typed('text/plain'))).toBe('404 not_found')
    expect(await code('QUERY /nowhere?limit=0', from)).toBe('404 not_found')
  })

  test('405 before 429', async () => {
    expect(await code('DELETE /users', exhausted())).toBe('405 method_not_allowed')
  })

  test('405 before 401, 415, 413 and 400', async () => {
    expect(await code('PUT /users', { payload: 'x', headers: { 'content-type': 'text/plain' } })).toBe(
      '405 method_not_allowed',
    )
    expect(await code('PUT /users', { payload: huge, headers: { 'content-type': 'application/json' } })).toBe(
      '405 method_not_allowed',
    )
  })

  test('429 of an empty anonymous bucket before 401', async () => {
    const from = exhausted()
    expect(await code('GET /users', from)).toBe('429 rate_limited')
    expect(await code('GET /users', { ...from, token: 'broken' })).toBe('429 rate_limited')
  })

  test('401 before any fault of the request itself', async () => {
    const headers = { accept: 'text/plain', 'content-type': 'text/plain' }
    expect(await code('PATCH /users/x?y=1', { payload: huge, headers })).toBe('401 token_missing')
  })
})

describe('after authentication', () => {
  test('401 before 429 of the principal, and that before 403', async () => {
    const tenant_id = await slowTenant()
    const principal = `user:${uuidv7()}` as const
    const { token, token_id } = await w.kernel.issuer.mint({ tenant_id, principal, roles: ['viewer'], lifetime_s: 60 })
    stopClock()
    expect(await code('GET /users', { token })).toBe('403 role_required')
    expect(await code('GET /users', { token })).toBe('429 rate_limited')
    const boss = await w.token({ tenant_id, roles: ['tenant_admin'] })
    expect((await w.call('POST /auth/token/revoke', { token: boss, body: { token_id } })).status).toBe(200)
    expect(await code('GET /users', { token })).toBe('401 token_revoked')
  })

  test('403 before 406', async () => {
    expect(await code('GET /users', { token: viewer, headers: { accept: 'text/plain' } })).toBe('403 role_required')
  })

  test('406 before 415 and 413', async () => {
    const accept = 'text/plain'
    expect(
      await code('POST /users', { token: admin, payload: 'x', headers: { accept, 'content-type': 'text/plain' } }),
    ).toBe('406 not_acceptable')
    expect(
      await code('POST /users', {
        token: admin,
        payload: huge,
        headers: { accept, 'content-type': 'application/json' },
      }),
    ).toBe('406 not_acceptable')
  })

  test('415 and 413 before 400', async () => {
    expect(
      await code('POST /users?a&a', { token: admin, payload: '{', headers: { 'content-type': 'text/plain' } }),
    ).toBe('415 media_type_unsupported')
    expect(
      await code('POST /users', { token: admin, payload: huge, headers: { 'content-type': 'application/json' } }),
    ).toBe('413 too_large')
  })
})

describe('400 before 422', () => {
  const json = { 'content-type': 'application/json' }

  test.each([
    ['unreadable body, invalid path', 'PATCH /users/x', { payload: '{', headers: json }],
    ['unreadable body, unknown query', `PATCH ${unknown}?x=1`, { payload: '{', headers: json }],
    ['missing body, invalid path', 'PATCH /users/x', {}],
    ['repeated parameter, another out of range', 'GET /users?limit=0&role=viewer&role=viewer', {}],
    ['repeated parameter, invalid path', 'GET /api-keys/x/usage?from_on=2026-01-01&from_on=2026-01-02', {}],
    ['query that is not UTF-8, unknown query', 'GET /users?x=%ff&y=1', {}],
    ['unusable Idempotency-Key, invalid body', 'POST /users', { body: {}, headers: { 'idempotency-key': 'a b' } }],
  ])('%s', async (_name, at, options) => {
    expect(await code(at, { token: admin, ...options })).toBe('400 malformed_request')
  })
})

describe('stored state is checked last', () => {
  test('422 before 404', async () => {
    expect(await code(`PATCH ${unknown}`, { token: admin, body: { name: '' } })).toBe('422 validation_failed')
    expect(await code(`GET ${unknown}?x=1`, { token: admin })).toBe('422 validation_failed')
  })

  test('404 before 412 and 409', async () => {
    const headers = { 'if-match': '"7"' }
    expect(await code(`PATCH ${unknown}`, { token: admin, body: { name: 'B' }, headers })).toBe('404 not_found')
    expect(await code(`PATCH ${unknown}`, { token: admin, body: { name: 'B', expected_revision: 7 } })).toBe(
      '404 not_found',
    )
  })

  test('422 before 412 and 409', async () => {
    const headers = { 'if-match': '"7"' }
    expect(await code(`PATCH /users/${user_id}`, { token: admin, body: { name: '' }, headers })).toBe(
      '422 validation_failed',
    )
    expect(await code(`PATCH /users/${user_id}`, { token: admin, body: { name: '', expected_revision: 7 } })).toBe(
      '422 validation_failed',
    )
  })

  test('lists all faults of path, query and body together', async () => {
    const { json } = await w.call('PATCH /users/x?y=1', { token: admin, body: { name: '', extra: 1 } })
    expect(json.errors.map((error: { in: string; pointer: string }) => `${error.in} ${error.pointer}`)).toEqual(
      expect.arrayContaining(['path #/user_id', 'query #/y', 'body #/name', 'body #/extra']),
    )
  })
})
