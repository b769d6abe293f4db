import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { findSharedFolder } from '#test/support/shared-data.ts'
import { engine1 } from '../engine-1/engine.ts'
import { importGoRules } from './gorules.ts'

const table = (content: object, node: object = {}) =>
  JSON.stringify({
    nodes: [{ id: 'n1', type: 'decisionTableNode', name: 'Fee', content: { ...base, ...content }, ...node }],
  })
const base = {
  hitPolicy: 'first',
  inputs: [
    { id: 'i1', name: 'Country', field: 'company.country' },
    { id: 'i2', name: 'Turnover', field: 'turnover' },
  ],
  outputs: [{ id: 'o1', name: 'Flag', field: 'flag' }],
  rules: [
    { _id: 'a', i1: '\'US\', "CA"', i2: '> 1_000 and <= 2_000.5', o1: "'red'" },
    { _id: 'b', i1: '', i2: '[0..10)', o1: '"green"', _description: 'Small {one}.' },
    { _id: 'c', i1: '', i2: '', o1: "'amber'" },
  ],
}

test('imports a table as a rule', () => {
  const { definitions, findings } = importGoRules(table({}))
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  const precision = findings.find(({ code }) => code === 'number_precision')
  expect(precision).toMatchObject({ pointer: '/nodes/0/content/inputs/1', severity: 'warning' })
  expect(precision?.message).toContain('up to 6 digits after the point and up to 9007199254 before it')
  const [rule] = definitions
  expect(rule?.definition).toEqual({
    inputs: [
      { name: 'company_country', title: 'company.country', type: 'string' },
      { name: 'turnover', title: 'turnover', type: 'decimal', scale: 6 },
    ],
    table: {
      hit_policy: 'first',
      columns: ['company_country', 'turnover'],
      outputs: [{ name: 'flag', title: 'flag' }],
      rows: [
        { key: 'row-1', when: ['"US", "CA"', '(1000..2000.5]'], then: ['red'] },
        { key: 'row-2', when: ['-', '[0..10)'], then: ['green'], reason: 'Small (one).' },
        { key: 'row-3', when: ['-', '-'], then: ['amber'] },
      ],
    },
    reason_code: 'FEE',
    reason: 'A row of Fee applies.',
  })
  const bound = engine1.compile({ family: 'rule', ...(rule as NonNullable<typeof rule>).definition }).bind(new Map())
  if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
  const flag = (company_country: string, turnover: string) => {
    const decision = bound.decide({ company_country, turnover })
    return decision.ok && decision.outcome.family === 'rule' ? decision.outcome.outputs['flag'] : decision
  }
  expect([flag('CA', '2000.50'), flag('CA', '2000.51'), flag('US', '1000'), flag('DE', '9.99')]).toEqual([
    'red',
    'amber',
    'amber',
    'green',
  ])
})

test.each([
  ["['US', 'CA']", 'CA', 'DE'],
  ["contains(['US', 'CA'], $)", 'CA', 'DE'],
  ["company.country == 'US' or $ == 'CA'", 'CA', 'DE'],
  ["!= 'DE' and turnover > 5", 'CA', 'DE'],
  ["'US', 'CA' and turnover > 5", 'CA', 'DE'],
  ["turnover > 50 or $ == 'CA' or 'US'", 'CA', 'DE'],
  ["not (company.country == 'DE') and turnover > 5", 'CA', 'DE'],
])('imports the cell %s, which holds for %s and not for %s', (text, hit, miss) => {
  const rules = [
    { _id: 'a', i1: text, i2: '< 100', o1: "'red'" },
    { _id: 'b', i1: '', i2: '', o1: "'green'" },
  ]
  const [rule] = importGoRules(table({ rules })).definitions
  const bound = engine1.compile({ family: 'rule', ...(rule as NonNullable<typeof rule>).definition }).bind(new Map())
  if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
  const flag = (company_country: string, turnover: string) => {
    const decision = bound.decide({ company_country, turnover })
    return decision.ok && decision.outcome.family === 'rule' ? decision.outcome.outputs['flag'] : decision
  }
  expect([flag(hit, '10'), flag(miss, '10'), flag(hit, '100')]).toEqual(['red', 'green', 'green'])
})

test('evaluates the tests of a cell from left to right', () => {
  const rules = [
    { _id: 'a', i1: "'CA' or turnover > 5 and turnover < 50", i2: '', o1: "'red'" },
    { _id: 'b', i1: '', i2: '', o1: "'green'" },
  ]
  const [rule] = importGoRules(table({ rules })).definitions
  const bound = engine1.compile({ family: 'rule', ...(rule as NonNullable<typeof rule>).definition }).bind(new Map())
  if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
  const flag = (company_country: string, turnover: string) => {
    const decision = bound.decide({ company_country, turnover })
    return decision.ok && decision.outcome.family === 'rule' ? decision.outcome.outputs['flag'] : decision
  }
  const flags = [flag('CA', '1'), flag('CA', '100'), flag('DE', '6'), flag('DE', '1')]
  expect(flags).toEqual(['red', 'green', 'red', 'green'])
})

test('refuses a row with alternatives when all rows that fire count', () => {
  const rules = [{ _id: 'a', i1: "company.country == 'US' or turnover > 5", i2: '', o1: '1' }]
  const { definitions, findings } = importGoRules(table({ hitPolicy: 'collect', rules }))
  expect([definitions, findings[0]?.message]).toEqual([[], expect.stringContaining('more than one would count')])
})

const cell = (i2: string) => table({ rules: [{ _id: 'a', i1: '', i2, o1: '1' }] })

test.each([
  ["contains($, 'x')", 'the function contains()'],
  ['len(x) > 5', 'the function len()'],
  ['> 1 + 2', 'arithmetic with "+"'],
  ['7, > 2 and <= 4', 'two tests of "turnover" at once'],
  ['> 6 and <= 8, > 2 and <= 4', 'two tests of "turnover" at once'],
  ['active and turnover > 5', 'a comparison with another field'],
  ['not active or turnover > 5', 'the negation of a field'],
  ['not turnover == 5', 'a comparison with a negation'],
  ['== 3 and other + 1 < 70', 'a comparison with another field'],
  ['null', 'null'],
  ["'it\\'s'", 'something that is not a simple test'],
])('refuses the cell %s because of %s', (text, construct) => {
  const { definitions, findings } = importGoRules(cell(text))
  expect(definitions).toEqual([])
  expect(findings).toHaveLength(1)
  expect(findings[0]).toMatchObject({ pointer: '/nodes/0/content/rules/0/i2', severity: 'error' })
  expect(findings[0]?.message).toContain(construct)
})

test('refuses other nodes with the name of the construct', () => {
  const refused = (json: string) => importGoRules(json).findings.map(({ code, message }) => `${code}: ${message}`)
  expect(refused(table({ executionMode: 'loop' }))[0]).toContain('once for each item')
  expect(refused(table({ hitPolicy: 'constructor' }))[0]).toContain('hit policy is unknown')
  expect(refused(table({ outputs: [{ id: 'o1', field: 'tags[]' }] }))[0]).toContain('tags[]')
  expect(refused(table({ inputs: [{ id: 'i2', field: 'lower(turnover)' }] }))[0]).toContain('the function lower()')
  expect(refused(table({ inputs: [{ id: 'i2', name: 'Any' }] }))[0]).toContain('refused')
  expect(refused(table({ rules: [{ i2: '1', o1: '' }] }))[0]).toContain('every row must say every output')
  expect(
    refused(
      table({
        rules: [
          { i2: '1', o1: '1' },
          { i2: '"x"', o1: '1' },
        ],
      }),
    )[0],
  ).toContain('column_mixed')
  expect(refused(table({}, { type: 'functionNode' }))[0]).toContain('a function node')
  expect(refused(table({}, { type: 'toString' }))[0]).toContain('a node of type toString')
  expect(refused(table({ rules: [{ i2: 7, o1: '1' }] }))[0]).toContain('a cell is not a text')
  expect(refused(table({ rules: [{ i2: '1', o1: '0.1234567890123456789' }] }))[0]).toContain('number_inexact')
})

test('refuses invalid and hostile files with one finding', () => {
  const codes = (json: string) => importGoRules(json).findings.map(({ code }) => code)
  expect(codes('')).toEqual(['not_well_formed'])
  expect(codes('{"nodes":[],"nodes":[]}')).toEqual(['not_well_formed'])
  expect(codes('['.repeat(100_000))).toEqual(['not_well_formed'])
  expect(codes('{"nodes":{}}')).toEqual(['layout_unknown'])
  expect(codes('{"nodes":[1]}')).toEqual(['layout_unknown'])
  expect(codes('{"a":[]}')).toEqual(['layout_unknown'])
  expect(codes(' '.repeat(4 * 1024 * 1024 + 1))).toEqual(['source_too_large'])
  expect(codes(JSON.stringify({ nodes: Array.from({ length: 501 }, () => ({})) }))).toEqual(['source_too_large'])
  expect(codes('{"nodes":[{"id":"a","type":"switchNode"},{"id":"a","type":"decisionTableNode"}]}')).toEqual([
    'layout_unknown',
    'id_duplicate',
  ])
  expect(codes('{"nodes":[{"type":"decisionTableNode"}]}')).toEqual(['layout_unknown'])
})

const folder = findSharedFolder('decisions/gorules-zen', 1) ?? ''
const files = folder
  ? fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))
  : []

describe.skipIf(files.length === 0)('published graphs', () => {
  test('are mostly imported, with a finding for everything else', () => {
    const texts = files.map((file) => fs.readFileSync(path.join(folder, file), 'utf8'))
    const isTable = ({ type }: { type: string }) => type === 'decisionTableNode'
    const nodes = texts.map((text) => (JSON.parse(text) as { nodes: { type: string }[] }).nodes)
    const tables = nodes.flat().filter(isTable).length
    let taken = 0
    let others = 0
    texts.forEach((text, n) => {
      const { definitions, findings } = importGoRules(text)
      const refused = findings.filter(({ severity }) => severity === 'error').map(({ pointer }) => pointer)
      nodes[n]?.forEach((node, at) => {
        const mine = definitions.filter(({ place }) => place.startsWith(`/nodes/${at}/content`))
        for (const { definition } of mine) expect(engine1.check(definition, 'rule')).toEqual([])
        if (isTable(node)) taken += mine.length
        else others += mine.length
        const isSilent = mine.length === 0 && !refused.some((place) => `${place}/`.startsWith(`/nodes/${at}/`))
        expect(isSilent && !['inputNode', 'outputNode'].includes(node.type)).toBe(false)
      })
    })
    console.info(
      `GoRules: ${files.length} files, ${taken} of ${tables} tables taken over, ${others} rules of other nodes`,
    )
    expect([taken, tables, others]).toEqual([69, 97, 40])
  })
})
