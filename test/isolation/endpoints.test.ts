/**
 * Suite 3, from the route table: authentication, roles, that another tenant's identifiers are answered exactly like random
 * ones, and which audit events each operation writes. A route without an entry in its module's fixtures.ts fails here.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { roles as allRoles, type Role } from '#kernel/auth/roles.ts'
import type { Route } from '#kernel/route.ts'
import { isUuid, uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { fixtures, textsInEvents } from '../support/fixtures.ts'
import type { Example } from '../support/operation-fixture.ts'
import { EXAMPLES_STALE, ExampleRecorder, isRecording, toOperationExample } from '../support/recorded-examples.ts'
import { announceSampling, sample } from '../support/sampling.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'
import { addCanary, expectRecorded } from './recorded-events.ts'
import { getExample, publicRoutes, routes, send, sendAs, tenantRoutes } from './support.ts'

let w: TestApp
let own: ExampleTenant
let other: ExampleTenant

beforeAll(async () => {
  w = await startTestApp()
  ;[own, other] = await Promise.all([ExampleTenant.create(w), ExampleTenant.create(w)])
})
afterAll(() => {
  examples.write((module) => modules.find(({ name }) => name === module)?.routes.map(({ id }) => id) ?? [])
  return w.close()
})

const examples = new ExampleRecorder()
const moduleNames = new Map(modules.flatMap(({ name, routes }) => routes.map(({ id }) => [id, name])))

const kept = new Map<Route, Example | Promise<Example>>()
/** Made once for reads, and for changes that are refused because one identifier is not the caller's. */
function keptExample(route: Route): Example | Promise<Example> {
  const example = kept.get(route) ?? getExample(route, own)
  kept.set(route, example)
  return example
}

const carriedOut = new Map<Route, Example>()
/** For what is refused before anything in it is looked for: what was carried out already serves as well. */
const refusedExample = (route: Route) => carriedOut.get(route) ?? keptExample(route)

function exampleToCarryOut(route: Route, role?: Role): Example | Promise<Example> {
  return route.method === 'GET' ? keptExample(route) : getExample(route, own, role)
}

const SAMPLED_ROLES = 1
const SAMPLED_UNLISTED_ROLES = 1
announceSampling(`${SAMPLED_ROLES} listed and ${SAMPLED_UNLISTED_ROLES} other roles that call each operation alone`)

function checkAnswer(route: Route, example: Example, reply: Reply): void {
  expect([reply.status, reply.text.slice(0, 500)]).toEqual([route.reply[0], expect.anything()])
  carriedOut.set(route, example)
  const seen = toOperationExample(route, example, reply)
  const documented = examples.record(moduleNames.get(route.id) as string, route.id, seen)
  // The reply depends on what other tests made; its schema is checked with the document.
  expect([documented !== undefined, documented?.body], EXAMPLES_STALE).toEqual([true, seen.body])
}

describe('the fixtures', () => {
  test('have exactly one entry per route', () => {
    expect(Object.keys(fixtures).sort()).toEqual(routes.map(({ id }) => id).sort())
  })

  test('cover the routes that are served', () => {
    expect(w.kernel.routes).toEqual(routes)
    expect(tenantRoutes.length).toBeGreaterThan(30)
    expect(publicRoutes.length).toBeGreaterThan(5)
  })

  test.for(publicRoutes)('$id succeeds with its fixture', async (route) => {
    const example = await getExample(route, own)
    checkAnswer(route, example, await sendAs(w, undefined, route, example))
  })

  test.for(tenantRoutes)('$id succeeds with its fixture for listed roles', async (route) => {
    expect(route.roles.length).toBeGreaterThan(0)
    let isAnswered = false
    for (const role of isRecording ? [] : sample(route.roles, SAMPLED_ROLES, route.id)) {
      const example = await exampleToCarryOut(route, role)
      const reply = await send(own, route, example, [role])
      expect([role, reply.status]).not.toEqual([role, 403])
      // A role may see only some of the rows. The example must then succeed for a caller with all roles.
      isAnswered = reply.status !== 404
      if (isAnswered) checkAnswer(route, example, reply)
    }
    if (isAnswered) return
    const example = await exampleToCarryOut(route)
    checkAnswer(route, example, await send(own, route, example))
  })
})

describe('authentication and roles', () => {
  test.for(tenantRoutes)('$id returns 401 without a token', async (route) => {
    const reply = await sendAs(w, undefined, route, await refusedExample(route))
    expect(reply.status).toBe(401)
    expect(reply.headers['www-authenticate']).toMatch(/^Bearer realm="probity"/)
    expect(reply.json.code).toBe('token_missing')
  })

  test.for(tenantRoutes)('$id returns 403 for every role that is not listed', async (route) => {
    const example = await refusedExample(route)
    const unlisted = allRoles.filter((role) => !route.roles.includes(role))
    for (const role of sample(unlisted, SAMPLED_UNLISTED_ROLES, `not listed for ${route.id}`)) {
      const reply = await send(own, route, example, [role])
      expect([role, reply.status, reply.json.code]).toEqual([role, 403, 'role_required'])
    }
    // Every one of them at once: a role that is accepted by mistake is among them. Having none is refused too.
    const reply = await send(own, route, example, unlisted)
    expect([reply.status, reply.json.code]).toEqual([403, 'role_required'])
  })
})

/** A place in an example where one tenant names something of its own and another tenant something else. */
interface Spot {
  readonly part: 'params' | 'query' | 'body'
  readonly at: readonly string[]
  readonly foreign: string
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function spotsIn(part: Spot['part'], mine: unknown, theirs: unknown, at: readonly string[] = []): Spot[] {
  if (isObject(mine) && isObject(theirs)) {
    return Object.keys(mine).flatMap((name) => spotsIn(part, mine[name], theirs[name], [...at, name]))
  }
  if (typeof theirs !== 'string' || mine === theirs) return []
  // A path names things; elsewhere only what looks like an identifier does.
  return part === 'params' || isUuid(theirs) ? [{ part, at, foreign: theirs }] : []
}

function withValue(value: unknown, at: readonly string[], replacement: string): unknown {
  const [name, ...rest] = at
  if (name === undefined) return replacement
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) }
  return Object.assign(copy, { [name]: withValue((value as Record<string, unknown>)[name], rest, replacement) })
}

const placed = (example: Example, { part, at }: Spot, value: string): Example => ({
  ...example,
  [part]: withValue(example[part], at, value),
})

const VOLATILE_HEADERS = ['x-request-id', 'ratelimit', 'ratelimit-policy', 'date']

/** What a caller can tell apart: everything but what names this one request. */
function visible(reply: Reply): object {
  const headers = Object.entries(reply.headers).filter(([name]) => !VOLATILE_HEADERS.includes(name))
  const { instance: _, request_id: __, ...body } = reply.json ?? { text: reply.text }
  return { status: reply.status, headers: Object.fromEntries(headers), body }
}

/** Operations that answer for each identifier of the body, in their order, and repeat it; the rest of the answer must be the same. */
const REPEATING: readonly string[] = ['updateAlerts']
const withoutGiven = (reply: Reply, given: string): Reply => {
  const text = reply.text.replaceAll(given, '~')
  const { items, ...rest } = JSON.parse(text)
  return { ...reply, text, json: { ...rest, items: items.map((item: unknown) => JSON.stringify(item)).sort() } }
}

const findSpots = (mine: Example, theirs: Example): Spot[] =>
  (['params', 'query', 'body'] as const).flatMap((part) => spotsIn(part, mine[part], theirs[part]))

/** Where the path names one thing and nothing else is named, no other part of the example is looked at: one that was carried out will do. */
async function exampleForSpots(route: Route, theirs: Example): Promise<Example> {
  const known = carriedOut.get(route)
  const isPathOnly = known && Object.keys(known.params ?? {}).length === 1 && findSpots(known, theirs).length === 1
  return isPathOnly ? known : keptExample(route)
}

describe("another tenant's identifiers", () => {
  test.for(tenantRoutes)(
    '$id answers them exactly like random ones, and their owner with one audit event per change',
    async (route) => {
      const theirs = await getExample(route, other)
      const mine = await exampleForSpots(route, theirs)
      const spots = findSpots(mine, theirs)
      const inPath = spots.filter(({ part }) => part === 'params')
      if (mine.params && !mine.shared) expect(inPath.length, 'the identifiers of two tenants differ').toBeGreaterThan(0)
      for (const spot of spots) {
        const random = isUuid(spot.foreign) ? uuidv7() : `zz${uuidv7().slice(-12)}`
        const ask = async (id: string): Promise<Reply> => {
          const reply = await send(own, route, placed(mine, spot, id))
          return REPEATING.includes(route.id) ? withoutGiven(reply, id) : reply
        }
        // Carries out what the other identifiers ask for, so that the next two find the same state.
        if (REPEATING.includes(route.id)) await ask(uuidv7())
        const foreign = await ask(spot.foreign)
        const unknown = await ask(random)
        expect(visible(foreign)).toEqual(visible(unknown))
        // Where nothing can be missing, as in the history of an object, there is nothing to list.
        if (spot.part === 'params' && route.problems.includes('not_found')) expect(foreign.status).toBe(404)
        else if (spot.part === 'params') expect([foreign.status, foreign.json.items]).toEqual([200, []])
        expect(foreign.text).not.toContain(spot.foreign)
      }
      // And they are real: their owner is answered, and what she changed is in the audit trail.
      const spoken = { ...theirs, body: addCanary(route, theirs.body) }
      await expectRecorded(other, route, textsInEvents.has(route.id), () => send(other, route, spoken))
    },
  )

  test('are in the path of many operations', async () => {
    const withPath = tenantRoutes.filter(({ path }) => path.includes(':'))
    expect(withPath.length).toBeGreaterThan(15)
  })
})

describe('the tenant comes from the token only', () => {
  test.for(routes)('$id returns 422 when tenant_id is added to query or body', async (route) => {
    const example = await refusedExample(route)
    const answer = (changed: Example) =>
      route.access === 'public' ? sendAs(w, undefined, route, changed) : send(own, route, changed)
    const named = { tenant_id: other.tenant_id }
    const attempts: Example[] = [{ ...example, query: { ...example.query, ...named } }]
    if (route.body) attempts.push({ ...example, body: { ...(example.body as object), ...named } })
    else if (route.method !== 'GET' && !route.bytes) attempts.push({ ...example, body: named })
    for (const changed of attempts) {
      const reply = await answer(changed)
      expect([reply.status, reply.json?.code]).toEqual([422, 'validation_failed'])
    }
  })

  test('ignores headers that name a tenant, and returns 404 for a tenant in the path', async () => {
    const token = await own.token()
    for (const name of ['x-tenant-id', 'tenant-id', 'x-tenant', 'x-probity-tenant']) {
      const reply = await w.call('GET /tenant', { token, headers: { [name]: other.tenant_id } })
      expect(reply.json.tenant_id).toBe(own.tenant_id)
    }
    expect((await w.call(`GET /tenant/${other.tenant_id}`, { token })).status).toBe(404)
  })
})
