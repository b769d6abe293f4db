/** Listings are read page by page without gaps or repetitions, and a cursor continues only the listing it came from. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CURSOR_TTL_MS, createCursorCodec } from '#kernel/cursor.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertUser } from '#modules/access/index.ts'
import { getExample, getRequestLine, routes } from '../isolation/support.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let token: string
let tenant_id: string

beforeAll(async () => {
  w = await startTestApp()
  tenant_id = await w.tenant()
  token = await w.token()
  // In one transaction, so that all have the same created_at and only the id tells them apart.
  await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), async (tx) => {
    for (let n = 0; n < 7; n++) await insertUser(tx, person(n))
  })
})
afterAll(() => w.close())

function person(n: number) {
  const user_id = uuidv7()
  const identity = { user_id, issuer: 'probity', subject: `user:${user_id}`, email: `p${n}-${user_id}@example.com` }
  const more = { name: `Person ${n}`, team: null, locale: null, origin: 'built_in', state: 'active' } as const
  return { ...identity, ...more, roles: n % 2 ? ['viewer'] : [] }
}

const page = (query: string, by = token) => w.call(`GET /users?${query}`, { token: by })
const first = async (query = 'limit=2') => (await page(query)).json.next_cursor as string

async function all(query: string, between: () => Promise<void> = async () => {}): Promise<string[]> {
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const { status, json, headers } = await page(`${query}${cursor}`)
    expect(status).toBe(200)
    ids.push(...json.items.map(({ user_id }: { user_id: string }) => user_id))
    expect(headers['link']).toBe(
      json.next_cursor === null ? undefined : `</api/users?${query}&cursor=${json.next_cursor}>; rel="next"`,
    )
    if (json.next_cursor === null) return ids
    cursor = `&cursor=${json.next_cursor}`
    await between()
  }
}

describe('paging', () => {
  test.each([1, 2, 3, 6, 7, 200])('in pages of %i gives every row once, in order', async (limit) => {
    const whole = await all('limit=200')
    expect(await all(`limit=${limit}`)).toEqual(whole)
    expect(new Set(whole).size).toBe(whole.length)
    expect(whole.length).toBeGreaterThanOrEqual(7)
  })

  test('keeps its filters', async () => {
    const viewers = await all('limit=1&role=viewer')
    expect(viewers).toHaveLength(3)
  })

  test('is not affected by rows inserted meanwhile', async () => {
    const before = await all('limit=200')
    const read = await all('limit=2', async () => {
      await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) => insertUser(tx, person(0)))
    })
    expect(read.slice(0, before.length)).toEqual(before)
    expect(new Set(read).size).toBe(read.length)
  })

  test('may change the page size', async () => {
    const whole = await all('limit=200')
    const { json } = await page(`limit=3&cursor=${await first('limit=2')}`)
    expect(json.items.map(({ user_id }: { user_id: string }) => user_id)).toEqual(whole.slice(2, 5))
  })

  test('an empty listing is an empty page', async () => {
    const { json, headers } = await page('state=inactive')
    expect(json).toEqual({ items: [], next_cursor: null })
    expect(headers['link']).toBeUndefined()
  })

  test('returns fifty rows by default', async () => {
    const other = await w.makeTenant()
    await w.runtime.database.write(fullScope(other, 'operator:test'), async (tx) => {
      for (let n = 0; n < 51; n++) await insertUser(tx, person(n))
    })
    const { json } = await page('', await w.token({ tenant_id: other }))
    expect(json.items).toHaveLength(50)
    expect(json.next_cursor).not.toBeNull()
  })

  test('returns the newest first where documented', async () => {
    const other = await w.makeTenant({ four_eyes: true })
    const by = await w.token({ tenant_id: other })
    // Of three people: the same proposal of one person again would be answered with the open request.
    for (let n = 0; n < 3; n++) {
      const token = await w.token({ tenant_id: other })
      await w.call('PUT /tenant/approval-policy', { token, body: { rules: [] } })
    }
    const get = async (query: string) => (await w.call(`GET /change-requests?${query}`, { token: by })).json
    const whole = (await get('limit=200')).items.map(({ cr_id }: { cr_id: string }) => cr_id)
    expect(whole).toEqual(whole.toSorted().toReversed())
    const one = await get('limit=1')
    const two = await get(`limit=2&cursor=${one.next_cursor}`)
    expect([...one.items, ...two.items].map(({ cr_id }) => cr_id)).toEqual(whole)
    expect(two.next_cursor).toBeNull()
  })
})

describe('returns 404 for a cursor', () => {
  const refused = async (at: string, by = token) => {
    const { status, json } = await w.call(`GET ${at}`, { token: by })
    expect(`${status} ${json.code}`).toBe('404 cursor_not_found')
  }

  test.each(['A', 'AAAA', '!', 'null', 'x'.repeat(1000), '%F0%9F%98%80'])('%s', async (cursor) => {
    await refused(`/users?cursor=${cursor}`)
  })

  test('that is shortened, extended or changed in one character', async () => {
    const cursor = await first()
    await refused(`/users?limit=2&cursor=${cursor.slice(0, -1)}`)
    await refused(`/users?limit=2&cursor=${cursor}A`)
    await refused(`/users?limit=2&cursor=${cursor}=`)
    for (let at = 0; at < cursor.length; at += 7) {
      const other = cursor[at] === 'A' ? 'B' : 'A'
      await refused(`/users?limit=2&cursor=${cursor.slice(0, at)}${other}${cursor.slice(at + 1)}`)
    }
  })

  test('of another tenant', async () => {
    await refused(`/users?limit=2&cursor=${await first()}`, await w.token({ tenant_id: await w.makeTenant() }))
  })

  test('of another listing', async () => {
    const listings = routes.filter(({ query }) =>
      Object.hasOwn((query as { properties?: object } | undefined)?.properties ?? {}, 'cursor'),
    )
    const others = listings.filter(({ id }) => id !== 'listUsers')
    expect(others.length).toBe(listings.length - 1)
    expect(others.length).toBeGreaterThan(3)
    const t = new ExampleTenant(w, tenant_id)
    for (const route of others) {
      const example = await getExample(route, t)
      const at = getRequestLine(route, { ...example, query: { ...example.query, cursor: await first() } })
      await refused(at.replace('GET ', ''), await t.token(undefined, example.principal ?? t.caller))
    }
  })

  test('with other filters', async () => {
    await refused(`/users?limit=2&role=viewer&cursor=${await first()}`)
    await refused(`/users?limit=2&cursor=${await first('limit=2&role=viewer')}`)
    await refused(`/users?limit=2&role=analyst&cursor=${await first('limit=2&role=viewer')}`)
  })

  test('that has expired', async () => {
    const position = ['2026-01-01T00:00:00.000000Z', uuidv7()]
    const cursorMade = (ago_ms: number) =>
      createCursorCodec(w.seedContext.keyring.derive('cursor'), () => Date.now() - ago_ms).encode({
        tenant_id,
        route: 'listUsers',
        binding: {},
        position,
      })
    expect((await page(`cursor=${cursorMade(CURSOR_TTL_MS - 60_000)}`)).status).toBe(200)
    await refused(`/users?cursor=${cursorMade(CURSOR_TTL_MS + 1)}`)
  })

  test('returns 422 for a cursor that breaks the schema', async () => {
    for (const cursor of ['', 'x'.repeat(1001), '%00']) expect((await page(`cursor=${cursor}`)).status).toBe(422)
  })
})
