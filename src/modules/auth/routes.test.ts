/** Exchanging keys for tokens, reading permissions, revoking tokens. Verification of tokens is in test/http/tokens.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateTenantState } from '#app/queries.ts'
import { mintApiKey } from '#kernel/auth/api-key.ts'
import { roles } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp

beforeAll(async () => {
  w = await startTestApp()
})
afterAll(() => w.close())

describe('GET /auth/me', () => {
  test('returns principal, tenant, roles and expiry', async () => {
    const principal = `user:${uuidv7()}` as const
    const token = await w.token({ principal, roles: ['viewer', 'analyst'], name: 'Ada', lifetime_s: 600 })
    const { json } = await w.call('GET /auth/me', { token })
    const tenant_id = await w.tenant()
    expect(json).toMatchObject({
      tenant: { tenant_id, slug: `t-${tenant_id.slice(-12)}` },
      principal,
      name: 'Ada',
      roles: ['viewer', 'analyst'],
      issuer: 'probity',
    })
    expect(Date.parse(json.expires_at) - Date.parse(json.issued_at)).toBe(600_000)
  })

  test.each(roles)('lists for %s the operations of the role catalogue', async (role) => {
    const token = await w.token({ roles: [role] })
    const { operations } = (await w.call('GET /auth/me', { token })).json
    const allowed = w.kernel.routes.filter((route) => route.access === 'public' || route.roles.includes(role))
    expect(operations).toEqual(allowed.map(({ id }) => id))
    expect((await w.call('GET /capabilities', { token })).json).toMatchObject({ roles: [role], operations })
  })
})

describe('GET /auth/permissions', () => {
  const ask = async (method: string, path: string, held: typeof roles | readonly ['viewer'] = ['viewer']) => {
    const token = await w.token({ roles: held })
    return (await w.call(`GET /auth/permissions?method=${method}&path=${encodeURIComponent(path)}`, { token })).json
  }

  test('explains why a call is permitted or not', async () => {
    expect(await ask('GET', '/tenant')).toEqual({
      allowed: true,
      operation: 'getTenant',
      required_roles: [...roles],
      held_roles: ['viewer'],
      governed: false,
      code: null,
      reason: 'Allowed by the role viewer.',
    })
    expect(await ask('PUT', `/api/users/${uuidv7()}/roles`)).toEqual({
      allowed: false,
      operation: 'updateUserRoles',
      required_roles: ['tenant_admin'],
      held_roles: ['viewer'],
      governed: true,
      code: 'role_required',
      reason: 'Needs one of the roles tenant_admin; this token has viewer.',
    })
  })

  test('matches path parameters, literal segments, queries and public operations', async () => {
    expect(await ask('GET', '/api/users/{user_id}')).toMatchObject({ operation: 'getUser', allowed: false })
    expect(await ask('GET', '/change-requests/inbox')).toMatchObject({ operation: 'listChangeRequestInbox' })
    expect(await ask('GET', '/change-requests/other')).toMatchObject({ operation: 'getChangeRequest' })
    expect(await ask('GET', '/users?limit=5')).toMatchObject({ operation: 'listUsers' })
    expect(await ask('GET', '/health')).toMatchObject({ allowed: true, operation: 'getHealth', required_roles: [] })
    for (const path of ['/nowhere', '/users/', '/users/x/y', '/', 'users', '/api']) {
      expect(await ask('GET', path)).toMatchObject({ allowed: false, operation: null, code: 'not_found' })
    }
    expect(await ask('DELETE', '/users')).toMatchObject({ operation: null })
  })

  test('agrees with the real replies for every operation and role', async () => {
    // Without limits: a fast machine would reach those of a tenant.
    const tenant = await ExampleTenant.create(w)
    for (const role of roles) {
      const token = await tenant.token([role])
      for (const route of w.kernel.routes) {
        const path = route.path.replace(/:[a-z_]+/g, 'x')
        const query = `method=${route.method}&path=${encodeURIComponent(path)}`
        const { allowed, operation } = (await w.call(`GET /auth/permissions?${query}`, { token })).json
        expect(`${role} ${operation} ${allowed}`).toBe(
          `${role} ${route.id} ${route.access === 'public' || route.roles.includes(role)}`,
        )
      }
    }
  })

  test('returns 422 unless both parameters are given', async () => {
    const token = await w.token()
    for (const query of ['', '?method=GET', '?path=/x', '?method=HEAD&path=/x', '?method=GET&path=']) {
      expect((await w.call(`GET /auth/permissions${query}`, { token })).status).toBe(422)
    }
  })
})

describe('POST /auth/token', () => {
  const newKey = async (settings: object = {}, token?: string) => {
    const body = { name: 'robot', roles: ['service', 'viewer'], ...settings }
    return (await w.call('POST /api-keys', { token: token ?? (await w.token()), body })).json
  }
  const exchange = (api_key: string) => w.call('POST /auth/token', { body: { api_key } })
  const code = async (api_key: string) => {
    const { status, json } = await exchange(api_key)
    return status === 200 ? 'ok' : `${status} ${json.code}`
  }

  test('exchanges a key for a token of fifteen minutes with the roles of the key', async () => {
    const { key, secret } = await newKey()
    const { status, json, headers } = await exchange(secret)
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('no-store')
    expect(json).toMatchObject({ token_type: 'Bearer', expires_in: 900, roles: ['service', 'viewer'] })
    const seen = (await w.call('GET /auth/me', { token: json.access_token })).json
    expect(seen).toMatchObject({ principal: `key:${key.key_id}`, name: 'robot', token_id: json.token_id })
    expect(Date.parse(seen.expires_at) - Date.parse(seen.issued_at)).toBe(900_000)
  })

  test('refuses a key with any character changed, removed or added', async () => {
    const { secret } = await newKey()
    const typos = Array.from({ length: secret.length }, (_, at) => {
      const other = secret[at] === 'a' ? 'b' : 'a'
      return secret.slice(0, at) + other + secret.slice(at + 1)
    })
    const broken = [...typos, secret.slice(0, -1), `${secret}a`, ` ${secret}`, secret.toUpperCase(), 'pk_', 'x']
    const codes = new Set<string>()
    for (const text of broken) codes.add(await code(text))
    expect([...codes]).toEqual(['401 api_key_invalid'])
    expect(await code(secret)).toBe('ok')
  })

  test('refuses parts of two keys combined, also of two tenants', async () => {
    const { key } = await newKey()
    const tenant_id = await w.tenant()
    expect(await code(mintApiKey(tenant_id, key.key_id).text)).toBe('401 api_key_invalid')
    expect(await code(mintApiKey(await w.makeTenant(), key.key_id).text)).toBe('401 api_key_invalid')
    expect(await code(mintApiKey(uuidv7(), uuidv7()).text)).toBe('401 api_key_invalid')
  })

  test('accepts both secrets within the overlap of a rotation only', async () => {
    const token = await w.token()
    const { key, secret } = await newKey()
    const rotate = async (overlap_minutes: number) =>
      (await w.call(`POST /api-keys/${key.key_id}/rotate`, { token, body: { overlap_minutes } })).json.secret
    const second = await rotate(60)
    expect([await code(secret), await code(second)]).toEqual(['ok', 'ok'])
    const third = await rotate(0)
    expect([await code(secret), await code(second), await code(third)]).toEqual([
      '401 api_key_invalid',
      '401 api_key_invalid',
      'ok',
    ])
  })

  test('refuses expired and revoked keys and keys of a suspended tenant', async () => {
    const tenant_id = await w.makeTenant()
    const token = await w.token({ tenant_id })
    const [expired, revoked, good] = [
      await newKey({ expires_in_days: 1 }, token),
      await newKey({}, token),
      await newKey({}, token),
    ]
    expect(await code(expired.secret)).toBe('ok')
    await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
      tx.run(`update app.api_key set expires_at = now() - interval '1 s' where tenant_id = $1 and key_id = $2`, [
        tenant_id,
        expired.key.key_id,
      ]),
    )
    await w.call(`DELETE /api-keys/${revoked.key.key_id}`, { token })
    expect([await code(expired.secret), await code(revoked.secret), await code(good.secret)]).toEqual([
      '401 api_key_invalid',
      '401 api_key_invalid',
      'ok',
    ])
    await w.steward.write(fullScope(SYSTEM_TENANT, 'operator:test'), (tx) =>
      updateTenantState(tx, tenant_id, 'suspended'),
    )
    expect(await code(good.secret)).toBe('401 tenant_suspended')
  })
})

describe('POST /auth/token/revoke', () => {
  const DAY_MS = 86_400_000

  test('stores a revocation until the token would expire, at most 25 hours', async () => {
    const token = await w.token({ roles: ['tenant_admin'], principal: `user:${uuidv7()}` })
    const revoke = async (body: object) => (await w.call('POST /auth/token/revoke', { token, body })).json
    const left_ms = (row: { expires_at: string; revoked_at: string }) =>
      Date.parse(row.expires_at) - Date.parse(row.revoked_at)
    const plain = await revoke({ token_id: 'any token id of any issuer', reason: 'lost' })
    expect(plain).toMatchObject({ token_id: 'any token id of any issuer', reason: 'lost' })
    expect(plain.revoked_by).toMatch(/^user:/)
    expect(left_ms(plain)).toBe(DAY_MS)
    const far = await revoke({ token_id: 'far', expires_at: '2999-01-01T00:00:00Z' })
    expect(left_ms(far)).toBe(DAY_MS + 3_600_000)
    const soon = new Date(Date.now() + 60_000).toISOString()
    expect(Date.parse((await revoke({ token_id: 'soon', expires_at: soon })).expires_at)).toBe(Date.parse(soon))
  })

  test('keeps the later expiry when a token is revoked twice', async () => {
    const token = await w.token()
    const revoke = async (expires_at: string) =>
      (await w.call('POST /auth/token/revoke', { token, body: { token_id: 'twice', expires_at } })).json
    const [early, late] = [1, 2].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString()) as [
      string,
      string,
    ]
    const first = await revoke(late)
    const second = await revoke(early)
    expect(second).toEqual(first)
  })

  test('revokes the own token', async () => {
    const token = await w.token()
    const { token_id } = (await w.call('GET /auth/me', { token })).json
    expect((await w.call('POST /auth/token/revoke', { token, body: { token_id } })).status).toBe(200)
    expect((await w.call('GET /auth/me', { token })).json.code).toBe('token_revoked')
  })

  test("does not reach another tenant's tokens", async () => {
    const victim = await w.token()
    const { token_id } = (await w.call('GET /auth/me', { token: victim })).json
    const outsider = await w.token({ tenant_id: await w.makeTenant() })
    expect((await w.call('POST /auth/token/revoke', { token: outsider, body: { token_id } })).status).toBe(200)
    w.kernel.tenantStatusCache.invalidate(await w.tenant())
    expect((await w.call('GET /auth/me', { token: victim })).status).toBe(200)
  })
})

describe('GET /auth/jwks', () => {
  test('is public and cacheable, and contains no private key', async () => {
    const { status, headers, json } = await w.call('GET /auth/jwks')
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('public, max-age=300')
    expect(json.keys).toEqual([expect.objectContaining({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })])
    expect(json.keys[0]).not.toHaveProperty('d')
  })
})
