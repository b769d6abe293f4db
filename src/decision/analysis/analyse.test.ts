import { describe, expect, test } from 'vitest'
import {
  age,
  analyseExample,
  buildMatrix,
  buildTableFactor,
  kind,
  summarizeFindings,
} from '#test/support/analysis-definitions.ts'
import { buildList, buildLists } from '#test/support/bound-lists.ts'
import { bands, bindOrThrow, lists, matrix } from '#test/support/example-matrix.ts'
import type { BoundLists, DecisionTable, Definition, Factor, Finding, Input, Inputs, Trigger } from '../model.ts'

/** The engine's own findings for the example. */
const shownBy = (definition: Definition, { example }: Finding, to: BoundLists = lists): string[] => {
  const decision = bindOrThrow(definition, to).decide(example as Inputs)
  return decision.ok ? [] : summarizeFindings(decision.findings)
}

test('reports nothing for a complete matrix', () => {
  expect(analyseExample(matrix)).toEqual([])
})

test('reports a gap with an example input', () => {
  const definition = buildMatrix(
    [age, kind],
    [
      buildTableFactor(
        ['age', 'kind'],
        [
          ['< 18', '-'],
          ['> 18', '"a"'],
          ['>= 18', '"b"'],
        ],
      ),
    ],
  )
  const findings = analyseExample(definition)
  expect(findings).toEqual([
    {
      code: 'table_gap',
      pointer: '/factors/0/table',
      message: 'No row fires for age 18, kind "a".',
      severity: 'error',
      example: { age: 18, kind: 'a' },
    },
  ])
  expect(shownBy(definition, findings[0] as Finding)).toEqual(['no_row_fires /factors/0/table'])
})

test('reports an overlap, an unreachable row and an unused otherwise', () => {
  const rows = [['< 18'], ['>= 17'], ['> 200']]
  const findings = analyseExample(buildMatrix([age], [buildTableFactor(['age'], rows)]))
  expect(summarizeFindings(findings)).toEqual([
    'rows_overlap /factors/0/table/rows/1',
    'row_never /factors/0/table/rows/2',
  ])
  expect(findings[0]?.example).toEqual({ age: 17 })
  const first = buildTableFactor(['age'], [['>= 10'], ['>= 20'], ['< 10']], {
    hit_policy: 'first',
    otherwise: { then: [0], reason: 'Otherwise.' },
  })
  const reported = analyseExample(buildMatrix([age], [first]))
  expect(summarizeFindings(reported)).toEqual([
    'otherwise_never /factors/0/table/otherwise',
    'row_never /factors/0/table/rows/1',
  ])
  expect(reported.map(({ severity }) => severity)).toEqual(['warning', 'error'])
  expect(reported[1]?.message).toContain('wherever it fires, another row counts before it')
})

test('compares policy values from lists', () => {
  const score = (key: string) => ({ list_key: 'levels', key, field: 'score_bps' })
  const rows = [
    { key: 'a', when: ['< 18'], then: [score('low')] },
    { key: 'b', when: ['< 20'], then: [score('high')] },
    { key: 'c', when: ['>= 20'], then: [0] },
  ]
  const definition = buildMatrix([age], [buildTableFactor(['age'], [], { hit_policy: 'any', rows })])
  expect(summarizeFindings(analyseExample(definition))).toEqual(['rows_differ /factors/0/table/rows/1'])
  const same = buildList('levels', { high: { score_bps: 500 }, low: { score_bps: 500 } })
  expect(analyseExample(definition, buildLists(bands, same))).toEqual([])
})

describe('factors that are not tables', () => {
  const country: Input = { name: 'country', title: 'Country', type: 'enum', values: ['DE', 'XX'] }
  const lookup = (more: object = {}): Factor => ({
    key: 'country',
    title: 'Country',
    form: 'lookup',
    list_key: 'jurisdiction-risk',
    inputs: ['country'],
    field: 'score_bps',
    on_missing: 'fail',
    ...more,
  })

  test('requires every allowed value on the list, or a default', () => {
    const definition = buildMatrix([country, age], [lookup()])
    const findings = analyseExample(definition)
    expect(summarizeFindings(findings)).toEqual(['list_key_missing /factors/0'])
    expect(findings[0]?.example).toMatchObject({ country: 'XX' })
    expect(shownBy(definition, findings[0] as Finding)).toEqual(['list_key_missing /factors/0'])
    expect(analyseExample(buildMatrix([country], [lookup({ on_missing: { default: 1, reason: 'x' } })]))).toEqual([])
    const { values: _, ...any } = country
    expect(analyseExample(buildMatrix([{ ...any, one_of: { list_key: 'jurisdiction-risk' } }], [lookup()]))).toEqual([])
    const text = buildMatrix([{ ...any, type: 'string' }], [lookup()])
    expect(shownBy(text, analyseExample(text)[0] as Finding)).toEqual(['list_key_missing /factors/0'])
  })

  test('finds an entry without a score at any position of the list', () => {
    const broken = buildLists(
      bands,
      buildList('jurisdiction-risk', { DE: { score_bps: 1 }, XX: { score_bps: 'high' } }),
    )
    const definition = buildMatrix([country], [lookup()])
    const findings = analyseExample(definition, broken)
    expect(summarizeFindings(findings)).toEqual(['not_a_score /factors/0'])
    expect(shownBy(definition, findings[0] as Finding, broken)).toEqual(['not_a_score /factors/0'])
  })

  test('includes an empty list as input', () => {
    const { values: _, ...any } = country
    const definition = buildMatrix([{ ...any, type: 'list', one_of: { list_key: 'jurisdiction-risk' } }], [lookup()])
    const findings = analyseExample(definition)
    expect(summarizeFindings(findings)).toEqual(['input_empty /factors/0'])
    expect(findings[0]?.example).toEqual({ country: [] })
  })

  test('combines the parts of composite keys', () => {
    const pairs = buildLists(bands, buildList('pairs', { 'a|1': { s: 1 }, 'a|2': { s: 2 }, 'b|1': { s: 3 } }))
    const few: Input = { name: 'n', title: 'N', type: 'integer', minimum: 1, maximum: 2 }
    const definition = buildMatrix([kind, few], [lookup({ list_key: 'pairs', inputs: ['kind', 'n'], field: 's' })])
    const findings = analyseExample(definition, pairs)
    expect(findings[0]).toMatchObject({ code: 'list_key_missing', example: { kind: 'b', n: 2 } })
    expect(analyseExample({ ...definition, inputs: [kind, { ...few, maximum: 1 }] }, pairs)).toEqual([])
  })

  test('reports a score map that lacks a possible value', () => {
    const scores: Factor = {
      key: 'kind',
      title: 'Kind',
      form: 'score_map',
      input: 'kind',
      scores: { a: 1 },
      on_missing: 'fail',
    }
    const definition = buildMatrix([kind], [scores])
    const findings = analyseExample(definition)
    expect(findings).toMatchObject([{ pointer: '/factors/0', example: { kind: 'b' } }])
    expect(shownBy(definition, findings[0] as Finding)).toHaveLength(1)
    expect(analyseExample(buildMatrix([kind], [{ ...scores, scores: { a: 1, b: 2 } }]))).toEqual([])
  })

  test('chooses an example that does not fail in an earlier factor', () => {
    // The first value of `country` fails in the first factor.
    const values = { ...country, values: ['XX', 'DE'] }
    const definition = buildMatrix([values, age], [lookup(), buildTableFactor(['age'], [['< 18']])])
    const gap = analyseExample(definition).find(({ code }) => code === 'table_gap') as Finding
    expect(shownBy(definition, gap)).toEqual(['no_row_fires /factors/1/table'])
  })
})

test('reports a default that its list does not allow', () => {
  const input: Input = {
    name: 'c',
    title: 'C',
    type: 'string',
    one_of: { list_key: 'jurisdiction-risk' },
    default: 'XX',
  }
  const definition = buildMatrix([input], [buildTableFactor(['c'], [['"DE"'], ['not("DE")']])])
  const findings = analyseExample(definition)
  expect(summarizeFindings(findings)).toEqual(['default_not_allowed /inputs/0/default'])
  expect(shownBy(definition, findings[0] as Finding)).toEqual(['input_not_allowed /c'])
  expect(analyseExample({ ...definition, inputs: [{ ...input, default: 'DE' }] })).toEqual([])
})

test('reports no gap where a tested factor has no score', () => {
  const first: Factor = {
    key: 'first',
    title: 'First',
    form: 'score_map',
    input: 'kind',
    scores: { b: 1 },
    on_missing: 'fail',
  }
  const definition = buildMatrix([age, kind], [first, buildTableFactor(['age', 'factor.first'], [['>= 18', '-']])])
  const gap = analyseExample(definition).find(({ code }) => code === 'table_gap') as Finding
  expect(gap.message).toBe('No row fires for age 0, kind "b".')
  expect(shownBy(definition, gap)).toEqual(['no_row_fires /factors/1/table'])
})

describe('a matrix as a whole', () => {
  const trigger = (of: string, ...tests: string[]): Trigger => ({
    key: 't',
    title: 'T',
    when: tests.map((test_text) => ({ of, test: test_text })),
    reason_code: 'T',
    reason: 'T.',
  })
  const table = buildTableFactor(['age'], [['< 18'], ['>= 18']])

  test('warns of triggers that can never fire', () => {
    const never = [
      trigger('age', '> 150'),
      trigger('age', '> 20', '< 10'),
      trigger('factor.table', '> 100'),
      trigger('score', '< 0'),
    ]
    const may = [
      trigger('age', '150'),
      trigger('factor.table', '>= 100'),
      trigger('score', '> 9999'),
      trigger('kind', 'not("a")'),
    ]
    const triggers = [...never, ...may].map((each, n) => ({ ...each, key: `t${n}` }))
    const findings = analyseExample(buildMatrix([age, kind], [table], { triggers }))
    expect(summarizeFindings(findings)).toEqual([0, 1, 2, 3].map((n) => `trigger_never /triggers/${n}`))
    expect(findings.every(({ severity }) => severity === 'warning')).toBe(true)
  })

  test('reports sums that may exceed the maximum score', () => {
    const one = buildTableFactor(['age'], [['< 18'], ['>= 18']], {
      rows: [
        { key: 'a', when: ['< 18'], then: [6000] },
        { key: 'b', when: ['>= 18'], then: [0] },
      ],
    })
    const other = (score: number): Factor => ({
      key: 'kind',
      title: 'Kind',
      form: 'score_map',
      input: 'kind',
      scores: { a: 0, b: score },
      on_missing: 'fail',
    })
    const definition = buildMatrix([age, kind], [one, other(4001)], { aggregation: 'sum' })
    const findings = analyseExample(definition)
    expect(summarizeFindings(findings)).toEqual(['score_out_of_range /aggregation'])
    expect(shownBy(definition, findings[0] as Finding)).toEqual(['score_out_of_range /aggregation'])
    expect(analyseExample(buildMatrix([age, kind], [one, other(4000)], { aggregation: 'sum' }))).toEqual([])
    const opposed = { ...other(10_000), scores: { a: 0, b: 10_000 } }
    const bothByKind = buildTableFactor(['kind'], [], {
      rows: [
        { key: 'a', when: ['"a"'], then: [10_000] },
        { key: 'b', when: ['"b"'], then: [0] },
      ],
    })
    expect(analyseExample(buildMatrix([kind], [bothByKind, opposed], { aggregation: 'sum' }))).toEqual([])
  })

  test('reports unsuitable lists with the findings of the engine', () => {
    const gap = buildList('risk-bands', { low: { band: 'low', from_bps: 0, to_bps: 5 } })
    expect(summarizeFindings(analyseExample(buildMatrix([age], [table]), buildLists(gap)))).toEqual(['band_gap /bands'])
  })
})

test('reports an overlap of a rule, but not a gap', () => {
  const rule = (hit_policy: DecisionTable['hit_policy'], rows: readonly (readonly string[])[]): Definition => ({
    family: 'rule',
    inputs: [age],
    table: {
      hit_policy,
      columns: ['age'],
      outputs: [],
      rows: rows.map((when, n) => ({ key: `r${n}`, when, then: [] })),
    },
    reason_code: 'AGE',
    reason: 'Age.',
  })
  expect(analyseExample(rule('unique', [['< 18']]), new Map())).toEqual([])
  expect(summarizeFindings(analyseExample(rule('unique', [['< 18'], ['17']]), new Map()))).toEqual([
    'rows_overlap /table/rows/1',
  ])
  expect(analyseExample(rule('any', [['< 18'], ['17']]), new Map())).toEqual([])
})
