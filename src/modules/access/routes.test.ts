/** Users, roles and API keys, as an administrator uses them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { conflictingRoles, roles } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { startSecondProcess } from '#test/support/second-process.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let tenant_id: string
let token: string
let count = 0

beforeAll(async () => {
  w = await shareTestApp()
})
afterAll(() => w.close())
beforeEach(async () => {
  tenant_id = await w.makeTenant()
  token = await w.token({ tenant_id, roles: ['tenant_admin'] })
})

const call = (at: string, body?: unknown) => w.call(at, { token, ...(body !== undefined && { body }) })
const invitation = (more: object = {}) => ({ name: 'Ada', email: `ada-${count++}@example.com`, roles: [], ...more })
const invite = async (more: object = {}) => (await call('POST /users', invitation(more))).json

describe('users', () => {
  test('are invited, read and listed', async () => {
    const { status, headers, json } = await call('POST /users', {
      name: 'Ada Lovelace',
      email: 'Ada@Example.com',
      team: 'engines',
      locale: 'en-GB',
      roles: ['analyst'],
    })
    expect(status).toBe(201)
    expect(headers['location']).toBe(`/api/users/${json.user_id}`)
    expect(json).toMatchObject({
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      team: 'engines',
      locale: 'en-GB',
      roles: ['analyst'],
      origin: 'built_in',
      state: 'invited',
      conflicts: [],
      away_from: null,
      last_seen_at: null,
      revision: 1,
    })
    expect((await call(`GET /users/${json.user_id}`)).json).toEqual(json)
    expect((await call('GET /users')).json.items).toEqual([json])
    expect((await call('GET /users?role=analyst&state=invited')).json.items).toEqual([json])
    expect((await call('GET /users?role=viewer')).json.items).toEqual([])
  })

  test('are named to every reader, who learns nothing else about them', async () => {
    const { user_id } = await invite({ name: 'Ada Lovelace' })
    for (const role of ['viewer', 'analyst', 'policy_editor'] as const) {
      const reader = await w.token({ tenant_id, roles: [role] })
      const named = await w.call(`GET /users/${user_id}/name`, { token: reader })
      expect(named.json).toEqual({ user_id, name: 'Ada Lovelace' })
      expect((await w.call(`GET /users/${user_id}`, { token: reader })).status).toBe(403)
    }
  })

  test('were last seen when they last called, which changes neither revision nor roles', async () => {
    const made = await invite({ roles: ['viewer'] })
    const own = await w.token({ tenant_id, roles: ['viewer'], principal: `user:${made.user_id}` })
    await w.call('GET /auth/me', { token: own })
    await w.runtime.flushUsage()
    const { last_seen_at, ...rest } = (await call(`GET /users/${made.user_id}`)).json
    expect(Date.parse(last_seen_at)).toBeGreaterThanOrEqual(Date.parse(made.created_at) - 1000)
    const { last_seen_at: _, ...others } = made
    expect([made.state, rest]).toEqual(['invited', { ...others, state: 'active' }])
    await w.call('GET /auth/me', { token: own })
    await w.runtime.flushUsage()
    expect((await call(`GET /users/${made.user_id}`)).json.last_seen_at).toBe(last_seen_at)
  })

  test('have an email address that is unique in the tenant, ignoring case', async () => {
    await invite({ email: 'one@example.com' })
    const again = await call('POST /users', invitation({ email: 'ONE@example.com' }))
    expect(again.json).toMatchObject({ status: 409, code: 'duplicate' })
    const elsewhere = await w.token({ tenant_id: await w.makeTenant() })
    const body = invitation({ email: 'one@example.com' })
    expect((await w.call('POST /users', { token: elsewhere, body })).status).toBe(201)
  })

  test.each(['ada', '@example.com', 'ada@', 'a da@example.com', 'a@b@c', 'a@\u0000'])(
    '%j is no address',
    async (email) => {
      expect((await call('POST /users', invitation({ email }))).json.code).toBe('validation_failed')
    },
  )

  test('keep absent members and clear members that are null', async () => {
    const { user_id } = await invite({ team: 'north', locale: 'de' })
    const changed = (await call(`PATCH /users/${user_id}`, { name: 'Eve' })).json
    expect(changed).toMatchObject({ name: 'Eve', team: 'north', locale: 'de', revision: 2 })
    const cleared = (await call(`PATCH /users/${user_id}`, { team: null, locale: null })).json
    expect(cleared).toMatchObject({ name: 'Eve', team: null, locale: null, revision: 3 })
    expect(Date.parse(cleared.updated_at)).toBeGreaterThan(Date.parse(cleared.created_at))
    expect((await call(`PATCH /users/${user_id}`, {})).json.code).toBe('validation_failed')
    expect((await call(`PATCH /users/${user_id}`, { name: null })).json.code).toBe('validation_failed')
    expect((await call(`PATCH /users/${user_id}`, { email: 'x@example.com' })).json.code).toBe('validation_failed')
  })

  test('are deactivated and reactivated; repeating either changes nothing', async () => {
    const { user_id } = await invite()
    const off = (await call(`POST /users/${user_id}/deactivate`)).json
    expect(off).toMatchObject({ state: 'inactive', revision: 2 })
    expect((await call(`POST /users/${user_id}/deactivate`)).json).toEqual(off)
    const on = (await call(`POST /users/${user_id}/reactivate`)).json
    expect(on).toMatchObject({ state: 'active', revision: 3 })
    expect((await call(`POST /users/${user_id}/reactivate`)).json).toEqual(on)
  })

  test('have an absence window that can be cleared', async () => {
    const { user_id } = await invite()
    const put = async (away_from: string | null, away_until: string | null) =>
      (await call(`PUT /users/${user_id}/availability`, { away_from, away_until })).json
    const [from, until] = ['2026-07-01T00:00:00.000000Z', '2026-07-15T12:30:00.500000Z']
    expect(await put(from, until)).toMatchObject({ away_from: from, away_until: until })
    expect((await put(until, from)).code).toBe('conflict')
    expect((await put(from, from)).code).toBe('conflict')
    expect((await put(from, null)).code).toBe('conflict')
    expect(await put(null, null)).toMatchObject({ away_from: null, away_until: null })
  })

  test('set their own absence, and only an officer or an administrator that of a colleague', async () => {
    const [own, colleague] = [(await invite()).user_id, (await invite()).user_id]
    const put = async (role: 'analyst' | 'compliance_officer' | 'tenant_admin', user_id: string) => {
      const caller = await w.token({ tenant_id, roles: [role], principal: `user:${own}` })
      const body = { away_from: '2026-07-01T00:00:00Z', away_until: '2026-07-15T00:00:00Z', away_reason: 'leave' }
      const { status, json } = await w.call(`PUT /users/${user_id}/availability`, { token: caller, body })
      return [status, json.code ?? json.away_reason]
    }
    expect(await put('analyst', own)).toEqual([200, 'leave'])
    expect(await put('analyst', colleague)).toEqual([403, 'role_required'])
    expect((await call(`GET /users/${colleague}`)).json).toMatchObject({ away_from: null, revision: 1 })
    expect(await put('analyst', uuidv7())).toEqual([404, 'not_found'])
    for (const role of ['compliance_officer', 'tenant_admin'] as const)
      expect(await put(role, colleague), role).toEqual([200, 'leave'])
  })

  test('return 404 for an id that is unknown or of another tenant', async () => {
    const { user_id } = await invite()
    const elsewhere = await w.token({ tenant_id: await w.makeTenant() })
    for (const id of [user_id, uuidv7()]) {
      expect((await w.call(`GET /users/${id}`, { token: elsewhere })).json.code).toBe('not_found')
      expect((await w.call(`POST /users/${id}/deactivate`, { token: elsewhere })).json.code).toBe('not_found')
    }
  })
})

describe('roles', () => {
  const setRoles = async (user_id: string, held: string[]) =>
    (await call(`PUT /users/${user_id}/roles`, { roles: held })).json

  test('are replaced as a whole, and conflicting roles are flagged', async () => {
    await invite({ roles: ['tenant_admin'] })
    const { user_id } = await invite({ roles: ['viewer'] })
    expect(await setRoles(user_id, ['analyst'])).toMatchObject({ roles: ['analyst'], conflicts: [], revision: 2 })
    for (const [one, two, reason] of conflictingRoles) {
      expect((await setRoles(user_id, [one, two])).conflicts).toEqual([`${one} and ${two}: ${reason}`])
    }
    expect((await setRoles(user_id, [...roles])).conflicts).toHaveLength(conflictingRoles.length)
    expect(await setRoles(user_id, [])).toMatchObject({ roles: [], conflicts: [] })
  })

  test('the catalogue lists the operations of each role', async () => {
    const { json } = await call('GET /roles')
    expect(json.items.map(({ role }: { role: string }) => role)).toEqual(roles)
    for (const { role, operations } of json.items) {
      const allowed = w.kernel.routes.filter((route) => route.roles.includes(role)).map(({ id }) => id)
      expect(operations).toEqual(allowed)
    }
    expect(json.conflicts).toHaveLength(conflictingRoles.length)
  })

  test('returns 409 when the last administrator would be removed', async () => {
    const [one, two] = [await invite({ roles: ['tenant_admin'] }), await invite({ roles: ['tenant_admin'] })]
    expect((await setRoles(one.user_id, ['viewer'])).roles).toEqual(['viewer'])
    expect((await setRoles(two.user_id, ['viewer'])).code).toBe('last_administrator')
    expect((await call(`POST /users/${two.user_id}/deactivate`)).json.code).toBe('last_administrator')
    expect((await setRoles(two.user_id, ['tenant_admin', 'viewer'])).roles).toEqual(['tenant_admin', 'viewer'])
    await setRoles(one.user_id, ['tenant_admin'])
    expect((await call(`POST /users/${two.user_id}/deactivate`)).json.state).toBe('inactive')
    expect((await setRoles(two.user_id, [])).roles).toEqual([])
  })

  test('keeps one of two administrators who remove each other at once', async () => {
    const people = await Promise.all([1, 2].map(() => invite({ roles: ['tenant_admin'] })))
    const replies = await Promise.all(people.map(({ user_id }) => call(`POST /users/${user_id}/deactivate`)))
    const codes = replies.map(({ json }) => json.code ?? json.state).toSorted()
    expect(codes).toEqual(['inactive', 'last_administrator'])
  })
})

test('audit events record roles given with an invitation or a key', async () => {
  await invite({ roles: ['analyst'] })
  await call('POST /api-keys', { name: 'robot', roles: ['service'] })
  const auditor = await w.token({ tenant_id, roles: ['auditor'] })
  const given = async (operation: string) =>
    (await w.call(`GET /audit/events?operation=${operation}`, { token: auditor })).json.items[0].detail
  expect((await given('createUser')).diff).toEqual([{ member: 'roles', before: null, after: ['analyst'] }])
  expect((await given('createApiKey')).diff).toEqual([
    { member: 'name', before: null, after: 'robot' },
    { member: 'roles', before: null, after: ['service'] },
  ])
})

describe('API keys', () => {
  const newKey = async (more: object = {}) =>
    (await call('POST /api-keys', { name: 'robot', roles: ['service'], ...more })).json
  const exchange = async (api_key: string) => (await w.call('POST /auth/token', { body: { api_key } })).json

  test('show their secret once', async () => {
    const { key, secret } = await newKey({ expires_in_days: 30 })
    expect(secret).toMatch(/^pk_[0-9a-f]{32}_[0-9a-f]{32}_[A-Za-z0-9_-]{49}$/)
    expect(key).toMatchObject({ name: 'robot', roles: ['service'], state: 'active', revision: 1, last_used_at: null })
    const days = (Date.parse(key.expires_at) - Date.parse(key.created_at)) / 86_400_000
    expect(days).toBe(30)
    const listing = await call('GET /api-keys')
    expect(listing.json.items).toEqual([key])
    expect(listing.text).not.toMatch(/secret|hash/)
    const stored = await w.runtime.database.read(fullScope(tenant_id, 'operator:test'), (tx) =>
      tx.query('select to_jsonb(k)::text as row from app.api_key k'),
    )
    expect(JSON.stringify(stored)).not.toContain(secret.slice(70, 110))
  })

  test('need a name and at least one role, without duplicates', async () => {
    for (const body of [{ roles: [] }, { roles: ['service', 'service'] }, { roles: ['root'] }, { name: '' }]) {
      expect((await newKey(body)).code).toBe('validation_failed')
    }
    for (const expires_in_days of [0, 731, 1.5, '30']) {
      expect((await newKey({ expires_in_days })).code).toBe('validation_failed')
    }
  })

  test('show when they were last used', async () => {
    const { key, secret } = await newKey()
    await exchange(secret)
    const { items } = (await call('GET /api-keys?state=active')).json
    expect(items[0].key_id).toBe(key.key_id)
    expect(Date.parse(items[0].last_used_at)).toBeGreaterThanOrEqual(Date.parse(key.created_at))
  })

  test('are revoked for good; the record stays, and repeating it changes nothing', async () => {
    const { key, secret } = await newKey()
    const { access_token } = await exchange(secret)
    expect((await w.call('GET /auth/me', { token: access_token })).status).toBe(200)
    for (let n = 0; n < 2; n++) {
      const gone = await call(`DELETE /api-keys/${key.key_id}`)
      expect([gone.status, gone.text]).toEqual([204, ''])
    }
    expect((await w.call('GET /auth/me', { token: access_token })).json.code).toBe('token_revoked')
    const { items } = (await call('GET /api-keys?state=revoked')).json
    expect(items).toEqual([expect.objectContaining({ key_id: key.key_id, state: 'revoked', revision: 2 })])
    const rotation = await call(`POST /api-keys/${key.key_id}/rotate`, { overlap_minutes: 5 })
    expect(rotation.json.code).toBe('transition_not_allowed')
    expect((await call(`GET /api-keys/${key.key_id}/usage`)).json.code).toBe('not_found')
    expect((await call(`DELETE /api-keys/${uuidv7()}`)).json.code).toBe('not_found')
  })

  test('rotate to a new secret and show until when the old one works', async () => {
    const { key, secret } = await newKey()
    const rotated = (await call(`POST /api-keys/${key.key_id}/rotate`, { overlap_minutes: 10 })).json
    expect(rotated.secret).not.toBe(secret)
    expect(rotated.key).toMatchObject({ key_id: key.key_id, revision: 2 })
    expect(Date.parse(rotated.key.previous_valid_until)).toBeGreaterThan(Date.parse(key.created_at) + 9 * 60_000)
    for (const overlap_minutes of [-1, 10_081, null]) {
      const reply = await call(`POST /api-keys/${key.key_id}/rotate`, { overlap_minutes })
      expect(reply.json.code).toBe('validation_failed')
    }
    expect((await call(`POST /api-keys/${uuidv7()}/rotate`, { overlap_minutes: 0 })).json.code).toBe('not_found')
  })

  test('have usage counts by day, operation and status', async () => {
    const { key, secret } = await newKey({ roles: ['viewer'] })
    const { access_token } = await exchange(secret)
    // A process flushes its counts every few seconds and on shutdown.
    const other = await startSecondProcess(w)
    for (let n = 0; n < 3; n++) await other.get('/api/auth/me', access_token)
    await other.get('/api/users', access_token)
    await other.close()
    const usage = async (query = '') => (await call(`GET /api-keys/${key.key_id}/usage${query}`)).json
    const { items } = await usage()
    const used_on = items.at(-1).used_on
    expect(used_on).toMatch(/^\d{4}-\d\d-\d\d$/)
    expect(items).toEqual([
      { used_on: expect.any(String), operation: 'getMe', status: 200, calls: 3 },
      { used_on: expect.any(String), operation: 'listUsers', status: 403, calls: 1 },
    ])
    expect((await usage('?from_on=2020-01-01&until_on=2020-12-31')).items).toEqual([])
    expect((await usage(`?from_on=${used_on}`)).items).toEqual(items)
    expect((await call(`GET /api-keys/${uuidv7()}/usage`)).json.code).toBe('not_found')
  })
})
