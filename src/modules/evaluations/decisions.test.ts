/** Making decisions: from the request to the stored document, refusals, and search. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashDocument } from '#decision/document.ts'
import { createSalt, isSalt } from '#decision/salt.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { countries, ensurePolicy, type Policy, publishList } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { type Reply, shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { decide, storeDecision } from './decide/decide.ts'
import { newPerson } from './fixtures.ts'

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

const evaluate = (body: object): Promise<Reply> =>
  w.call('POST /evaluations', { token, body: { matrix_key: policy.matrix_key, ...body } })
const countRows = async (table: string): Promise<number> =>
  (await t.write((tx) => tx.query(`select 1 from app.${table} where tenant_id = $1`, [tx.tenant_id]))).length

describe('a decision', () => {
  test('uses the versions in force and explains the outcome', async () => {
    const { status, json, headers } = await evaluate({ inputs: { country: 'IR', channel: 'branch' } })
    expect([status, json.code]).toEqual([201, undefined])
    expect(headers['location']).toBe(`/api/evaluations/${json.evaluation_id}`)
    // (9000 × 5000 + 0 × 5000) ÷ 10000
    expect(json.outcome).toMatchObject({ family: 'matrix', score_bps: 4500, band: 'high', scored_band: 'high' })
    expect(json).toMatchObject({ band: 'high', score_bps: 4500, definition_version: 1, subject_id: null })
    expect(json.definition).toMatchObject({ family: 'matrix', key: policy.matrix_key, version: 1 })
    expect(json.lists.map(({ list_key, version }: never) => [list_key, version])).toEqual(
      [policy.band_list, policy.country_list].sort().map((list_key) => [list_key, 1]),
    )
    expect(json.explanation.factors[0]).toMatchObject({
      key: 'country',
      score_bps: 9000,
      contribution_bps: '4500.0000',
    })
    expect(json.explanation.factors[0].reason).toBe('Residence in IR is rated 9000.')
  })

  test('is stored with COMMIT after one statement for its key, and read back unchanged', async () => {
    const subject_id = await newPerson(t, { country: 'IR' })
    const order = { matrix_key: policy.matrix_key, subject_id, inputs: { channel: 'branch' } }
    await t.make('POST /evaluations', { body: order })
    const refuse = (): never => expect.fail('nothing else is sent before COMMIT')
    const explained = await t.write(async (tx) => {
      const decided = await decide(w.kernel, tx, order)
      const texts: string[] = []
      const query: typeof tx.query = (text, values) => {
        texts.push(text)
        return tx.query(text, values)
      }
      const stored = await storeDecision(w.kernel, { ...tx, query, find: refuse, run: refuse }, order, decided)
      expect(texts.map((text) => /app\.\w+/.exec(text)?.[0])).toEqual(['app.tenant_key'])
      return stored
    })
    const { json } = await w.call(`GET /evaluations/${explained.evaluation_id}`, { token })
    const { receipt_id, receipt_hash, ...columns } = explained
    const { valid_at, decided_at } = explained
    expect(json).toMatchObject(columns)
    expect(json.receipt).toEqual({ receipt_id, manifest_hash: receipt_hash, valid_at, known_at: decided_at })
    const history = await w.call(`GET /subjects/${subject_id}/risk-history`, { token })
    expect(history.json.items[0]).toMatchObject({
      evaluation_id: explained.evaluation_id,
      valid_at,
      band: explained.band,
    })
  })

  test('is read back unchanged, with explanation and inputs', async () => {
    const made = (await evaluate({ inputs: { country: 'CH' }, valid_at: new Date().toISOString() })).json
    const { explanation, ...explained } = made
    const path = `/evaluations/${made.evaluation_id}`
    expect((await w.call(`GET ${path}`, { token })).json).toEqual(explained)
    expect((await w.call(`GET ${path}/explanation`, { token })).json.explanation).toEqual(explanation)
    const pinned = (await w.call(`GET ${path}/inputs`, { token })).json
    expect(pinned).toMatchObject({ inputs: { country: 'CH' }, engine: 1, document_hash: made.document_hash })
    expect(pinned.used).toContainEqual({
      list_key: policy.country_list,
      key: 'CH',
      field: 'score_bps',
      value: 1000,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const receipt = await w.call(`GET /reference-data/receipts/${made.receipt.receipt_id}`, { token })
    expect(receipt.json).toMatchObject({ manifest_hash: made.receipt.manifest_hash, known_at: made.decided_at })
  })

  test('about a subject merges its attributes with the inputs and rates it', async () => {
    const subject_id = await newPerson(t, { country: 'IR', channel: 'branch', shoe_size: 42 })
    const plain = (await evaluate({ subject_id })).json
    expect([plain.band, plain.score_bps, plain.subject_id]).toEqual(['high', 4500, subject_id])
    const sent = (await evaluate({ subject_id, inputs: { country: 'CH' } })).json
    expect([sent.band, sent.score_bps]).toEqual(['low', 500])
    const risk = (await w.call(`GET /subjects/${subject_id}/risk`, { token })).json
    expect(risk).toMatchObject({ band: 'low', source: 'rating', rating: { evaluation_id: sent.evaluation_id } })
    expect(risk.rating).toMatchObject({ matrix_key: policy.matrix_key, matrix_version: 1, score_bps: 500 })
  })

  test('differs from the same decision about another subject in salt and hash only', async () => {
    const attributes = { country: 'DE', channel: 'online', pep: true }
    const [one, two] = [
      (await evaluate({ subject_id: await newPerson(t, attributes) })).json,
      (await evaluate({ subject_id: await newPerson(t, attributes) })).json,
    ]
    expect(one.document_hash).not.toBe(two.document_hash)
    const body = { evaluation_ids: [one.evaluation_id, two.evaluation_id] }
    const compared = (await w.call('POST /evaluations/compare', { token, body })).json
    expect(compared).toMatchObject({ same_outcome: true, same_inputs: true, same_versions: true, changes: [] })
  })

  test('cannot be confirmed from its hash by guessing the inputs', async () => {
    const { evaluation_id, document_hash } = (await evaluate({ inputs: { country: 'DE' } })).json
    const { document } = (await w.call(`GET /evaluations/${evaluation_id}/certificate`, { token })).json
    expect(hashDocument(canonicalJson(document))).toBe(document_hash)
    const { salt, ...known } = document
    expect(isSalt(salt)).toBe(true)
    const { evidence: _e, plugins: _p, ...older } = { ...known, format: 'probity-decision/1' }
    const guesses = [known, older, { ...known, salt: '' }, { ...known, salt: null }, { ...known, salt: createSalt() }]
    expect(guesses.map((guess) => hashDocument(canonicalJson(guess)))).not.toContain(document_hash)
  })

  test('writes an audit event', async () => {
    const { evaluation_id } = (await evaluate({ inputs: { country: 'DE' } })).json
    const events = (await w.call(`GET /audit/objects/evaluations/${evaluation_id}`, { token })).json.items
    expect(events).toMatchObject([{ operation: 'createEvaluation', object_id: evaluation_id }])
  })

  test('as a preview has the same outcome and stores nothing', async () => {
    const body = { matrix_key: policy.matrix_key, inputs: { country: 'DE' } }
    const before = [await countRows('evaluation'), await countRows('resolution_receipt'), await countRows('rating')]
    const preview = await w.call('POST /evaluations/preview', { token, body })
    const after = [await countRows('evaluation'), await countRows('resolution_receipt'), await countRows('rating')]
    expect(after).toEqual(before)
    const made = (await evaluate({ inputs: { country: 'DE' } })).json
    expect(preview.json).toMatchObject({ outcome: made.outcome, explanation: made.explanation })
    expect(preview.json).not.toHaveProperty('document_hash')
  })
})

describe('nothing is decided', () => {
  const located = ({ json }: Reply) =>
    json.errors?.map(({ pointer, keyword }: { pointer: string; keyword: string }) => `${pointer} ${keyword}`)

  test.each<[string, object, string]>([
    ['on a missing input', {}, '#/inputs/country input_missing'],
    ['on an input of the wrong type', { country: 'DE', pep: 'yes' }, '#/inputs/pep input_type'],
    ['on a value that is not allowed', { country: 'DE', channel: 'post' }, '#/inputs/channel input_not_allowed'],
    ['on a key the list does not have', { country: 'XX' }, '#/inputs/country input_not_allowed'],
    ['on an input nobody knows', { country: 'DE', planet: 'Mars' }, '#/inputs/planet input_unknown'],
  ])('%s', async (_name, inputs, fault) => {
    const before = [await countRows('evaluation'), await countRows('resolution_receipt')]
    const reply = await evaluate({ inputs })
    expect([reply.status, reply.json.code]).toEqual([409, 'inputs_refused'])
    expect(located(reply)).toEqual([fault])
    expect([await countRows('evaluation'), await countRows('resolution_receipt')]).toEqual(before)
  })

  test.each([
    '{"country":["DE"]}',
    '{"country":{"code":"DE"}}',
    '{"country":null}',
    '{"country":1.5}',
    '{"country":"__proto__"}',
    '{"country":"constructor"}',
    '{"country":"DE","__proto__":{"channel":"branch"}}',
    '{"country":"DE","constructor":1}',
    '{"country":"DE","pep":-0}',
  ])('on %s', async (inputs) => {
    const payload = `{"matrix_key":"${policy.matrix_key}","inputs":${inputs}}`
    const headers = { 'content-type': 'application/json' }
    const reply = await w.call('POST /evaluations', { token, payload, headers })
    expect([reply.status, reply.json.code]).toEqual([409, 'inputs_refused'])
  })

  test('unless exactly one definition is named', async () => {
    for (const body of [{}, { matrix_key: 'a', rule_key: 'b' }]) {
      expect((await w.call('POST /evaluations', { token, body })).json.code).toBe('inputs_refused')
    }
    const why = async (more: object) => {
      const { status, json } = await evaluate(more)
      return [status, json.detail]
    }
    expect(await why({ matrix_key: 'no-such-matrix' })).toEqual([404, 'There is no risk matrix with this key.'])
    expect(await why({ subject_id: uuidv7() })).toEqual([404, 'There is no subject with this id.'])
  })

  test('before the matrix was in force, and no subject is rated for the future', async () => {
    const early = await evaluate({ inputs: { country: 'DE' }, valid_at: '1999-01-01T00:00:00Z' })
    expect(early.json.code).toBe('nothing_in_force')
    const subject_id = await newPerson(t)
    const late = await evaluate({ subject_id, valid_at: '2090-01-01T00:00:00Z' })
    expect([late.json.code, located(late)]).toEqual(['inputs_refused', ['#/valid_at valid_at_ahead']])
    expect((await evaluate({ inputs: { country: 'DE' }, valid_at: '2090-01-01T00:00:00Z' })).status).toBe(201)
  })
})

describe('search', () => {
  test('filters by subject, matrix, band and time, newest first, in pages', async () => {
    const subject_id = await newPerson(t, { country: 'DE' })
    const made: string[] = []
    for (const country of ['DE', 'IR', 'CH']) {
      made.push((await evaluate({ subject_id, inputs: { country } })).json.evaluation_id)
    }
    const idsOf = (reply: Reply) => reply.json.items.map(({ evaluation_id }: never) => evaluation_id)
    const all = await w.call(`GET /evaluations?subject_id=${subject_id}`, { token })
    expect(idsOf(all)).toEqual(made.toReversed())
    expect(all.json.items.every(({ intact }: { intact: boolean }) => intact)).toBe(true)
    const { name } = await t.make(`GET /subjects/${subject_id}`)
    expect(all.json.items[0].subject_name).toBe(name)
    const high = await w.call(`GET /evaluations?subject_id=${subject_id}&band=high`, { token })
    expect(idsOf(high)).toEqual([made[1]])
    const first = await w.call(`GET /evaluations?subject_id=${subject_id}&limit=2`, { token })
    const cursor = encodeURIComponent(first.json.next_cursor)
    const second = await w.call(`GET /evaluations?subject_id=${subject_id}&limit=2&cursor=${cursor}`, { token })
    expect([...idsOf(first), ...idsOf(second)]).toEqual(made.toReversed())
    const { decided_at } = all.json.items[1]
    const from = await w.call(`GET /evaluations?subject_id=${subject_id}&from_at=${decided_at}`, { token })
    expect(idsOf(from)).toEqual([made[2], made[1]])
    const until = await w.call(`GET /evaluations?subject_id=${subject_id}&until_at=${decided_at}`, { token })
    expect(idsOf(until)).toEqual([made[0]])
    for (const nothing of [`rule_key=${policy.matrix_key}`, 'matrix_key=other', 'family=rule']) {
      expect(idsOf(await w.call(`GET /evaluations?${nothing}`, { token }))).toEqual([])
    }
  })
})

test('decides with the versions of the requested instant', async () => {
  const valid_at = new Date().toISOString()
  const before = (await evaluate({ inputs: { country: 'CH' }, valid_at })).json
  await publishList(t, policy.country_list, countries.with(0, { code: 'CH', score_bps: 8000 }))
  const now = (await evaluate({ inputs: { country: 'CH' } })).json
  expect([now.band, now.score_bps]).toEqual(['high', 5000])
  const again = (await evaluate({ inputs: { country: 'CH' }, valid_at })).json
  expect([again.band, again.score_bps]).toEqual([before.band, before.score_bps])
  const body = { evaluation_ids: [before.evaluation_id, again.evaluation_id] }
  expect((await w.call('POST /evaluations/compare', { token, body })).json.changes).toEqual([])
})

test('the database refuses to change or remove a decision', async () => {
  await evaluate({ inputs: { country: 'DE' } })
  for (const text of [`update app.evaluation set band = 'low'`, 'delete from app.evaluation']) {
    await expect(t.write((tx) => tx.run(text))).rejects.toThrow()
  }
})
