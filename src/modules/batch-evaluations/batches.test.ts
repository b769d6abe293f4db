/** Batches from each source, faulty rows, summary, file and estimate. */
import { hash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertRating } from '#modules/subjects/fixtures.ts'
import { ensurePolicy, type Policy } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { type Reply, shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { runBatch, startBatch, uploadText } from './fixtures.ts'

interface Item {
  readonly seq: number
  readonly line: number | null
  readonly subject_id: string | null
  readonly state: string
  readonly inputs: object | null
  readonly band: string | null
  readonly score_bps: number | null
  readonly document_hash: string | null
  readonly change: string | null
  readonly findings: { code: string }[]
}

let w: TestApp
let t: ExampleTenant
let token: string
let policy: Policy

beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
  token = await t.token()
  policy = await ensurePolicy(t)
})
afterAll(() => w.close())

const get = async (path: string) => (await w.call(`GET ${path}`, { token })).json
const listItems = async (batch_id: string, query = '') =>
  (await get(`/batch-evaluations/${batch_id}/items${query}`)).items as Item[]
const run = (body: object) => runBatch(t, { matrix_key: policy.matrix_key, ...body })
const order = (body: object): Promise<Reply> =>
  w.call('POST /batch-evaluations', { token, body: { matrix_key: policy.matrix_key, ...body } })
let people = 0
const newSubject = async (attributes: object, more: object = {}) => {
  const external_id = `person-${++people}-${uuidv7().slice(-8)}`
  const body = { subject_type: 'person', name: 'Ada', external_id, attributes, ...more }
  return { external_id, subject_id: (await t.make('POST /subjects', { body })).subject_id as string }
}
const toSummary = (items: Item[]) => items.map(({ seq, state, band, score_bps }) => [seq, state, band, score_bps])

describe('items come from', () => {
  test('the request, and are decided exactly like single decisions', async () => {
    const known = await newSubject({ country: 'IR', channel: 'branch' })
    const batch_id = await run({
      items: [
        { inputs: { country: 'CH' } },
        { subject_id: known.subject_id, inputs: { pep: true } },
        { external_id: 'nobody-has-this', inputs: { country: 'DE' } },
      ],
    })
    const items = await listItems(batch_id)
    expect(toSummary(items)).toEqual([
      [1, 'done', 'low', 1500],
      [2, 'done', 'high', 4500],
      [3, 'done', 'low', 2000],
    ])
    expect(items[1]).toMatchObject({
      ...known,
      change: 'first',
      inputs: { country: 'IR', channel: 'branch', pep: true },
    })
    expect(items[2]).toMatchObject({ subject_id: null, external_id: 'nobody-has-this', change: null })
    const body = { matrix_key: policy.matrix_key, inputs: { country: 'CH' } }
    const single = (await w.call('POST /evaluations', { token, body })).json
    // The same decision with different salts.
    expect(items[0]?.document_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(items[0]?.document_hash).not.toBe(single.document_hash)
    expect(items[0]).not.toHaveProperty('document_salt')
    const { rating } = await get(`/subjects/${known.subject_id}/risk`)
    expect(rating).toMatchObject({ cause: 'batch', batch_id, band: 'high', matrix_key: policy.matrix_key })
    const explained = await get(`/batch-evaluations/${batch_id}/items/1/explanation`)
    expect(explained).toMatchObject({
      subject_id: null,
      document_hash: items[0]?.document_hash,
      definition: single.definition,
      lists: single.lists,
      outcome: single.outcome,
      explanation: single.explanation,
    })
  })

  test('a CSV file, with cells converted to the declared types', async () => {
    const known = await newSubject({ country: 'IR' })
    const text = `external_id,country,pep\n${known.external_id},,true\nnew-1,DE,false\n,CH,\n`
    const upload_id = await uploadText(t, text)
    const batch_id = await run({ upload_id })
    const items = await listItems(batch_id)
    expect(toSummary(items)).toEqual([
      [1, 'done', 'high', 5500],
      [2, 'done', 'low', 2000],
      [3, 'done', 'low', 1500],
    ])
    expect(items.map(({ line }) => line)).toEqual([2, 3, 4])
    expect(items[0]).toMatchObject({ ...known, inputs: { country: 'IR', pep: true } })
    const batch = await get(`/batch-evaluations/${batch_id}`)
    expect(batch.counts).toEqual({ total: 3, done: 3, failed: 0 })
    expect(batch.source.sha256).toBe(hash('sha256', text, 'hex'))
    // The hash of a file with personal data is not kept longer than the file.
    await t.write((tx) =>
      tx.run('delete from app.upload where tenant_id = $1 and upload_id = $2', [tx.tenant_id, upload_id]),
    )
    expect((await get(`/batch-evaluations/${batch_id}`)).source).toMatchObject({ upload_id: null, sha256: null })
  })

  test('a request with equal inputs, and have different salts and hashes', async () => {
    const batch_id = await run({ items: [{ inputs: { country: 'DE' } }, { inputs: { country: 'DE' } }] })
    const [one, two] = await listItems(batch_id)
    expect(one?.document_hash).not.toBe(two?.document_hash)
    for (const item of [one, two]) {
      const explained = await get(`/batch-evaluations/${batch_id}/items/${item?.seq}/explanation`)
      expect(explained.document_hash).toBe(item?.document_hash)
    }
  })

  test('a file with a column mapping, and other columns are ignored', async () => {
    const file = {
      delimiter: ';',
      mapping: { external_id: 'customer', inputs: [{ column: 'land', input: 'country' }] },
    }
    const upload_id = await uploadText(t, 'customer;land;shoe size\nc-1;IR;42\n')
    const [item] = await listItems(await run({ upload_id, file }))
    expect(item).toMatchObject({ external_id: 'c-1', inputs: { country: 'IR' }, band: 'high' })
    const missing = await uploadText(t, 'customer;country\nc-1;IR\n')
    const batch = await get(`/batch-evaluations/${await run({ upload_id: missing, file })}`)
    expect([batch.state, batch.problem.code, batch.problem.source_fault.code]).toEqual([
      'failed',
      'source_invalid',
      'column_missing',
    ])
  })

  test('an NDJSON file, and values keep their types', async () => {
    const text = '{"external_id":"n-1","country":"DE","pep":true}\n\n{"country":"CH","pep":"true"}\n'
    const upload_id = await uploadText(t, text, 'items.ndjson')
    const items = await listItems(await run({ upload_id, file: { format: 'ndjson' } }))
    expect(toSummary(items)).toEqual([
      [1, 'done', 'high', 2000],
      [2, 'failed', null, null],
    ])
    expect(items[1]).toMatchObject({ line: 3, findings: [{ code: 'input_type', pointer: '/pep' }] })
  })

  test('all active subjects that match a filter', async () => {
    const segment = `segment-${uuidv7().slice(-8)}`
    const [one, two, gone] = [
      await newSubject({ country: 'IR' }, { segment }),
      await newSubject({ country: 'CH' }, { segment }),
      await newSubject({ country: 'CH' }, { segment }),
    ]
    await t.make(`POST /subjects/${gone?.subject_id}/offboard`, { body: { reason: 'left' } })
    const batch_id = await run({ filter: { segment } })
    const items = await listItems(batch_id)
    expect(items.map(({ subject_id, band }) => [subject_id, band])).toEqual([
      [one?.subject_id, 'high'],
      [two?.subject_id, 'low'],
    ])
    expect((await get(`/subjects/${two?.subject_id}/risk`)).rating).toMatchObject({ batch_id, band: 'low' })
    const high = await listItems(await run({ filter: { segment, band: 'high' } }))
    expect(high.map(({ subject_id, change }) => [subject_id, change])).toEqual([[one?.subject_id, 'same']])
    const later = await startBatch(t, { matrix_key: policy.matrix_key, filter: { segment } })
    await newSubject({ country: 'CH' }, { segment })
    await t.runToEnd(later.job)
    expect(await listItems(later.batch_id)).toHaveLength(2)
  })
})

describe('a faulty row', () => {
  test('becomes a failed item with its line and all faults; the others are decided', async () => {
    const rows = ['a,DE', 'b,XX', 'c,DE,too,many', 'd', `${'e'.repeat(201)},DE`, 'g,CH']
    const upload_id = await uploadText(t, `external_id,country\n${rows.join('\n')}\n`)
    const batch_id = await run({ upload_id })
    const items = await listItems(batch_id)
    expect(items.map(({ line, state, findings }) => [line, state, findings[0]?.code])).toEqual([
      [2, 'done', undefined],
      [3, 'failed', 'input_not_allowed'],
      [4, 'failed', 'column_extra'],
      [5, 'failed', 'column_lacking'],
      [6, 'failed', 'external_id_invalid'],
      [7, 'done', undefined],
    ])
    const summary = await get(`/batch-evaluations/${batch_id}/summary`)
    expect(summary).toMatchObject({ items: 6, done: 2, failed: 4, bands: [{ band: 'low', count: 2 }] })
    expect(summary.failures).toHaveLength(4)
    expect(await listItems(batch_id, '?failure_code=column_extra')).toHaveLength(1)
  })

  test('that cannot be stored or is too large fails alone', async () => {
    const rows = [
      '{"country":"D\\u0000E"}',
      '{"country":"D\\ud800E"}',
      `{"country":"${'D'.repeat(20_000)}"}`,
      '[]',
      '{"country":"DE"}',
    ]
    const upload_id = await uploadText(t, `${rows.join('\n')}\n`, 'items.ndjson')
    const items = await listItems(await run({ upload_id, file: { format: 'ndjson' } }))
    expect(items.map(({ state, inputs, findings }) => [state, inputs === null, findings[0]?.code])).toEqual([
      ['failed', true, 'content_unstorable'],
      ['failed', true, 'value_unreadable'],
      ['failed', true, 'inputs_too_large'],
      ['failed', true, 'not_an_object'],
      ['done', false, undefined],
    ])
  })

  test('with an undeclared column fails, unless a mapping ignores it', async () => {
    const upload_id = await uploadText(t, 'country,planet\nDE,Mars\n')
    const [item] = await listItems(await run({ upload_id }))
    expect(item).toMatchObject({ state: 'failed', findings: [{ code: 'input_unknown', pointer: '/planet' }] })
    const file = { mapping: { inputs: [{ column: 'country', input: 'country' }] } }
    expect(toSummary(await listItems(await run({ upload_id, file })))).toEqual([[1, 'done', 'low', 2000]])
  })
})

describe('nothing is decided on', () => {
  test('an empty file, one without rows, or a truncated one', async () => {
    for (const text of ['external_id,country\n', 'country\nDE\n"CH']) {
      const batch_id = await run({ upload_id: await uploadText(t, text) })
      const batch = await get(`/batch-evaluations/${batch_id}`)
      expect([batch.state, batch.problem?.code, batch.counts.done]).toEqual(['failed', 'source_invalid', 0])
    }
  })

  test('an ambiguous request', async () => {
    const upload_id = await t.upload()
    const items = [{ inputs: { country: 'DE' } }]
    const codes = await Promise.all(
      [{}, { upload_id, items }, { items, filter: {} }, { items, file: {} }, { items, rule_key: 'another' }].map(
        async (body) => (await order(body)).json.code,
      ),
    )
    expect(new Set(codes)).toEqual(new Set(['inputs_refused']))
    expect((await order({ items, matrix_key: 'no-such-matrix' })).status).toBe(404)
    expect((await order({ items, valid_at: '1999-01-01T00:00:00Z' })).json.code).toBe('nothing_in_force')
    expect((await order({ items, valid_at: '2090-01-01T00:00:00Z' })).json.errors).toMatchObject([
      { pointer: '#/valid_at' },
    ])
  })

  test('what belongs to another tenant', async () => {
    const other = await ExampleTenant.create(w)
    const { matrix_key } = await ensurePolicy(other)
    const subject_id = (await newSubject({ country: 'DE' })).subject_id
    const foreign = { token: await other.token() }
    const upload_id = await uploadText(t, 'country\nDE\n')
    for (const source of [{ upload_id }, { items: [{ subject_id }] }]) {
      const reply = await w.call('POST /batch-evaluations', { ...foreign, body: { matrix_key, ...source } })
      expect(reply.status).toBe(404)
    }
    const batch_id = await run({ items: [{ inputs: { country: 'DE' } }] })
    for (const path of ['', '/items', '/items/1/explanation', '/summary', '/content']) {
      expect((await w.call(`GET /batch-evaluations/${batch_id}${path}`, foreign)).status).toBe(404)
    }
    const all = await w.call('POST /batch-evaluations', { ...foreign, body: { matrix_key, filter: {} } })
    await other.runToEnd(all.json)
    expect((await w.call(`GET ${all.json.resource.replace('/api', '')}`, foreign)).json.counts.done).toBe(0)
  })
})

describe('the summary', () => {
  test('contains the transition table of bands', async () => {
    const of = { matrix_key: policy.matrix_key }
    const segment = `segment-${uuidv7().slice(-8)}`
    const plan: [string, string | null][] = [
      ['IR', 'low'],
      ['IR', 'low'],
      ['IR', 'high'],
      ['CH', 'high'],
      ['DE', 'low'],
      ['DE', null],
      ['CH', 'forgotten'],
      ['XX', 'low'],
    ]
    for (const [country, before] of plan) {
      const { subject_id } = await newSubject({ country }, { segment })
      await insertRating(t, subject_id, 'high', { matrix_key: 'another-matrix' })
      if (before !== null) await insertRating(t, subject_id, before, of)
    }
    const batch_id = await run({ filter: { segment } })
    const summary = await get(`/batch-evaluations/${batch_id}/summary`)
    expect(summary).toEqual({
      batch_id,
      state: 'succeeded',
      items: 8,
      done: 7,
      failed: 1,
      bands: [
        { band: 'low', count: 4 },
        { band: 'high', count: 3 },
      ],
      hits: null,
      migration: [
        { from: 'low', to: 'high', count: 2 },
        { from: 'forgotten', to: 'low', count: 1 },
        { from: 'high', to: 'high', count: 1 },
        { from: 'high', to: 'low', count: 1 },
        { from: 'low', to: 'low', count: 1 },
        { from: null, to: 'low', count: 1 },
      ],
      changes: { first: 1, same: 2, raised: 2, lowered: 1, moved: 1 },
      failures: [{ code: 'input_not_allowed', count: 1 }],
    })
    const count = async (query: string) => (await listItems(batch_id, query)).length
    expect(await count('?change=raised')).toBe(2)
    expect(await count('?change=same')).toBe(2)
    expect(await count('?band=low&previous_band=high')).toBe(1)
    const [first] = await listItems(batch_id)
    expect(await count(`?subject_id=${first?.subject_id}`)).toBe(1)
    expect(await count('?hit=hit')).toBe(0)
    expect(await count('?state=failed')).toBe(1)
  })

  test('does not change when subjects are rated during or after the batch', async () => {
    const { subject_id } = await newSubject({ country: 'IR' })
    await insertRating(t, subject_id, 'low', { matrix_key: policy.matrix_key })
    const { batch_id, job } = await startBatch(t, { matrix_key: policy.matrix_key, items: [{ subject_id }] })
    await insertRating(t, subject_id, 'high', { matrix_key: policy.matrix_key })
    await t.runToEnd(job)
    expect((await get(`/batch-evaluations/${batch_id}/summary`)).migration).toEqual([
      { from: 'low', to: 'high', count: 1 },
    ])
  })
})

test('the file of a batch contains every item, with formulas escaped', async () => {
  const items = [
    { external_id: '=1+1', inputs: { country: 'DE' } },
    { external_id: 'plain', inputs: {} },
  ]
  const batch_id = await run({ items })
  const content = (query: string) => w.call(`GET /batch-evaluations/${batch_id}/content${query}`, { token })
  const lines = (await content('')).text.trimEnd().split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines[1]).toContain(",'=1+1,done,")
  expect((await content('')).headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="batch-${batch_id}.csv"`,
  })
  expect((await content('?format=ndjson')).headers['content-type']).toBe('application/x-ndjson')
  expect((await content('?formula_guard=false')).text).toContain(',=1+1,done,')
  const ndjson = (await content('?format=ndjson')).text.trimEnd().split('\n')
  expect(ndjson.map((line) => JSON.parse(line))).toEqual(await listItems(batch_id))
  const { batch_id: waiting } = await startBatch(t, { matrix_key: policy.matrix_key, items })
  expect((await w.call(`GET /batch-evaluations/${waiting}/content`, { token })).json.code).toBe('not_finished')
  await t.make(`POST /batch-evaluations/${waiting}/cancel`)
})

test('an estimate counts items, decides the first ones, and stores nothing', async () => {
  const upload_id = await uploadText(t, 'country\nDE\nXX\nCH\n')
  const body = { matrix_key: policy.matrix_key, upload_id }
  const before = (await get('/batch-evaluations')).items.length
  const { status, json } = await w.call('POST /batch-evaluations/estimate', { token, body })
  expect(status).toBe(200)
  expect(json).toMatchObject({ items: 3, is_exact: true, seconds: 1, provider_calls: 0, definition_version: 1 })
  expect(json.tried).toMatchObject({ items: 3, failed: 1, failures: [{ code: 'input_not_allowed', count: 1 }] })
  expect((await get('/batch-evaluations')).items).toHaveLength(before)
  const filter = await w.call('POST /batch-evaluations/estimate', {
    token,
    body: { matrix_key: policy.matrix_key, filter: {} },
  })
  const subjects = (await t.write((tx) => tx.query(`select 1 from app.subject where state = 'active'`))).length
  expect(filter.json).toMatchObject({ items: subjects, is_exact: true })
})

test('a subject that is erased after the order fails its own item only', async () => {
  const gone = await newSubject({ country: 'DE' }, { name: 'Grace Brewster Hopper' })
  const known = await newSubject({ country: 'DE' })
  const inputs = { country: 'DE' }
  const items = [gone, known].map(({ subject_id }) => ({ subject_id, inputs }))
  const { batch_id, job } = await startBatch(t, { matrix_key: policy.matrix_key, items: [...items, { inputs }] })
  const [one, other] = [
    await w.person(t.tenant_id, ['compliance_officer']),
    await w.person(t.tenant_id, ['compliance_officer']),
  ]
  const erase = `POST /subjects/${gone.subject_id}/erase`
  const { erasure_id } = await t.make(erase, { token: one.token, body: { reason: 'Request of the person' } })
  await t.make(`POST /erasures/${erasure_id}/confirm`, { token: other.token })
  expect(await t.runToEnd(job)).toMatchObject({ state: 'succeeded' })
  expect((await listItems(batch_id)).map(({ state }) => state)).toEqual(['failed', 'done', 'done'])
})
