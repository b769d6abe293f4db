/** What the sample-widgets router does. Roles, isolation, faults and audit events are covered by the matrices. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let token: string
beforeAll(async () => {
  w = await shareTestApp()
})
afterAll(() => w.close())
beforeEach(async () => {
  token = await w.token({ tenant_id: await w.makeTenant() })
})

const create = (body: object, headers: Record<string, string> = {}) =>
  w.call('POST /sample-widgets', { token, body, headers })
const get = (id: string) => w.call(`GET /sample-widgets/${id}`, { token })
const update = (id: string, body: object, headers: Record<string, string> = {}) =>
  w.call(`PATCH /sample-widgets/${id}`, { token, body, headers })

describe('creating', () => {
  test('returns 201 with the location, and the same representation is read there', async () => {
    const { status, headers, json } = await create({ name: 'First', note: 'A note.' })
    expect(status).toBe(201)
    expect(headers['location']).toBe(`/api/sample-widgets/${json.sample_widget_id}`)
    expect(headers['etag']).toBe('"1"')
    expect(json).toMatchObject({ name: 'First', note: 'A note.', revision: 1 })
    expect((await get(json.sample_widget_id)).json).toEqual(json)
  })

  test('returns 409 when the name is taken', async () => {
    await create({ name: 'First' })
    const { status, json } = await create({ name: 'First' })
    expect([status, json.code]).toEqual([409, 'duplicate'])
  })

  test('creates one when a request is repeated with its Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'first' }
    const first = await create({ name: 'First' }, headers)
    const repeated = await create({ name: 'First' }, headers)
    expect(repeated.headers['idempotency-replayed']).toBe('true')
    expect(repeated.json).toEqual(first.json)
  })
})

describe('changing', () => {
  test('changes what is sent, keeps the rest and raises the revision', async () => {
    const { json } = await create({ name: 'First', note: 'A note.' })
    const changed = await update(json.sample_widget_id, { name: 'Second' })
    expect(changed.json).toMatchObject({ name: 'Second', note: 'A note.', revision: 2 })
    expect((await update(json.sample_widget_id, { note: null })).json).toMatchObject({ name: 'Second', note: null })
  })

  test('returns 409 or 412 when somebody else has changed it', async () => {
    const { json } = await create({ name: 'First' })
    await update(json.sample_widget_id, { name: 'Second' })
    const stale = await update(json.sample_widget_id, { name: 'Third', expected_revision: 1 })
    expect([stale.status, stale.json.code]).toEqual([409, 'revision_stale'])
    const unmatched = await update(json.sample_widget_id, { name: 'Third' }, { 'if-match': '"1"' })
    expect([unmatched.status, unmatched.json.code]).toEqual([412, 'precondition_failed'])
    expect((await get(json.sample_widget_id)).json.name).toBe('Second')
  })
})

describe('deleting', () => {
  test('returns 204, and 404 afterwards', async () => {
    const { json } = await create({ name: 'First' })
    const remove = () => w.call(`DELETE /sample-widgets/${json.sample_widget_id}`, { token })
    expect((await remove()).status).toBe(204)
    expect((await get(json.sample_widget_id)).status).toBe(404)
    expect((await remove()).status).toBe(404)
  })
})

describe('listing', () => {
  test('gives pages, oldest first, and filters by name', async () => {
    for (const name of ['First', 'Second', 'Third']) await create({ name })
    const list = async (query: string) => (await w.call(`GET /sample-widgets?${query}`, { token })).json
    const page = await list('limit=2')
    expect(page.items.map(({ name }: { name: string }) => name)).toEqual(['First', 'Second'])
    const rest = await list(`limit=2&cursor=${page.next_cursor}`)
    expect(rest.items.map(({ name }: { name: string }) => name)).toEqual(['Third'])
    expect(rest.next_cursor).toBeNull()
    expect((await list('name=Second')).items).toHaveLength(1)
  })
})
