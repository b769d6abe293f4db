/** Which tokens the running server accepts, and how fast a revoked one is refused: forgeries, issuers, the deny list. */
import { generateKeyPairSync } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateTenantState } from '#app/queries.ts'
import { createTenant, rotateSigningKey } from '#app/seed.ts'
import { signingKeyContext } from '#kernel/auth/built-in-issuer.ts'
import { listSigningKeys } from '#kernel/auth/queries.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { forgedTokens } from '../support/forged-tokens.ts'
import { startSecondProcess } from '../support/second-process.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import {
  type ExternalIssuer,
  type ForgeryContext,
  type ForgeryKey,
  goodExternalToken,
  goodToken,
} from '../support/token-forge.ts'

const ISSUER = 'https://login.example'
const AUDIENCE = 'probity-at-login'
const [external_tenant, missing_tenant] = [uuidv7(), uuidv7()]
const jwks: { keys: JWK[] } = { keys: [] }
const keyServer = http.createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(jwks))
})
let w: TestApp
let base: string
let forgery: ForgeryContext
let external: ExternalIssuer

beforeAll(async () => {
  const [key, weak_key] = [await rsaKey(2048), await rsaKey(1024)]
  jwks.keys = [key.public_jwk, weak_key.public_jwk]
  await new Promise<void>((resolve) => keyServer.listen(0, '127.0.0.1', resolve))
  w = await startTestApp({
    issuers: [
      {
        issuer: ISSUER,
        audience: AUDIENCE,
        algorithms: ['RS256'],
        tenants: [external_tenant, missing_tenant],
        tenant_claim: 'tenant_id',
        roles_claim: 'roles',
        role_map: { viewer: ['viewer'], boss: ['tenant_admin', 'analyst'], external: [] },
        keys: { kind: 'jwks', url: `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/jwks` },
      },
    ],
  })
  base = await w.listen()
  const settings = { tenant_id: external_tenant, slug: 'external', name: 'External', demo: false, four_eyes: false }
  await createTenant(w.seedContext, settings, 'operator:test')
  external = { issuer: ISSUER, audience: AUDIENCE, tenant_id: external_tenant, key, weak_key }
  forgery = {
    issuer: w.kernel.issuer.issuer,
    audience: w.kernel.issuer.audience,
    tenant_id: await w.tenant(),
    subject: `user:${uuidv7()}`,
    role: 'viewer',
    now_s: Math.floor(Date.now() / 1000),
    key: await signingKey(),
    external,
  }
})
afterAll(async () => {
  await w.close()
  keyServer.close()
})

async function rsaKey(modulusLength: number): Promise<ForgeryKey> {
  const pair = generateKeyPairSync('rsa', { modulusLength })
  const public_jwk = pair.publicKey.export({ format: 'jwk' }) as JWK
  const kid = await calculateJwkThumbprint(public_jwk)
  return { kid, public_jwk: { ...public_jwk, kid }, private_jwk: pair.privateKey.export({ format: 'jwk' }) as JWK }
}

async function signingKey(): Promise<ForgeryKey> {
  const scope = fullScope(SYSTEM_TENANT, 'operator:test')
  const [row] = await w.runtime.database.one(scope, listSigningKeys)
  if (!row) throw new Error('no signing key')
  const sealed = w.seedContext.keyring.decrypt(row.sealed_private, signingKeyContext(row.kid))
  return { kid: row.kid, public_jwk: row.public_jwk, private_jwk: JSON.parse(sealed.toString()) }
}

const me = async (token: string) => {
  const { status, json } = await w.call('GET /auth/me', { token })
  return status === 200 ? 'ok' : `${status} ${json.code}`
}
const suspend = (tenant_id: string, state: 'active' | 'suspended') =>
  w.steward.write(fullScope(SYSTEM_TENANT, 'operator:test'), (tx) => updateTenantState(tx, tenant_id, state))

describe('forged tokens', () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 4 })
  afterAll(() => agent.destroy())

  const statusFor = (token: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` }
      http
        .get(`${base}/api/auth/me`, { agent, headers }, (reply) => {
          reply.resume().on('end', () => resolve(reply.statusCode))
        })
        .on('error', reject)
    })

  test('are made from tokens that are accepted', async () => {
    expect(await statusFor(goodToken(forgery))).toBe(200)
    expect(await statusFor(goodExternalToken(forgery, external))).toBe(200)
  })

  test('are all refused with 401', async () => {
    const forgeries = await forgedTokens(forgery)
    expect(forgeries.length).toBeGreaterThanOrEqual(118)
    const statuses = await Promise.all(
      forgeries.map(async ({ name, token }) => [name, await statusFor(token)] as const),
    )
    expect(statuses.filter(([, status]) => status !== 401)).toEqual([])
  })

  test('are all refused with 401 by the tool protocol, before a message is read', async () => {
    const forgeries = await forgedTokens(forgery)
    const post = (token: string) =>
      w.call('POST /mcp', { token, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, address: '192.0.2.77' })
    expect((await post(goodToken(forgery))).status).not.toBe(401)
    const statuses = await Promise.all(
      forgeries.map(async ({ name, token }) => [name, (await post(token)).status] as const),
    )
    expect(statuses.filter(([, status]) => status !== 401)).toEqual([])
  })

  test.each(['', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', 'Token x', 'Bearer a b', 'bearer'])(
    'Authorization: %j is 401',
    async (authorization) => {
      const { status } = await w.call('GET /auth/me', { headers: { authorization } })
      expect(status).toBe(401)
    },
  )

  test('the scheme may be written in any case, and nothing but the header counts', async () => {
    const token = await w.token()
    expect((await w.call('GET /auth/me', { headers: { authorization: `bEARER  ${token}` } })).status).toBe(200)
    expect((await w.call(`GET /auth/me?access_token=${token}`)).json.code).toBe('token_missing')
    const key = await w.call('GET /auth/me', { token: 'pk_0123' })
    expect([key.json.code, key.json.detail]).toEqual(['token_invalid', expect.stringContaining('POST /api/auth/token')])
    expect((await w.call('GET /auth/me', { headers: { cookie: `token=${token}` } })).json.code).toBe('token_missing')
  })

  test('a token for a tenant that does not exist is refused', async () => {
    expect(await me(goodToken(forgery, { claims: { tenant_id: uuidv7() } }))).toBe('401 token_invalid')
    expect(await me(goodToken(forgery, { claims: { tenant_id: SYSTEM_TENANT } }))).toBe('401 token_invalid')
  })

  test('public operations ignore tokens', async () => {
    expect((await w.call('GET /health', { token: 'bad' })).status).toBe(200)
  })
})

describe('a revocation reaches another process within five seconds', () => {
  test('a revoked token, a deactivated user, a revoked key, a suspended tenant', async () => {
    const other = await startSecondProcess(w)
    const tenant_id = await w.makeTenant()
    const admin = await w.token({ tenant_id, roles: ['tenant_admin'] })
    const invited = { name: 'Ada', email: 'ada@example.com', roles: ['viewer'] }
    const user = (await w.call('POST /users', { token: admin, body: invited })).json
    const key = (await w.call('POST /api-keys', { token: admin, body: { name: 'k', roles: ['viewer'] } })).json
    const spared = await w.token({ tenant_id })
    const elsewhere = await w.makeTenant()
    const exchanged = await w.call('POST /auth/token', { body: { api_key: key.secret } })
    const byToken = await w.token({ tenant_id })
    const doomed = {
      byToken,
      byUser: await w.token({ tenant_id, principal: `user:${user.user_id}` }),
      byKey: exchanged.json.access_token as string,
      byTenant: await w.token({ tenant_id: elsewhere }),
    }
    const seen = async () => {
      const entries = Object.entries(doomed).map(async ([name, token]) => {
        const { status, json } = await other.get('/api/auth/me', token)
        return [name, status === 200 ? 'ok' : `${status} ${json.code}`] as const
      })
      return Object.fromEntries(await Promise.all(entries))
    }
    expect(await seen()).toEqual({ byToken: 'ok', byUser: 'ok', byKey: 'ok', byTenant: 'ok' })

    const { token_id } = (await w.call('GET /auth/me', { token: byToken })).json
    await w.call('POST /auth/token/revoke', { token: admin, body: { token_id } })
    await w.call(`POST /users/${user.user_id}/deactivate`, { token: admin })
    await w.call(`DELETE /api-keys/${key.key.key_id}`, { token: admin })
    await suspend(elsewhere, 'suspended')
    const closed = {
      byToken: '401 token_revoked',
      byUser: '401 token_revoked',
      byKey: '401 token_revoked',
      byTenant: '401 tenant_suspended',
    }
    const deadline_ms = performance.now() + 5000
    while (JSON.stringify(await seen()) !== JSON.stringify(closed) && performance.now() < deadline_ms) await sleep(100)
    expect(await seen()).toEqual(closed)
    expect((await other.get('/api/auth/me', spared)).status).toBe(200)

    await w.call(`POST /users/${user.user_id}/reactivate`, { token: admin })
    await suspend(elsewhere, 'active')
    const open_ms = performance.now() + 5000
    const reopened = { ...closed, byUser: 'ok', byTenant: 'ok' }
    while (JSON.stringify(await seen()) !== JSON.stringify(reopened) && performance.now() < open_ms) await sleep(100)
    expect(await seen()).toEqual(reopened)
    await other.close()
  })

  test('for a removed role: the other roles stay, and none is added', async () => {
    const other = await startSecondProcess(w)
    const tenant_id = await w.makeTenant()
    const admin = await w.token({ tenant_id, roles: ['tenant_admin'] })
    const ada = await w.person(tenant_id, ['auditor', 'compliance_officer'])
    const api_key = await w.call('POST /api-keys', { token: admin, body: { name: 'k', roles: ['auditor'] } })
    const robot = (await w.call('POST /auth/token', { body: { api_key: api_key.json.secret } })).json.access_token
    const rolesOf = async (token: string) => (await other.get('/api/auth/me', token)).json.roles
    expect(await rolesOf(ada.token)).toEqual(['auditor', 'compliance_officer'])
    const set = (roles: string[]) => w.call(`PUT /users/${ada.user_id}/roles`, { token: admin, body: { roles } })
    expect((await set(['compliance_officer', 'viewer'])).status).toBe(200)
    expect((await w.call('GET /auth/me', { token: ada.token })).json.roles).toEqual(['compliance_officer'])
    await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
      tx.run(`update app.api_key set roles = '{viewer}' where tenant_id = $1`, [tenant_id]),
    )
    await expect.poll(() => rolesOf(ada.token), { timeout: 5000, interval: 100 }).toEqual(['compliance_officer'])
    const refused = await other.get('/api/api-keys', ada.token)
    expect([refused.status, refused.json.code]).toEqual([403, 'role_required'])
    const none = await other.get('/api/audit/events', robot)
    expect([none.status, none.json.code]).toEqual([403, 'role_required'])
    await set([])
    await expect.poll(async () => (await other.get('/api/auth/me', ada.token)).status, { timeout: 5000 }).toBe(403)
    await other.close()
  })

  test('and takes effect at once in the process that made it', async () => {
    const [admin, token] = [await w.token(), await w.token()]
    const { token_id } = (await w.call('GET /auth/me', { token })).json
    await w.call('POST /auth/token/revoke', { token: admin, body: { token_id } })
    expect(await me(token)).toBe('401 token_revoked')
    expect(await me(admin)).toBe('ok')
  })

  test('a token revoked with too early an end can be revoked again, everywhere', async () => {
    const other = await startSecondProcess(w)
    const [admin, token] = [await w.token(), await w.token()]
    const { token_id } = (await w.call('GET /auth/me', { token })).json
    const revoke = (expires_at: string) =>
      w.call('POST /auth/token/revoke', { token: admin, body: { token_id, expires_at } })
    await revoke('2020-01-01T00:00:00Z')
    expect((await other.get('/api/auth/me', token)).status).toBe(200)
    await revoke('2999-01-01T00:00:00Z')
    const deadline_ms = performance.now() + 5000
    let status = 200
    while (status === 200 && performance.now() < deadline_ms) {
      await sleep(100)
      status = (await other.get('/api/auth/me', token)).status
    }
    expect(status).toBe(401)
    await other.close()
  })
})

describe('an external issuer', () => {
  const subject = () => `${uuidv7()}@login.example`
  const vouched = (claims: object) => goodExternalToken(forgery, external, { claims: { jti: uuidv7(), ...claims } })
  const find = async (sub: string) => {
    const token = await w.token({ tenant_id: external_tenant })
    const { items } = (await w.call('GET /users?limit=200', { token })).json
    return items.find((user: { subject: string }) => user.subject === sub)
  }

  test('creates a user at the first login, once, with the mapped roles', async () => {
    const sub = subject()
    const token = vouched({ sub, roles: ['boss', 'stranger'], name: 'Bo Ss' })
    const seen = (await w.call('GET /auth/me', { token })).json
    expect(seen).toMatchObject({ issuer: ISSUER, name: 'Bo Ss', roles: ['tenant_admin', 'analyst'] })
    const user = await find(sub)
    expect(user).toMatchObject({
      origin: 'external',
      state: 'active',
      name: 'Bo Ss',
      issuer: ISSUER,
      roles: seen.roles,
    })
    expect(seen.principal).toBe(`user:${user.user_id}`)
    expect(await me(vouched({ sub, roles: ['viewer'], name: 'Bo Now' }))).toBe('ok')
    expect(await find(sub)).toMatchObject({ user_id: user.user_id, roles: ['viewer'], name: 'Bo Now' })
  })

  test('may use longer names than the API accepts', async () => {
    const sub = `${'s'.repeat(240)}@login`
    expect(await me(vouched({ sub, name: '😀'.repeat(120) }))).toBe('ok')
    expect((await find(sub)).name).toBe('😀'.repeat(120))
    const nameless = `${'n'.repeat(240)}@login`
    expect(await me(vouched({ sub: nameless, name: undefined }))).toBe('ok')
    expect((await find(nameless)).name).toBe('n'.repeat(200))
  })

  test('a user without a mapped role is authenticated and has no role', async () => {
    expect(await me(vouched({ sub: subject(), roles: ['external', 'stranger'] }))).toBe('403 role_required')
    expect(await me(vouched({ sub: subject(), roles: [] }))).toBe('403 role_required')
  })

  test('a deactivated user is refused until reactivated', async () => {
    const sub = subject()
    await me(vouched({ sub }))
    const { user_id } = await find(sub)
    const admin = await w.token({ tenant_id: external_tenant })
    expect((await w.call(`POST /users/${user_id}/deactivate`, { token: admin })).status).toBe(200)
    expect(await me(vouched({ sub }))).toBe('401 token_revoked')
    expect((await find(sub)).state).toBe('inactive')
    await w.call(`POST /users/${user_id}/reactivate`, { token: admin })
    expect(await me(vouched({ sub }))).toBe('ok')
  })

  test('roles of its users cannot be changed here', async () => {
    const sub = subject()
    await me(vouched({ sub }))
    const { user_id } = await find(sub)
    const admin = await w.token({ tenant_id: external_tenant })
    const reply = await w.call(`PUT /users/${user_id}/roles`, { token: admin, body: { roles: [] } })
    expect(reply.json.code).toBe('transition_not_allowed')
  })

  test('is refused for a tenant outside its list and for an unknown tenant', async () => {
    const sub = subject()
    expect(await me(vouched({ sub, tenant_id: await w.tenant() }))).toBe('401 token_invalid')
    expect(await me(vouched({ sub, tenant_id: missing_tenant }))).toBe('401 token_invalid')
  })

  test('creates no user in a suspended tenant', async () => {
    const sub = subject()
    await suspend(external_tenant, 'suspended')
    w.kernel.tenantStatusCache.invalidate(external_tenant)
    expect(await me(vouched({ sub }))).toBe('401 tenant_suspended')
    await suspend(external_tenant, 'active')
    w.kernel.tenantStatusCache.invalidate(external_tenant)
    expect(await find(sub)).toBeUndefined()
  })

  test('its user and a built-in user with the same subject are two principals', async () => {
    const ours = await w.token({ tenant_id: external_tenant })
    const { principal } = (await w.call('GET /auth/me', { token: ours })).json
    const theirs = (await w.call('GET /auth/me', { token: vouched({ sub: principal }) })).json
    expect(theirs.principal).not.toBe(principal)
  })
})

// Last, because afterwards the first key no longer opens anything.
describe('signing keys', () => {
  test('rotate: both are published, old tokens stay valid, and a long retired key is removed', async () => {
    const old_key = await signingKey()
    const old_token = goodToken({ ...forgery, key: old_key })
    const kid = await rotateSigningKey(w.seedContext)
    const published = async () => (await w.call('GET /auth/jwks')).json.keys.map((key: JWK) => key.kid)
    expect(await published()).toEqual([kid, old_key.kid])
    for (const key of (await w.call('GET /auth/jwks')).json.keys) {
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
    }
    const fresh = await startSecondProcess(w)
    const new_token = goodToken({ ...forgery, key: await signingKey() })
    expect((await fresh.get('/api/auth/me', old_token)).status).toBe(200)
    expect((await fresh.get('/api/auth/me', new_token)).status).toBe(200)
    const minted = await fresh.runtime.kernel.issuer.mint({
      principal: `user:${uuidv7()}`,
      tenant_id: forgery.tenant_id,
      roles: ['viewer'],
      lifetime_s: 60,
    })
    expect(JSON.parse(Buffer.from(minted.token.split('.')[0] as string, 'base64url').toString()).kid).toBe(kid)
    await fresh.close()

    await w.steward.write(fullScope(SYSTEM_TENANT, 'operator:test'), (tx) =>
      tx.run(`update app.signing_key set retired_at = now() - interval '26 hours' where kid = $1`, [old_key.kid]),
    )
    expect(await published()).toEqual([kid])
    const later = await startSecondProcess(w)
    expect((await later.get('/api/auth/me', old_token)).status).toBe(401)
    expect((await later.get('/api/auth/me', new_token)).status).toBe(200)
    await later.close()
  })
})
