/**
 * The life cycle of a list: type, versions, differences, activation, rollback, and resolution by valid time and known time.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let tenant_id: string
let maker: string
let checker: string
beforeAll(async () => {
  w = await shareTestApp()
  tenant_id = await w.makeTenant()
  maker = await w.token({ tenant_id, roles: ['policy_editor'] })
  checker = await w.token({ tenant_id, roles: ['compliance_officer'] })
})
afterAll(() => w.close())

const call = (at: string, body?: object, token = maker) => w.call(at, { token, ...(body && { body }) })

const ratingType = (type_key: string) => ({
  type_key,
  title: 'Country rating',
  description: 'How risky a country is held to be.',
  schema: {
    type: 'object',
    properties: {
      country: { type: 'string', pattern: '^[A-Z]{2}$' },
      rating: { type: 'string', enum: ['low', 'medium', 'high'] },
      score_bps: { type: 'integer', minimum: 0, maximum: 10000 },
    },
    required: ['country', 'rating'],
    additionalProperties: false,
  },
  key_pointers: ['/country'],
  fields: { '/country': { title: 'Country code' }, '/rating': { title: 'Rating', order: ['low', 'medium', 'high'] } },
  examples: [{ country: 'DE', rating: 'low', score_bps: 500 }],
})
let count = 0
async function newList(versions: object[][] = []): Promise<string> {
  const list_key = `ratings-${++count}`
  expect((await call('POST /reference-data/types', ratingType(`type-${list_key}`))).status).toBe(201)
  const made = await call('POST /reference-data/datasets', { list_key, type_key: `type-${list_key}`, title: 'Ratings' })
  expect([made.status, made.json]).toMatchObject([201, { list_key, origin: 'own', head_version: 0, active: null }])
  for (const data of versions) {
    const reply = await call(`POST /reference-data/datasets/${list_key}/versions`, { data })
    expect([reply.status, reply.json]).toMatchObject([201, {}])
  }
  return list_key
}
const de = { country: 'DE', rating: 'low', score_bps: 500 }
const ng = { country: 'NG', rating: 'high', score_bps: 8000 }
const fr = { country: 'FR', rating: 'low' }

describe('versions', () => {
  test('are numbered, retained, immutable and readable in key order', async () => {
    const list_key = await newList([
      [ng, de],
      [de, { ...ng, rating: 'medium' }, fr],
    ])
    const path = `GET /reference-data/datasets/${list_key}`
    const { json } = await call(`${path}/versions`)
    expect(json.items.map(({ version }: { version: number }) => version)).toEqual([2, 1])
    expect(json.items[0].difference).toEqual({ added: 1, removed: 0, changed: 1 })
    expect((await call(`${path}/versions/1`)).json.data).toEqual([de, ng])
    expect((await call(`${path}/versions/2`)).json.data).toEqual([de, fr, { ...ng, rating: 'medium' }])
    expect((await call(`${path}/versions/3`)).json.code).toBe('not_found')
  })

  test('a bad entry is located, and nothing is stored of the others', async () => {
    const list_key = await newList()
    const { status, json } = await call(`POST /reference-data/datasets/${list_key}/versions`, {
      data: [de, { country: 'Germany', rating: 'huge' }, { rating: 'low' }],
    })
    expect([status, json.code]).toEqual([409, 'type_violation'])
    const pointers = json.errors.map(({ pointer }: { pointer: string }) => pointer)
    expect(pointers).toEqual(expect.arrayContaining(['#/data/1/country', '#/data/1/rating', '#/data/2/country']))
    expect((await call(`GET /reference-data/datasets/${list_key}`)).json.head_version).toBe(0)
  })

  test('refuses a duplicate key with both locations', async () => {
    const list_key = await newList()
    const { json } = await call(`POST /reference-data/datasets/${list_key}/versions`, { data: [de, fr, de] })
    expect(json).toMatchObject({
      code: 'type_violation',
      errors: [{ pointer: '#/data/2', detail: expect.stringContaining('entry 1') }],
    })
  })
})

describe('the difference between two versions', () => {
  test('lists added, removed and changed entries, field by field, in either direction', async () => {
    const list_key = await newList([
      [ng, de],
      [{ ...ng, rating: 'medium' }, fr],
    ])
    const { json } = await call(`GET /reference-data/datasets/${list_key}/diff?from=1&to=2`)
    expect(json.summary).toEqual({
      added: 1,
      removed: 1,
      changed: 1,
      fields: [{ pointer: '/rating', changed: 1 }],
      exact: true,
    })
    expect(json.items.map(({ op, key }: { op: string; key: string }) => [op, key])).toEqual([
      ['removed', 'DE'],
      ['added', 'FR'],
      ['changed', 'NG'],
    ])
    expect(json.items[2].changes).toEqual([{ pointer: '/rating', before: 'high', after: 'medium' }])
    const back = (await call(`GET /reference-data/datasets/${list_key}/diff?from=2&to=1&format=json-patch`)).json
    expect(back.items.flatMap(({ patch }: { patch: unknown[] }) => patch)).toEqual([
      { op: 'add', path: '/DE', value: expect.objectContaining({ country: 'DE' }) },
      { op: 'remove', path: '/FR' },
      { op: 'replace', path: '/NG/rating', value: 'high' },
    ])
  })

  test('accepts labels and numbers', async () => {
    const list_key = await newList([[de]])
    const at = `/reference-data/datasets/${list_key}`
    await call(`POST ${at}/versions`, { data: [de, fr], label: '2026-q2' })
    const byNumber = await call(`GET ${at}/diff?from=2&to=1`)
    expect(byNumber.json).toMatchObject({ from: 2, to: 1, summary: { removed: 1 } })
    expect((await call(`GET ${at}/diff?from=2026-q2&to=1`)).json).toEqual(byNumber.json)
    const missing = await call(`GET ${at}/diff?from=1&to=2026-q3`)
    expect([missing.status, missing.json.detail]).toEqual([404, `There is no version 2026-q3 of ${list_key}.`])
  })
})

describe('a type', () => {
  test('with a shared name is refused', async () => {
    const { status, json } = await call('POST /reference-data/types', ratingType('country'))
    expect([status, json.code]).toEqual([409, 'list_key_reserved'])
    expect(json.detail).toBe('country is a shared type: use it as it is, or choose another key.')
  })
})

describe('what is in force', () => {
  test('is activated, resolved, looked up with a receipt, and rolled back in one call', async () => {
    const list_key = await newList([
      [ng, de],
      [{ ...ng, rating: 'medium' }, de],
    ])
    const path = `/reference-data/datasets/${list_key}`
    expect((await call(`GET /reference-data/resolve/${list_key}`)).json.code).toBe('nothing_in_force')
    for (const version of [1, 2]) {
      const reply = await call(`POST ${path}/activations`, { version, reason: 'reviewed' }, checker)
      expect([reply.status, reply.json]).toMatchObject([201, { version, seq: version }])
    }
    expect((await call(`GET /reference-data/resolve/${list_key}`)).json).toMatchObject({
      version: 2,
      via: 'tenant-own',
    })
    const looked = (await call('POST /reference-data/lookup', { lookups: [{ list_key, keys: ['NG', 'XX'] }] })).json
    expect(looked.results[0].entries).toEqual([
      { key: 'NG', entry: { ...ng, rating: 'medium' } },
      { key: 'XX', entry: null },
    ])
    const receipt = (await call(`GET /reference-data/receipts/${looked.receipt.receipt_id}`)).json
    expect(receipt.lists).toMatchObject([{ list_key, version: 2 }])
    const rolled = await call(`POST ${path}/rollback`, { reason: 'wrong' }, checker)
    expect([rolled.status, rolled.json]).toMatchObject([
      201,
      { activation: { version: 1, kind: 'rollback' }, revoked: [] },
    ])
    expect((await call(`GET /reference-data/resolve/${list_key}`)).json.version).toBe(1)
    const timeline = (await call(`GET ${path}/activations`)).json
    expect(timeline.in_force.map(({ version }: { version: number }) => version)).toEqual([1, 2, 1])
    // As known before the rollback, the second version was in force.
    const known = timeline.items[1].recorded_at
    expect((await call(`GET /reference-data/resolve/${list_key}?known_at=${known}`)).json.version).toBe(2)
  })

  test('a scheduled activation is pending, is listed, and is cancelled by a rollback', async () => {
    const list_key = await newList([[de], [ng, de]])
    const path = `/reference-data/datasets/${list_key}`
    for (const version of [1, 2]) await call(`POST ${path}/activations`, { version, reason: 'now' }, checker)
    await call(
      `POST ${path}/activations`,
      { version: 1, reason: 'later', effective_from: '2090-01-01T00:00:00Z' },
      checker,
    )
    expect((await call(`GET ${path}`)).json.pending).toMatchObject([{ version: 1 }])
    expect((await call(`GET /reference-data/resolve/${list_key}?valid_at=2091-01-01T00:00:00Z`)).json.version).toBe(1)
    const rolled = await call(`POST ${path}/rollback`, { to_version: 1, reason: 'now then' }, checker)
    expect(rolled.json.revoked).toMatchObject([{ version: 1, revoke_reason: 'Rolled back: now then' }])
    expect((await call(`GET ${path}`)).json.pending).toEqual([])
  })
})

describe('an approval after the requested instant', () => {
  const effective_from = '2020-01-01T00:00:00Z'
  async function submitVersion(list_key: string, requested_at?: string): Promise<string> {
    const submission = { reason: 'for the new year', effective_from }
    const { status, json } = await call(`POST /reference-data/datasets/${list_key}/versions/1/submit`, submission)
    expect(status).toBe(201)
    if (requested_at) {
      const text = 'update app.change_request set created_at = $2 where cr_id = $1'
      const scope = fullScope(tenant_id, 'operator:test')
      expect(await w.runtime.database.write(scope, (tx) => tx.run(text, [json.cr_id, requested_at]))).toBe(1)
    }
    return json.cr_id
  }
  const approve = (cr_id: string) => call(`POST /change-requests/${cr_id}/approve`, {}, checker)

  test('is refused, since decisions in between used another version', async () => {
    const list_key = await newList([[de]])
    const cr_id = await submitVersion(list_key, '2019-12-31T12:00:00Z')
    const refused = await approve(cr_id)
    expect([refused.status, refused.json.code]).toEqual([409, 'approval_void'])
    expect(refused.json.detail).toContain('The instant has passed')
    expect((await call(`GET /change-requests/${cr_id}`)).json).toMatchObject({ state: 'open', approvals: [] })
    expect((await call(`GET /reference-data/datasets/${list_key}/activations`)).json.items).toEqual([])
  })

  test('is accepted where the request stated a past instant', async () => {
    const list_key = await newList([[de]])
    const cr_id = await submitVersion(list_key)
    expect((await approve(cr_id)).status).toBe(200)
    const { items } = (await call(`GET /reference-data/datasets/${list_key}/activations`)).json
    expect(items).toMatchObject([{ version: 1, retroactive: true, cr_id }])
  })
})

describe('a repeated request', () => {
  test('returns the same reply, and stores no copy of the content with it', async () => {
    const list_key = await newList()
    const options = { token: maker, body: { data: [de] }, headers: { 'idempotency-key': 'again' } }
    for (let n = 0; n < 2; n++) {
      const reply = await w.call(`POST /reference-data/datasets/${list_key}/versions`, options)
      expect(reply).toMatchObject({ status: 201, json: { version: 1 } })
    }
    const kept = await w.runtime.database.read(fullScope(tenant_id, 'operator:test'), (tx) =>
      tx.query<{ fingerprint: string }>(`select fingerprint from app.idempotency where key = 'again'`),
    )
    expect(kept).toHaveLength(1)
    expect(kept[0]?.fingerprint).not.toContain('DE')
    expect(kept[0]?.fingerprint.length).toBeLessThan(200)
  })
})
