/** Imports nodes of a graph as linked rules, and decides published graphs as their examples expect. */
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { findSharedFolder } from '#test/support/shared-data.ts'
import { engine1 } from '../engine-1/engine.ts'
import { importGoRules } from './gorules.ts'
import type { ImportedRule } from './import-result.ts'

const node = (id: string, type: string, content: object) => ({ id, name: id, type: `${type}Node`, content })
const edge = (sourceId: string, targetId: string, sourceHandle?: string) => ({ sourceId, targetId, sourceHandle })
const expressions = (values: Record<string, string>) => ({
  passThrough: true,
  expressions: Object.entries(values).map(([key, value]) => ({ id: key, key, value })),
})
const graph = (nodes: readonly object[], edges: readonly object[]) =>
  JSON.stringify({ nodes: [node('in', 'input', {}), ...nodes], edges })

function outputsOf({ definition }: ImportedRule, inputs: Record<string, unknown>): Record<string, unknown> | null {
  const bound = engine1.compile({ family: 'rule', ...definition }).bind(new Map())
  if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
  const decision = bound.decide(inputs)
  if (!decision.ok || decision.outcome.family !== 'rule') return null
  const titled = definition.table.outputs.map(({ name, title }) => [title ?? name, name] as const)
  const { outputs } = decision.outcome
  return Object.fromEntries(titled.flatMap(([title, name]) => (name in outputs ? [[title, outputs[name]]] : [])))
}

const single = (value: string) =>
  importGoRules(graph([node('e', 'expression', expressions({ x: value }))], [edge('in', 'e')]))

describe('an expression', () => {
  test.each([
    ['a > 5', { a: '5.1' }, true],
    ['a > 5', { a: '5' }, false],
    ['5 < a and a <= 10', { a: '10' }, true],
    ['5 < a and a <= 10', { a: '10.000001' }, false],
    ["a.b != 'x' and a.b != 'y'", { a_b: 'y' }, false],
    ["a.b != 'x' and a.b != 'y'", { a_b: 'z' }, true],
    ["not (a == 'x' or b)", { a: 'z', b: false }, true],
    ["not (a == 'x' or b)", { a: 'z', b: true }, false],
    ["contains(['x', 'y'], a)", { a: 'y' }, true],
    ["a not in ['x', 'y']", { a: 'y' }, false],
    ['a < 30 ? 0.5 : (a < 60 ? 0.75 : 1)', { a: '59.999999' }, 0.75],
    ['a < 30 ? 0.5 : (a < 60 ? 0.75 : 1)', { a: '60' }, 1],
    ["b ? (a == 'x' ? 'p' : 'q') : 'r'", { a: 'x', b: true }, 'p'],
    ["b ? (a == 'x' ? 'p' : 'q') : 'r'", { a: 'y', b: true }, 'q'],
    ["b ? (a == 'x' ? 'p' : 'q') : 'r'", { a: 'x', b: false }, 'r'],
  ])('%s of %j is %j', (value, inputs, expected) => {
    const { definitions, findings } = single(value)
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(outputsOf(definitions[0] as ImportedRule, inputs)).toEqual({ x: expected })
  })

  test.each([
    ['a + 1', 'arithmetic with "+"'],
    ['len(a) > 5', 'the function len()'],
    ['a > b', 'a comparison of two fields'],
    ['a', 'the value of the field "a"'],
    ['a == null', 'null'],
    ["'always'", 'always "always"'],
    ["contains(a, 'x')", 'the function contains()'],
    ['a ?? 5', 'the name "a"'],
    ['a > 5 and a > 7', 'two tests of "a" at once'],
    ['not a == 1', 'a comparison with a negation'],
    ['(((', 'not a simple test'],
  ])('refuses %s because of %s', (value, construct) => {
    const { definitions, findings } = single(value)
    expect(definitions).toEqual([])
    expect(findings).toEqual([
      expect.objectContaining({ severity: 'error', pointer: '/nodes/1/content/expressions/0' }),
    ])
    expect(findings[0]?.message).toContain(construct)
    expect(findings[0]?.message).toContain('e: x was left out')
  })

  test('is refused when it needs too many rows', () => {
    const many = Array.from({ length: 12 }, (_, n) => `(a${n} == 1 or b${n} == 1)`).join(' and ')
    expect(single(many).findings[0]?.message).toContain('more alternatives')
    expect(single(`${'('.repeat(50)}a${')'.repeat(50)}`).findings[0]?.message).toContain('too deep a nesting')
  })
})

describe('a graph', () => {
  const table = (field: string) => ({
    hitPolicy: 'first',
    passThrough: true,
    inputs: [{ id: 'i', field }],
    outputs: [{ id: 'o', field: 'class' }],
    rules: [
      { i: 'true', o: "'a'" },
      { i: 'false', o: "'b'" },
    ],
  })

  test('names the rule that provides an input, also a node that was left out', () => {
    const nodes = [
      node('facts', 'expression', expressions({ large: 'amount > 100', total: 'a + b', both: '$.large and c' })),
      node('one', 'decisionTable', table('large')),
      node('two', 'decisionTable', table('total')),
      node('three', 'decisionTable', table('raw')),
    ]
    const { definitions, findings } = importGoRules(
      graph(nodes, [edge('in', 'facts'), edge('facts', 'one'), edge('one', 'two'), edge('two', 'three')]),
    )
    const rules = Object.fromEntries(definitions.map(({ name, reads }) => [name, reads]))
    const large = '/nodes/1/content/expressions/0'
    expect(rules).toEqual({
      'facts: large': [],
      'facts: both': [{ input: 'large', rule: large, node: 'facts', output: 'large' }],
      one: [{ input: 'large', rule: large, node: 'facts', output: 'large' }],
      two: [{ input: 'total', rule: null, node: 'facts', output: 'total' }],
      three: [],
    })
    const warnings = findings.filter(({ code }) => code === 'reads_node').map(({ message }) => message)
    expect(warnings[1]).toBe('one reads large, which facts gives; it is an input of this rule.')
  })

  test('names the branch of a switch that a rule depends on', () => {
    const statements = [
      { id: 's1', condition: "color == 'red' or color == 'blue'" },
      { id: 's2', condition: '' },
    ]
    const nodes = [
      node('way', 'switch', { hitPolicy: 'first', statements }),
      node('one', 'decisionTable', table('raw')),
      node('two', 'decisionTable', table('raw')),
    ]
    const { definitions } = importGoRules(
      graph(nodes, [edge('in', 'way'), edge('way', 'one', 's1'), edge('way', 'two', 's2')]),
    )
    const [way, one, two] = definitions as [ImportedRule, ImportedRule, ImportedRule]
    expect(['red', 'blue', 'green'].map((color) => outputsOf(way, { color }))).toEqual([
      { branch: 'one' },
      { branch: 'one' },
      { branch: 'two' },
    ])
    expect(one.only_if).toEqual([{ rule: way.place, node: 'way', output: 'branch', value: 'one' }])
    expect(two.only_if[0]?.value).toBe('two')
  })

  test('reports fields that a node does not pass on', () => {
    const nodes = [
      node('facts', 'expression', { ...expressions({ large: 'amount > 100' }), passThrough: false }),
      node('one', 'decisionTable', table('raw')),
    ]
    const { findings } = importGoRules(graph(nodes, [edge('in', 'facts'), edge('facts', 'one')]))
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'reads_nothing', message: expect.stringContaining('raw') }),
    )
  })
})

const folder = findSharedFolder('decisions/gorules-zen', 1) ?? ''
const files = folder
  ? fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))
  : []

type Json = Record<string, unknown>
const at = (value: unknown, field: string): unknown =>
  field.split('.').reduce<unknown>((inside, name) => (inside as Json | undefined)?.[name], value)

/** The result of each rule for one example, if its inputs are known; null when it does not apply. */
function decided(rules: readonly ImportedRule[], input: unknown): Map<ImportedRule, Record<string, unknown>> {
  const given = new Map<ImportedRule, Record<string, unknown>>()
  const byPlace = new Map(rules.map((rule) => [rule.place, rule]))
  const waiting = new Set(rules)
  for (let moved = true; moved; ) {
    moved = false
    for (const rule of waiting) {
      const sources = rule.definition.inputs.map(({ name, title, type }) => {
        const links = rule.reads.filter((link) => link.input === name)
        const from = links[0]?.rule == null ? undefined : byPlace.get(links[0].rule)
        if (links.length > 1 || (links.length === 1 && !from)) return undefined
        const value = from ? given.get(from)?.[links[0]?.output ?? ''] : at(input, title)
        return value === undefined ? undefined : ([name, type === 'decimal' ? String(value) : value] as const)
      })
      const isChosen = rule.only_if.every(({ rule: place, value }) => {
        const from = place === null ? undefined : byPlace.get(place)
        return from !== undefined && given.get(from)?.['branch'] === value
      })
      if (!isChosen || sources.some((source) => source === undefined)) continue
      waiting.delete(rule)
      const outputs = outputsOf(rule, Object.fromEntries(sources as [string, unknown][]))
      if (outputs) given.set(rule, outputs)
      moved = true
    }
  }
  return given
}

describe.skipIf(files.length === 0)('published graphs', () => {
  test('give the results of their examples, where imported', () => {
    let compared = 0
    const wrong: unknown[] = []
    for (const file of files) {
      const text = fs.readFileSync(path.join(folder, file), 'utf8')
      const { nodes, tests = [] } = JSON.parse(text) as { nodes: Json[]; tests?: { input: unknown; output: unknown }[] }
      const { definitions } = importGoRules(text)
      // A field that several nodes write has the value of the last one.
      const written = nodes.flatMap(({ content }) => {
        const { outputs = [], expressions: all = [], outputPath } = (content ?? {}) as Record<string, never>
        const prefix = outputPath ? `${outputPath}.` : ''
        return [
          ...(outputs as Json[]).map(({ field }) => `${prefix}${field}`),
          ...(all as Json[]).map(({ key }) => `${prefix}${key}`),
        ]
      })
      for (const { input, output } of tests) {
        for (const [rule, outputs] of decided(definitions, input)) {
          if (rule.definition.table.hit_policy === 'collect') continue
          for (const [field, value] of Object.entries(outputs)) {
            const expected = at(output, field)
            if (expected === undefined || written.filter((one) => one === field).length !== 1) continue
            compared++
            if (expected !== value) wrong.push({ file, rule: rule.name, field, value, expected })
          }
        }
      }
    }
    console.info(`GoRules: ${compared} values of examples compared, ${wrong.length} wrong`)
    expect(wrong).toEqual([])
    expect(compared).toBe(73)
  })
})
