/** Alterations of a decision, its receipt or the content it used, made by a superuser, are detected and named. */
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '#test/isolation/support.ts'
import { flippedBit, readDocument } from '#test/support/decision-documents.ts'
import { newPolicy, type Policy } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
let token: string
let superuser: pg.Client
let evaluation_id: string

beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  token = await t.token()
  superuser = await connect(w.clone.postgres)
  await superuser.query('set session_replication_role = replica')
  const policy = await newPolicy(t)
  evaluation_id = (await evaluate(policy, { inputs: { country: 'IR', pep: true } })).evaluation_id
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const evaluate = (policy: Policy, more: object = {}) =>
  t.make('POST /evaluations', { body: { matrix_key: policy.matrix_key, inputs: { country: 'CH' }, ...more } })
const replay = (id: string) => t.make(`POST /evaluations/${id}/replay`)

const other: Readonly<Record<string, string>> = {
  family: `'rule', band = null, score_bps = null, hit = true`,
  definition_key: `'another'`,
  definition_version: '7',
  subject_id: 'gen_random_uuid()',
  valid_at: `valid_at - interval '1 day'`,
  receipt_id: '(select r.receipt_id from app.resolution_receipt r where r.receipt_id <> evaluation.receipt_id limit 1)',
  receipt_hash: `repeat('a', 64)`,
  engine: '2',
  band: `'low'`,
  score_bps: '1',
  reason_codes: `'{}'`,
  required_actions: `'{}'`,
  document: `'{"forged":true}', document_encrypted = null`,
  document_encrypted: flippedBit('document_encrypted'),
  document_hash: `repeat('b', 64)`,
  decided_at: `decided_at - interval '1 second'`,
  created_by: `'user:somebody'`,
  mac: `repeat('c', 64)`,
}

const whileAltered = async (table: string, where: string, change: string, look: () => Promise<void>) => {
  await superuser.query(`create temp table kept as select * from app.${table} where ${where}`)
  const { rowCount } = await superuser.query(`update app.${table} set ${change} where ${where}`)
  expect(rowCount).toBeGreaterThan(0)
  try {
    await look()
  } finally {
    await superuser.query(
      `delete from app.${table} where ${where}; insert into app.${table} select * from kept; drop table kept`,
    )
  }
}

test('every column is covered', async () => {
  const { rows } = await superuser.query(
    `select column_name from information_schema.columns where table_schema = 'app' and table_name = 'evaluation'`,
  )
  const named = rows.map(({ column_name }) => column_name as string)
  expect([...Object.keys(other), 'tenant_id', 'evaluation_id', 'hit'].sort()).toEqual(named.sort())
})

test.each(Object.entries(other))('an altered %s is detected', async (column, value) => {
  const set = `${column} = ${value}`
  const seen = async () => ({
    verdict: (await replay(evaluation_id)).verdict,
    get: (await w.call(`GET /evaluations/${evaluation_id}`, { token })).json.code,
    certificate: (await w.call(`GET /evaluations/${evaluation_id}/certificate`, { token })).json.code,
    intact: (await t.make('GET /evaluations')).items.find((row: never) => row['evaluation_id'] === evaluation_id)
      .intact,
  })
  const sound = await seen()
  expect(sound).toEqual({ verdict: 'identical', get: undefined, certificate: undefined, intact: true })
  await whileAltered('evaluation', `evaluation_id = '${evaluation_id}'`, set, async () => {
    expect(await seen()).toEqual({
      verdict: 'tampered',
      get: 'content_corrupt',
      certificate: 'content_corrupt',
      intact: false,
    })
  })
})

test('a document altered together with its hash, or replaced by another one, is detected', async () => {
  const document = (await readDocument(w, { tenant_id: t.tenant_id, evaluation_id })).replaceAll('"high"', '"low"')
  const forged = `document = $q$${document}$q$, document_encrypted = null,
    document_hash = encode(sha256(convert_to($q$${document}$q$, 'UTF8')), 'hex')`
  await whileAltered('evaluation', `evaluation_id = '${evaluation_id}'`, forged, async () => {
    const { verdict, faults } = await replay(evaluation_id)
    expect(verdict).toBe('tampered')
    expect(faults).toContain('The record is not as this service wrote it.')
    expect(faults).toContain('Not as the document says: band.')
  })
})

test('an altered receipt is detected', async () => {
  const { receipt } = await t.make(`GET /evaluations/${evaluation_id}`)
  const where = `receipt_id = '${receipt.receipt_id}'`
  for (const change of [`manifest = '[]'`, `manifest_hash = repeat('a', 64)`, `valid_at = now()`, `known_at = now()`]) {
    await whileAltered('resolution_receipt', where, change, async () => {
      expect((await replay(evaluation_id)).verdict).toBe('tampered')
      expect((await w.call(`GET /evaluations/${evaluation_id}`, { token })).status).toBe(500)
    })
  }
})

test('altered content of a pinned version is reported, not an error', async () => {
  const policy = await newPolicy(t)
  const made = await evaluate(policy)
  const dataset = (key: string) => `dataset_id in (select dataset_id from app.dataset where list_key = '${key}')`
  const changed = [
    [policy.country_list, `data = '{"code":"CH","score_bps":9999}'`, `key = 'CH'`, `list ${policy.country_list}`],
    [policy.matrix_key, `data = replace(data, '5000', '4000')`, 'true', `matrix ${policy.matrix_key}`],
  ] as const
  for (const [key, change, which, name] of changed) {
    await whileAltered('dataset_entry', `${dataset(key)} and ${which}`, change, async () => {
      expect(await replay(made.evaluation_id)).toMatchObject({
        verdict: 'tampered',
        faults: [`Version 1 of ${name} is no longer what was pinned.`],
        recomputed_hash: null,
      })
    })
  }
  await whileAltered('dataset_version', dataset(policy.country_list), `content_hash = repeat('d', 64)`, async () => {
    expect((await replay(made.evaluation_id)).verdict).toBe('tampered')
  })
  expect((await replay(made.evaluation_id)).verdict).toBe('identical')
})

test('a plain document of an earlier release is read, and detected when it is altered', async () => {
  const { evaluation_id: id } = await evaluate(await newPolicy(t))
  const document = await readDocument(w, { tenant_id: t.tenant_id, evaluation_id: id })
  const plain = (text: string) => `document = $q$${text}$q$, document_encrypted = null`
  await whileAltered('evaluation', `evaluation_id = '${id}'`, plain(document), async () => {
    expect((await replay(id)).verdict).toBe('identical')
  })
  await whileAltered('evaluation', `evaluation_id = '${id}'`, plain(document.replace('CH', 'DE')), async () => {
    expect(await replay(id)).toMatchObject({ verdict: 'tampered' })
  })
})
