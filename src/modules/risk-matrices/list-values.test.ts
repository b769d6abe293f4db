/**
 * Tables that compare with values of lists, through the API: validation per cell, gates for their lists, and exact replay.
 */
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { activationStore, seeding } from '#modules/definitions/index.ts'

import { projectRoot } from '#test/support/database.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { readDefinitionSeeds, seedDefinitions } from './definition-seeds.ts'

let w: TestApp
let t: ExampleTenant
let token: string
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  token = await t.token()
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 50 },
      amount_minor: { type: 'integer', minimum: 0, maximum: 1_000_000_000 },
      low: { type: 'integer', minimum: 0, maximum: 1000 },
      high: { type: 'integer', minimum: 0, maximum: 1000 },
      share: { type: 'number', minimum: 0, maximum: 1 },
      note: { type: 'string', maxLength: 50 },
    },
    required: ['name', 'amount_minor', 'low', 'high'],
    additionalProperties: false,
  }
  const type = { type_key: 'limit', title: 'Limit', description: 'Limits.', schema, key_pointers: ['/name'] }
  await t.make('POST /reference-data/types', { body: { ...type, examples: [limit()] } })
})
afterAll(() => w.close())

const call = (at: string, body?: unknown) => w.call(at, { token, ...(body !== undefined && { body }) })
const limit = (more: object = {}) => ({ name: 'cash', amount_minor: 1_000_000, low: 10, high: 10, ...more })

let count = 0
async function newList(...entries: object[]): Promise<string> {
  const list_key = `limits-${++count}`
  await t.make('POST /reference-data/datasets', { body: { list_key, type_key: 'limit', title: 'Limits' } })
  await addVersion(list_key, entries)
  await t.make(`POST /reference-data/datasets/${list_key}/activations`, { body: { version: 1, reason: 'first' } })
  return list_key
}
const addVersion = (list_key: string, data: object[]) =>
  t.make(`POST /reference-data/datasets/${list_key}/versions`, { body: { data } })
const activateList = (list_key: string, version: number) =>
  call(`POST /reference-data/datasets/${list_key}/activations`, { version, reason: 'next' })

/** Hits when the amount reaches the threshold of the list. */
const ruleFrom = (cell: string) => ({
  inputs: [
    { name: 'flag', title: 'Flag', type: 'boolean' },
    { name: 'amount', title: 'Amount', type: 'decimal', scale: 2, minimum: '0', maximum: '1000000' },
  ],
  table: {
    hit_policy: 'first',
    columns: ['flag', 'amount'],
    outputs: [],
    rows: [
      { key: 'flagged', when: ['true', '>= 999999.00'], then: [] },
      { key: 'large', when: ['-', cell], then: [], reason: '{amount} is large.' },
    ],
  },
  reason_code: 'TM_LARGE_CASH',
  reason: 'A large amount.',
})
async function newRule(definition: object): Promise<string> {
  const rule_key = `large-${++count}`
  await t.make('POST /rules', { body: { rule_key, title: 'Large', definition } })
  await t.make(`POST /rules/${rule_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /rules/${rule_key}/activations`, { body: { version: 1, reason: 'first' } })
  return rule_key
}

describe('a draft', () => {
  const findingsOf = async (cell: string) => {
    const rule_key = `draft-${++count}`
    await t.make('POST /rules', { body: { rule_key, title: 'Draft', definition: ruleFrom(cell) } })
    const { findings, reading } = (await call(`GET /rules/${rule_key}/versions/draft`)).json
    return { findings, reading }
  }
  test('has findings at its row and column, from the type of the list and from its content', async () => {
    const list_key = await newList(limit())
    const at = '/table/rows/1/when/1'
    for (const [cell, code, message] of [
      [`>= list(${list_key}, cash).amount_minor`, 'test_type', /declares "amount_minor" as a whole number.*minor\(…\)/],
      [`>= minor(list(${list_key}, cash).share)`, 'test_type', /declares "share" as a number.*whole number/],
      [`>= list(${list_key}, cash).note`, 'field_missing', /"cash" of the list .* at "note"/],
      [`>= list(${list_key}, wire).note`, 'list_key_missing', /has no entry "wire"/],
      [`>= list(nowhere, cash).note`, 'list_not_in_force', /nowhere/],
    ] as const) {
      const { findings } = await findingsOf(cell)
      expect(findings).toEqual([
        expect.objectContaining({ code, pointer: at, message: expect.stringMatching(message) }),
      ])
    }
  })

  test('is described with the list entry that the value comes from', async () => {
    const list_key = await newList(limit())
    const { findings, reading } = await findingsOf(`>= minor(list(${list_key}, cash).amount_minor)`)
    expect(findings).toEqual([])
    expect(reading).toContain(
      `When Amount is at least amount_minor of cash in the list ${list_key}: the rule hits ({amount} is large.).`,
    )
  })
})

describe('a decision', () => {
  test('pins the list it was compared with, replays with it, and attributes a change to the list', async () => {
    const list_key = await newList(limit())
    const rule_key = await newRule(ruleFrom(`>= minor(list(${list_key}, cash).amount_minor)`))
    const dependencies = (await call(`GET /rules/${rule_key}/dependencies`)).json
    expect(dependencies.items).toMatchObject([
      { list_key, read_at: [{ pointer: '/table/rows/1/when/1', key: 'cash', field: 'amount_minor' }] },
    ])
    const request = { rule_key, inputs: { flag: false, amount: '9999.99' } }
    const missed = await t.make('POST /evaluations', { body: request })
    expect(missed.outcome.hit).toBe(false)
    const hit = await t.make('POST /evaluations', { body: { ...request, inputs: { flag: false, amount: '10000.00' } } })
    expect(hit.explanation.rows[0].reason).toBe(
      `10000.00 is large. By the lists: Amount ≥ 10,000.00 (${list_key} v1, cash).`,
    )
    const { used } = await t.make(`GET /evaluations/${hit.evaluation_id}/inputs`)
    expect(used).toEqual([
      { list_key, key: 'cash', field: 'amount_minor', value: 1_000_000, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ])
    const what_if = await t.make(`POST /evaluations/${missed.evaluation_id}/what-if`, { body: { search: true } })
    expect(what_if.search.changes).toContainEqual({
      changed: [{ name: 'amount', from: '9999.99', to: '10000.00' }],
      result: 'hit',
    })

    await addVersion(list_key, [limit({ amount_minor: 500_000 })])
    expect((await activateList(list_key, 2)).status).toBe(201)
    expect((await t.make(`POST /evaluations/${missed.evaluation_id}/replay`)).verdict).toBe('identical')
    const again = await t.make(`POST /evaluations/${missed.evaluation_id}/reevaluate`)
    expect(again).toMatchObject({ same_outcome: false, after: { outcome: { hit: true } } })
    expect(again.switches).toMatchObject([{ key: list_key, from_version: 1, to_version: 2, effect: 'whole' }])
  })
})

describe('a list that a table in force compares with', () => {
  const score = (list_key: string) => ({
    inputs: [{ name: 'count', title: 'Count', type: 'integer', minimum: 0, maximum: 1000 }],
    factors: [
      {
        key: 'count',
        title: 'Count',
        form: 'table',
        table: {
          hit_policy: 'unique',
          columns: ['count'],
          outputs: [{ name: 'score_bps' }],
          rows: [
            { key: 'few', when: [`< list(${list_key}, cash).low`], then: [1000] },
            { key: 'many', when: [`>= list(${list_key}, cash).high`], then: [7000] },
          ],
        },
      },
    ],
    aggregation: 'max',
    bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
    triggers: [],
  })
  test.each<[string, object, object]>([
    ['a gap', { low: 10, high: 20 }, { code: 'table_gap', example: { count: 10 } }],
    ['an overlap', { low: 30, high: 20 }, { code: 'rows_overlap', example: { count: 20 } }],
    ['a row that never counts', { low: 0, high: 0 }, { code: 'row_never' }],
  ])('cannot be activated where it makes %s, and the gate reports it', async (_, more, finding) => {
    const list_key = await newList(limit())
    const matrix_key = `counted-${++count}`
    await t.make('POST /risk-matrices', { body: { matrix_key, title: 'Counted', definition: score(list_key) } })
    await t.make(`POST /risk-matrices/${matrix_key}/versions/draft/publish`, { body: {} })
    await t.make(`POST /risk-matrices/${matrix_key}/activations`, { body: { version: 1, reason: 'first' } })
    await addVersion(list_key, [limit({ low: 500, high: 500 })])
    expect((await activateList(list_key, 2)).status).toBe(201)
    await addVersion(list_key, [limit(more)])
    const { status, json } = await activateList(list_key, 3)
    expect([status, json.code]).toEqual([409, 'gates_closed'])
    expect(json.gates).toMatchObject([
      { gate: 'referenced-by', facts: { definitions: [{ key: matrix_key, findings: [finding] }] } },
    ])
    await addVersion(list_key, [limit({ name: 'wire' })])
    const gone = await activateList(list_key, 4)
    expect(gone.json.gates[0].facts.definitions[0].findings[0]).toMatchObject({
      code: 'list_key_missing',
      pointer: '/factors/0/table/rows/0/when/0',
    })
  })
})

describe('an installation with older seeds', () => {
  const SYSTEM = fullScope('00000000-0000-0000-0000-000000000000', 'seed:test')
  const rules = ['cash-structuring', 'dormant-account', 'high-risk-country-transfer']
  /** The shipped seeds with other keys, so that they can be seeded again from the start. */
  const renamed = <T>(seeds: T): T =>
    JSON.parse(
      JSON.stringify(seeds)
        .replaceAll('transaction-monitoring-thresholds', 'old-thresholds')
        .replaceAll('"monitoring-threshold"', '"old-threshold"')
        .replaceAll('"key":"', '"key":"old-')
        .replaceAll(/"key":"old-([a-z-]+\|)/g, '"key":"$1'),
    ) as T
  const folder = path.join(projectRoot, 'db/seed')
  const { types, lists } = renamed(seeding.readRegistrySeeds(folder))
  const definitions = renamed(readDefinitionSeeds(folder).filter(({ key }) => rules.includes(key)))
  const type = types.find(({ type_key }) => type_key === 'old-threshold') as (typeof types)[number]
  const list = lists.find(({ list_key }) => list_key === 'old-thresholds') as (typeof lists)[number]

  /** The type before the rules read from the list. */
  function formerType(): typeof type {
    const schema = structuredClone(type.schema) as { properties: Record<string, unknown> }
    const fields = { ...type.fields }
    for (const name of ['single_below_minor', 'inactive_days']) {
      delete schema.properties[name]
      delete fields[`/${name}`]
    }
    return { ...type, schema, fields }
  }

  async function seedAll(of: typeof type, versions: number): Promise<string[]> {
    const steps: string[] = []
    const upTo = <S extends { versions: readonly unknown[] }>(seed: S): S => ({
      ...seed,
      versions: seed.versions.slice(0, versions),
    })
    await w.steward.write(SYSTEM, async (tx) => {
      await seeding.seedRegistry(tx, { types: [of], lists: [upTo(list)] }, (step) => steps.push(step))
      await seedDefinitions(tx, definitions.map(upTo), (step) => steps.push(step))
    })
    return steps
  }
  const pin = (rule: string) => call(`POST /rules/old-${rule}/pin`, { version: 2, reason: 'upgrade' })
  const summaryOf = async (rule_key: string, inputs: unknown) =>
    (await t.make('POST /evaluations', { body: { rule_key, inputs } })).explanation.summary
  const dormant = (amount: string) =>
    summaryOf('old-dormant-account', { segment: 'retail', days_inactive: 365, amount })

  test('keeps its decisions; new rules are available once the operator has activated their list', async () => {
    await seedAll(formerType(), 1)
    const before = await dormant('5000.00')
    expect(await seedAll(type, 2)).toEqual([
      'type old-threshold version 2',
      'list old-thresholds version 2, pending',
      ...rules.map((rule) => `rule old-${rule} version 2, pending`),
    ])
    expect(await seedAll(type, 2)).toEqual([])
    expect(await dormant('5000.00')).toEqual(before)

    const early = await pin('dormant-account')
    expect([early.status, early.json.code, early.json.gates?.[0]?.facts.findings[0].code]).toEqual([
      409,
      'gates_closed',
      'field_missing',
    ])
    await w.steward.write(SYSTEM, (tx) =>
      activationStore.activateVersion(tx, { list_key: 'old-thresholds', version: 2, reason: 'upgrade' }),
    )
    expect(await dormant('5000.00')).toEqual(before)
    for (const rule of rules) expect((await pin(rule)).status).toBe(201)
    expect((await dormant('5000.00')).at(-1)).toContain('Amount ≥ 5,000.00 (old-thresholds v2, dormant-account|retail)')
    expect(await dormant('4999.99')).toEqual(['The rule does not hit.'])
    const [structuring] = definitions
    expect((await summaryOf('old-cash-structuring', structuring?.cases[0]?.inputs)).at(-1)).toContain(
      'Largest single deposit < 10,000.00 (old-thresholds v2, cash-structuring|retail)',
    )
  })

  test('keeps its reason codes; the matrix with exact codes is not active, and old decisions replay', async () => {
    const person = readDefinitionSeeds(folder).find(({ key }) => key === 'customer-risk-person')
    if (!person) throw new Error('there is no such seed')
    const seedUpTo = async (versions: number) => {
      const steps: string[] = []
      const seed = { ...person, key: 'earlier-person', versions: person.versions.slice(0, versions) }
      await w.steward.write(SYSTEM, (tx) => seedDefinitions(tx, [seed], (step) => steps.push(step)))
      return steps
    }
    const request = { matrix_key: 'earlier-person', inputs: person.cases[0]?.inputs }
    const decide = async () => t.make('POST /evaluations', { body: request })
    await seedUpTo(2)
    const before = await decide()
    expect(before.reason_codes).toEqual(['RAT_COUNTRY_HIGH', 'RAT_PRODUCT_HIGH', 'RAT_CHANNEL_REMOTE'])
    expect(await seedUpTo(3)).toEqual(['matrix earlier-person version 3, pending'])
    expect((await decide()).reason_codes).toEqual(before.reason_codes)
    const pinned = await call('POST /risk-matrices/earlier-person/pin', { version: 3, reason: 'upgrade' })
    expect(pinned.status).toBe(201)
    expect((await decide()).reason_codes).toEqual([])
    expect((await t.make(`POST /evaluations/${before.evaluation_id}/replay`)).verdict).toBe('identical')
  })
})
