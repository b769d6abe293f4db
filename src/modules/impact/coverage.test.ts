/** Coverage: exact counts of the parts of a definition that past decisions used, for one version and one period. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { flippedBit } from '#test/support/decision-documents.ts'
import { newPolicy } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

type Counted = { part: string; factor: string | null; key: string; fired: number }
const fired = (parts: readonly Counted[]) =>
  Object.fromEntries(
    parts.map(({ part, factor, key, fired }) => [[part, factor, key].filter(Boolean).join(' '), fired]),
  )
const decide = async (matrix_key: string, inputs: object) =>
  (await t.make('POST /evaluations', { body: { matrix_key, inputs } })).evaluation_id as string

test('counts every part of a matrix, including unused ones, and uses of defaults', async () => {
  const { matrix_key } = await newPolicy(t)
  const at = `GET /risk-matrices/${matrix_key}/coverage`
  const idle = { 'factor country': 0, 'factor channel': 0, 'value channel branch': 0, 'value channel online': 0 }
  const nothing = await t.make(at)
  expect(nothing).toMatchObject({ key: matrix_key, version: 1, decisions: 0, complete: true, unusable: 0, idle: 5 })
  expect(fired(nothing.parts)).toEqual({ ...idle, 'trigger pep': 0 })

  await decide(matrix_key, { country: 'IR', channel: 'branch' })
  await decide(matrix_key, { country: 'DE', channel: 'branch', pep: false })
  const some = await t.make(at)
  expect(some).toMatchObject({ decisions: 2, idle: 3 })
  expect(fired(some.parts)).toEqual({ ...idle, 'factor country': 2, 'value channel branch': 2, 'trigger pep': 0 })
  expect(some.defaults).toEqual([
    { of: 'input', key: 'channel', defaulted: 0 },
    { of: 'input', key: 'pep', defaulted: 1 },
  ])

  const last = await decide(matrix_key, { country: 'DE', pep: true })
  expect(await t.make(at)).toMatchObject({ decisions: 3, idle: 0, defaults: [{ defaulted: 1 }, { defaulted: 1 }] })
  const { decided_at } = await t.make(`GET /evaluations/${last}`)
  const only = await t.make(`${at}?from_at=${encodeURIComponent(decided_at)}`)
  expect([only.decisions, fired(only.parts)['trigger pep']]).toEqual([1, 1])

  expect(await t.make(`${at}?version=1`)).toMatchObject({ version: 1, decisions: 3 })
  expect((await w.call(`${at}?version=9`, { token: await t.token() })).status).toBe(404)
})

test('leaves out an altered decision and reports it', async () => {
  const { matrix_key } = await newPolicy(t)
  await decide(matrix_key, { country: 'DE' })
  const evaluation_id = await decide(matrix_key, { country: 'DE', pep: true })
  const superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  await superuser.query(`set session_replication_role = replica;
    update app.evaluation set document_encrypted = ${flippedBit('document_encrypted')} where evaluation_id = '${evaluation_id}'`)
  await superuser.end()
  const coverage = await t.make(`GET /risk-matrices/${matrix_key}/coverage`)
  expect(coverage).toMatchObject({ decisions: 1, unusable: 1 })
  expect(fired(coverage.parts)['trigger pep']).toBe(0)
})

test('counts rows of a rule, and returns 404 when no version is in force', async () => {
  const rule_key = 'large-amounts'
  const definition = {
    inputs: [{ name: 'amount', title: 'Amount', type: 'integer', minimum: 0, maximum: 1000 }],
    table: {
      hit_policy: 'first',
      columns: ['amount'],
      outputs: [{ name: 'severity' }],
      rows: [
        { key: 'huge', when: ['>= 900'], then: ['high'] },
        { key: 'large', when: ['>= 500'], then: ['medium'] },
      ],
    },
    reason_code: 'LARGE',
    reason: 'The amount is large.',
  }
  await t.make('POST /rules', { body: { rule_key, title: 'Large amounts', definition } })
  const { version } = await t.make(`POST /rules/${rule_key}/versions/draft/publish`, { body: {} })
  const early = await w.call(`GET /rules/${rule_key}/coverage`, { token: await t.token() })
  expect([early.status, early.json.code]).toEqual([404, 'nothing_in_force'])
  await t.make(`POST /rules/${rule_key}/activations`, { body: { version, reason: 'reviewed' } })
  for (const amount of [100, 600, 700]) await t.make('POST /evaluations', { body: { rule_key, inputs: { amount } } })
  const { parts, decisions, idle } = await t.make(`GET /rules/${rule_key}/coverage`)
  expect([decisions, idle, fired(parts)]).toEqual([3, 1, { 'row huge': 0, 'row large': 2 }])
})
