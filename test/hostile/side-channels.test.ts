/**
 * Side channels, generated from the route table: whatever header a caller adds, another tenant's identifier is answered
 * exactly like one that never existed; what collides in one tenant does not in another, and nothing counts both.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import type { Route } from '#kernel/route.ts'
import { isUuid, uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { fixtures } from '../support/fixtures.ts'
import type { Example } from '../support/operation-fixture.ts'

import { announceSampling, sample } from '../support/sampling.ts'

import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let own: ExampleTenant
let other: ExampleTenant

beforeAll(async () => {
  w = await startTestApp()
  ;[own, other] = await Promise.all([ExampleTenant.create(w), ExampleTenant.create(w)])
})
afterAll(() => w.close())

const named = modules
  .flatMap(({ routes }) => routes)
  .filter((route) => route.access === 'tenant' && /:/.test(route.path))

const exampleOf = async (route: Route, tenant: ExampleTenant): Promise<Example> =>
  (await fixtures[route.id]?.(tenant, route.roles[0] ?? 'viewer')) ?? {}

async function send(
  route: Route,
  example: Example,
  params: Readonly<Record<string, string>>,
  headers: Record<string, string>,
) {
  const place = route.path.replace(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const query = example.query ? `?${new URLSearchParams(example.query)}` : ''
  const token = await own.token(undefined, example.principal ?? own.caller)
  return w.call(`${route.method} ${place}${query}`, {
    token,
    headers,
    ...(example.body !== undefined && { body: example.body }),
  })
}

/** What a caller can tell apart: everything but what names this one request, its limits and the time. */
function visible({ status, headers, json, text }: Reply): object {
  const { 'x-request-id': _, ratelimit: __, 'ratelimit-policy': ___, date: ____, ...rest } = headers
  const { instance: _____, request_id: ______, ...body } = json ?? { text }
  return { status, headers: rest, body }
}

announceSampling('headers that ask about a state, for each operation')
const SAMPLED_HEADERS = 3

describe('conditional headers', () => {
  const questions: readonly (readonly [name: string, headers: () => Record<string, string>])[] = [
    ['If-None-Match: *', () => ({ 'if-none-match': '*' })],
    ['If-None-Match with a likely tag', () => ({ 'if-none-match': '"1", W/"1", "2"' })],
    ['If-Match: *', () => ({ 'if-match': '*' })],
    ['If-Match with a likely tag', () => ({ 'if-match': '"1"' })],
    ['If-Match with an unlikely tag', () => ({ 'if-match': '"987654"' })],
    ['Idempotency-Key', () => ({ 'idempotency-key': uuidv7() })],
    ['Range', () => ({ range: 'bytes=0-10' })],
  ]

  let asked = 0

  test.for(sample(named, 40, 'conditional headers'))('$id reveals nothing of another tenant', async (route) => {
    const [mine, theirs] = [await exampleOf(route, own), await exampleOf(route, other)]
    // Names that both have are shared by everybody, and no secret.
    const foreign = Object.entries(theirs.params ?? {}).filter(([name, id]) => mine.params?.[name] !== id)
    if (foreign.length === 0) return
    asked++
    const invented = foreign.map(([name, id]) => [name, isUuid(id) ? uuidv7() : `zz${uuidv7().slice(-12)}`])
    for (const [name, headers] of sample(questions, SAMPLED_HEADERS, route.id)) {
      const given = headers()
      const real = await send(route, mine, { ...mine.params, ...Object.fromEntries(foreign) }, given)
      const unknown = await send(route, mine, { ...mine.params, ...Object.fromEntries(invented) }, given)
      expect([name, visible(real)]).toEqual([name, visible(unknown)])
      expect([name, real.status]).not.toEqual([name, 304])
      for (const [, id] of foreign) expect(real.text).not.toContain(id)
    }
  })

  test('are tried on many operations', () => expect(asked).toBeGreaterThan(15))
})

describe('a stored answer of one tenant', () => {
  const posts = named.filter(({ method }) => method === 'POST')
  announceSampling('operations whose stored answers another tenant asks for')

  test.for(sample(posts, 50, 'stored answers'))(
    '$id is not replayed to another tenant with the same key',
    async (route) => {
      const key = { 'idempotency-key': uuidv7() }
      const theirs = await exampleOf(route, other)
      // Only what tenants share can have the same path in both; the endpoint suite checks that the rest differs.
      const mine = theirs.shared ? await exampleOf(route, own) : undefined
      if (mine && Object.entries(theirs.params ?? {}).every(([name, id]) => mine.params?.[name] === id)) return
      const token = await other.token(undefined, theirs.principal ?? other.caller)
      const place = route.path.replace(/:([a-z_]+)/g, (_, name: string) => theirs.params?.[name] ?? '')
      const answered = await w.call(`POST ${place}`, {
        token,
        headers: key,
        ...(theirs.body !== undefined && { body: theirs.body }),
      })
      expect(answered.status).toBeLessThan(300)
      const stolen = await send(route, { ...theirs, principal: other.caller }, theirs.params ?? {}, key)
      expect(stolen.status).toBe(404)
      expect(stolen.headers['idempotency-replayed']).toBeUndefined()
    },
  )
})

describe('uniqueness', () => {
  test('conflicts inside a tenant only, and the refusal names no row', async () => {
    const [mine, theirs] = [await own.token(), await other.token()]
    const body = { name: 'Ada', email: `${uuidv7()}@example.com`, roles: [] }
    const first = await w.call('POST /users', { token: theirs, body })
    expect(first.status).toBe(201)
    expect((await w.call('POST /users', { token: mine, body })).status).toBe(201)
    const again = await w.call('POST /users', { token: mine, body })
    expect([again.status, again.json.code]).toEqual([409, 'duplicate'])
    for (const secret of [first.json.user_id, other.tenant_id, 'user_account', 'constraint', body.email]) {
      expect(again.text).not.toContain(secret)
    }
  })
})

describe('counts', () => {
  test('of listings, limits and usage do not change with the work of another tenant', async () => {
    const token = await own.token(['tenant_admin', 'auditor'], `user:${uuidv7()}`)
    const paths = [
      '/users?limit=200',
      '/api-keys?limit=200',
      '/jobs?limit=200',
      '/change-requests?limit=200',
      '/audit/checkpoints',
    ]
    const seen = async () => {
      const texts: string[] = []
      for (const path of paths) texts.push((await w.call(`GET ${path}`, { token })).text)
      // The caller is seen once a minute, however long the requests take.
      return texts.map((text) => text.replace(/"next_cursor":"[^"]*"/, '').replaceAll(/"last_seen_at":"[^"]*"/g, ''))
    }
    const before = await seen()
    for (let n = 0; n < 5; n++) await Promise.all([other.newUser(), other.newKey(), other.newJob(), other.newUpload()])
    await other.newChangeRequest('compliance_officer')
    expect(await seen()).toEqual(before)
  })
})
