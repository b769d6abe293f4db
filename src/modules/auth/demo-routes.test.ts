/** Demo sign-in on a server. Which settings and callers allow it is tested beside demo-sign-in.ts and demo-caller.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateTenantState } from '#app/queries.ts'
import { demoTenants } from '#app/seed.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

const [demo, other] = demoTenants as unknown as [(typeof demoTenants)[number], (typeof demoTenants)[number]]
const findUser = (role: string, tenant = demo) => tenant.users.find(({ roles }) => roles.includes(role as never))
const analyst = { user_id: findUser('analyst')?.user_id as string }

let w: TestApp
beforeAll(async () => {
  w = await startTestApp()
})
afterAll(() => w?.close())

const signIn = (body: unknown, headers: Record<string, string> = {}) =>
  w.call('POST /auth/demo-sessions', { body, headers })
const listPeople = async () => (await w.call('GET /auth/demo-people')).json.items

describe('GET /auth/demo-people', () => {
  test('lists the people of each demo tenant with their roles, and no service account', async () => {
    const items = await listPeople()
    expect(items.map(({ slug, name }: { slug: string; name: string }) => [slug, name])).toEqual(
      demoTenants.map(({ slug, name }) => [slug, name]),
    )
    const expected = demo.users.filter(({ roles }) => !roles.includes('service'))
    expect(items[0].people).toEqual(expect.arrayContaining(expected.map((user) => ({ ...user }))))
    expect(items[0].people).toHaveLength(expected.length)
  })

  test('leaves out a deactivated person, as whom nobody can sign in', async () => {
    const viewer = findUser('viewer') as (typeof demo.users)[number]
    const setState = (state: string) =>
      w.runtime.database.write(fullScope(demo.tenant_id, 'operator:test'), (tx) =>
        tx.run('update app.user_account set state = $3 where tenant_id = $1 and user_id = $2', [
          demo.tenant_id,
          viewer.user_id,
          state,
        ]),
      )
    await setState('inactive')
    try {
      expect(JSON.stringify(await listPeople())).not.toContain(viewer.user_id)
      expect((await signIn({ user_id: viewer.user_id })).status).toBe(404)
    } finally {
      await setState('active')
    }
    expect(JSON.stringify(await listPeople())).toContain(viewer.user_id)
  })

  test('leaves out a suspended tenant, whose people are refused', async () => {
    const setState = (state: 'active' | 'suspended') =>
      w.steward.write(fullScope(SYSTEM_TENANT, 'operator:test'), (tx) => updateTenantState(tx, other.tenant_id, state))
    await setState('suspended')
    try {
      expect((await listPeople()).map(({ slug }: { slug: string }) => slug)).toEqual([demo.slug])
      const refused = await signIn({ user_id: findUser('viewer', other)?.user_id })
      expect(refused).toMatchObject({ status: 401, json: { code: 'tenant_suspended' } })
    } finally {
      await setState('active')
    }
  })
})

describe('POST /auth/demo-sessions', () => {
  test('returns a token of twelve hours with the roles of the person, and records it', async () => {
    const { status, json, headers } = await signIn(analyst)
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    expect(json).toMatchObject({ token_type: 'Bearer', expires_in: 43_200, roles: ['analyst'] })
    const me = (await w.call('GET /auth/me', { token: json.access_token })).json
    expect(me).toMatchObject({ tenant: { slug: 'demo' }, principal: `user:${analyst.user_id}`, roles: ['analyst'] })
    expect(Date.parse(me.expires_at) - Date.parse(me.issued_at)).toBe(43_200_000)
    const auditor = (await signIn({ user_id: findUser('auditor')?.user_id })).json
    const events = await w.call(`GET /audit/events?operation=createDemoSession&limit=200`, {
      token: auditor.access_token,
    })
    const event = events.json.items.find(({ object_id }: { object_id: string }) => object_id === json.token_id)
    expect(event).toMatchObject({
      actor: `user:${analyst.user_id}`,
      object_type: 'auth',
      detail: { principal: `user:${analyst.user_id}`, roles: ['analyst'], expires_at: me.expires_at },
    })
    expect(JSON.stringify(events.json)).not.toContain(json.access_token)
  })

  test('returns 404 for anybody who is not a demo person', async () => {
    const tenant_id = await w.makeTenant()
    const { user_id } = await w.person(tenant_id, ['tenant_admin'])
    const added = await w.person(demo.tenant_id, ['tenant_admin'])
    for (const body of [
      { user_id },
      { user_id: added.user_id },
      { user_id: findUser('service')?.user_id },
      { user_id: uuidv7() },
    ]) {
      expect(await signIn(body), JSON.stringify(body)).toMatchObject({ status: 404, json: { code: 'not_found' } })
    }
  })

  test('refuses a page of another site, a foreign host name and a form', async () => {
    const at = async (headers: Record<string, string>) => (await signIn(analyst, headers)).status
    expect(await at({ origin: 'https://attacker.example' })).toBe(404)
    expect(await at({ 'sec-fetch-site': 'cross-site' })).toBe(404)
    expect(await at({ host: 'attacker.example' })).toBe(404)
    expect(await at({ host: 'localhost:8000', origin: 'http://localhost:8000' })).toBe(200)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const payload = `user_id=${analyst.user_id}`
    expect((await w.call('POST /auth/demo-sessions', { headers: form, payload })).status).toBe(415)
    const text = { 'content-type': 'text/plain' }
    const sent = await w.call('POST /auth/demo-sessions', { headers: text, payload: JSON.stringify(analyst) })
    expect(sent.status).toBe(415)
  })

  test('counts against the limit of the address, as every request without a token does', async () => {
    const { headers } = await signIn(analyst)
    expect(headers).toHaveProperty('ratelimit')
  })
})

describe('a server without demo sign-in', () => {
  let off: TestApp
  beforeAll(async () => {
    off = await startTestApp({ demoSignIn: null })
  })
  afterAll(() => off?.close())

  test('answers as for any unknown path', async () => {
    const shapeOf = async (at: string, body?: unknown) => {
      const { status, json, headers } = await off.call(at as 'GET /x', body === undefined ? {} : { body })
      return { status, code: json.code, detail: json.detail, limited: 'ratelimit' in headers }
    }
    expect(await shapeOf('GET /auth/demo-people')).toEqual(await shapeOf('GET /auth/no-such-path'))
    expect(await shapeOf('POST /auth/demo-sessions', analyst)).toEqual(await shapeOf('POST /auth/no-such-path', {}))
    expect(await shapeOf('DELETE /auth/demo-sessions')).toEqual(await shapeOf('DELETE /auth/no-such-path'))
    expect((await off.call('GET /auth/oidc')).json).toEqual({ items: [], has_demo_people: false })
  })
})
