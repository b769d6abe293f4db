/** What only rules have: condition forms, and import of DMN and GoRules tables. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seed } from '#app/seed.ts'
import { toColumn } from '#decision/engine-1/unary.ts'
import { isTestFault, parseTest } from '#decision/engine-1/unary-parser.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { conditionForms, createRuleKey } from './rule-functions.ts'

let w: TestApp
let token: string
beforeAll(async () => {
  w = await shareTestApp()
  token = await w.token()
})
afterAll(() => w.close())
const call = (at: string, body?: unknown) => w.call(at, { token, ...(body !== undefined && { body }) })

test.each(conditionForms)(
  '$form: the engine parses the example for one of the listed types',
  ({ example, input_types }) => {
    const read = input_types.filter((type) => {
      const values = type === 'enum' ? { values: ['retail', 'corporate', 'DE'] } : {}
      return !isTestFault(parseTest(example, toColumn({ name: 'x', title: 'X', type, ...values })))
    })
    expect(read).not.toEqual([])
  },
)

test('derives unique keys from names', () => {
  const taken = new Set<string>()
  const keys = ['Fee class', 'Fee  Class!', 'Gebühr', '漢字', ''].map((name) => createRuleKey(name, 'p-', taken))
  expect(keys).toEqual(['p-fee-class', 'p-fee-class-2', 'p-gebu-hr', 'p-rule', 'p-rule-2'])
})

describe('import', () => {
  const row = (cell: string, output: string) =>
    `<rule><inputEntry><text><![CDATA[${cell}]]></text></inputEntry><outputEntry><text><![CDATA[${output}]]></text></outputEntry></rule>`
  const dmn = (rows: string) => `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="m">
<decision id="d1" name="Fee class"><decisionTable hitPolicy="FIRST">
<input><inputExpression typeRef="number"><text>Amount</text></inputExpression></input><output name="class"/>${rows}
</decisionTable></decision>
<decision id="d2" name="Sum"><literalExpression><text>a + b</text></literalExpression></decision></definitions>`

  test('creates a rule with a draft from a table, and reports what cannot be converted', async () => {
    const text = dmn(row('> 100', '"large"') + row('-', '"small"'))
    const { status, json } = await call('POST /rules/import', { format: 'dmn', text, key_prefix: 'fees-' })
    expect([status, json.items]).toEqual([
      201,
      [expect.objectContaining({ rule_key: 'fees-fee-class', name: 'Fee class' })],
    ])
    expect(json.findings).toEqual([
      expect.objectContaining({ severity: 'warning', code: 'number_precision' }),
      expect.objectContaining({ severity: 'error', message: expect.any(String) }),
    ])
    const published = await call('POST /rules/fees-fee-class/versions/draft/publish', {})
    expect([published.status, published.json.findings]).toEqual([201, undefined])
    const { results } = (
      await call('POST /rules/fees-fee-class/versions/1/test', { cases: [{ inputs: { Amount: '150' } }] })
    ).json
    expect(results[0]).toMatchObject({ decided: true, outcome: { hit: true, outputs: { class: 'large' } } })
  })

  test('creates nothing from a file without a convertible table', async () => {
    const before = (await call('GET /rules')).json.items.length
    const cell = dmn(row('> today()', '"x"'))
    for (const text of [cell, '<nonsense', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>']) {
      const { status, json } = await call('POST /rules/import', { format: 'dmn', text })
      expect([status, json.code]).toEqual([409, 'source_invalid'])
      expect(json.findings.length).toBeGreaterThan(0)
    }
    expect((await call('POST /rules/import', { format: 'gorules', text: '{"nodes":[]}' })).json.code).toBe(
      'source_invalid',
    )
    expect((await call('GET /rules')).json.items.length).toBe(before)
  })

  test('creates rules from the nodes of a graph, which reference each other by key', async () => {
    const facts = { passThrough: true, expressions: [{ id: 'e', key: 'large', value: 'amount > 100' }] }
    const fee = {
      hitPolicy: 'first',
      inputs: [{ id: 'i', field: 'large' }],
      outputs: [{ id: 'o', field: 'fee' }],
      rules: [
        { i: 'true', o: '5' },
        { i: 'false', o: '1' },
      ],
    }
    const nodes = [
      { id: 'in', type: 'inputNode', name: 'in' },
      { id: 'a', type: 'expressionNode', name: 'Facts', content: facts },
      { id: 'b', type: 'decisionTableNode', name: 'Fee', content: fee },
    ]
    const edges = [
      { sourceId: 'in', targetId: 'a' },
      { sourceId: 'a', targetId: 'b' },
    ]
    const text = JSON.stringify({ nodes, edges })
    const { status, json } = await call('POST /rules/import', { format: 'gorules', text, key_prefix: 'graph-' })
    expect([status, json.items.map(({ rule_key }: { rule_key: string }) => rule_key)]).toEqual([
      201,
      ['graph-facts-large', 'graph-fee'],
    ])
    expect(json.items[1]).toMatchObject({
      reads: [{ input: 'large', rule_key: 'graph-facts-large', node: 'Facts', output: 'large' }],
      only_if: [],
    })
    const cases = { cases: [{ inputs: { amount: '100.01' } }] }
    const { results } = (await call('POST /rules/graph-facts-large/versions/draft/test', cases)).json
    expect(results[0].outcome.outputs).toEqual({ large: true })
  })

  test('refuses the whole file when a key exists', async () => {
    const text = dmn(row('-', '"x"'))
    await call('POST /rules/import', { format: 'dmn', text, key_prefix: 'twice-' })
    expect((await call('POST /rules/import', { format: 'dmn', text, key_prefix: 'twice-' })).json.code).toBe(
      'duplicate',
    )
  })
})

test('lists typologies with the rules that cover them, and finds rules by typology', async () => {
  const definition = {
    inputs: [{ name: 'amount', title: 'Amount', type: 'integer', minimum: 0, maximum: 1000 }],
    table: {
      hit_policy: 'first',
      columns: ['amount'],
      outputs: [{ name: 'severity' }],
      rows: [{ key: 'large', when: ['>= 500'], then: ['high'] }],
    },
    reason_code: 'LARGE',
    reason: 'The amount is large.',
  }
  const make = async (rule_key: string, typologies: string[]) =>
    expect((await call('POST /rules', { rule_key, title: rule_key, typologies, definition })).status).toBe(201)
  await make('tagged-one', ['mule-accounts', 'smurfing'])
  await make('tagged-two', ['smurfing'])
  await make('tagged-none', [])
  const ours = async () => {
    const { items, complete } = (await call('GET /rules/typologies')).json
    expect(complete).toBe(true)
    return items.filter(({ typology }: { typology: string }) => ['mule-accounts', 'smurfing'].includes(typology))
  }
  const one = { rule_key: 'tagged-one', title: 'tagged-one', origin: 'own', version: null }
  const two = { rule_key: 'tagged-two', title: 'tagged-two', origin: 'own', version: null }
  expect(await ours()).toEqual([
    { typology: 'mule-accounts', covered: false, rules: [one] },
    { typology: 'smurfing', covered: false, rules: [one, two] },
  ])
  expect((await call('POST /rules/tagged-two/versions/draft/publish', {})).status).toBe(201)
  expect((await call('POST /rules/tagged-two/activations', { version: 1, reason: 'x' })).status).toBe(201)
  expect((await ours())[1]).toEqual({ typology: 'smurfing', covered: true, rules: [one, { ...two, version: 1 }] })

  const keysOf = async (query: string) =>
    (await call(`GET /rules?${query}`)).json.items.map(({ rule_key }: { rule_key: string }) => rule_key)
  expect(await keysOf('typology=smurfing')).toEqual(['tagged-one', 'tagged-two'])
  expect(await keysOf('typology=mule-accounts')).toEqual(['tagged-one'])
  expect(await keysOf('typology=unheard-of')).toEqual([])
})

test('adds nothing when seeded again', async () => {
  const steps: string[] = []
  await seed(w.seedContext, { demo: false }, (text) => steps.push(text))
  expect(steps).toEqual([])
})
