/** Tests that compare with values of lists: results, used entries, and findings about unsuitable lists. */
import { describe, expect, test } from 'vitest'
import { buildList, buildLists } from '#test/support/bound-lists.ts'
import { assertDecided } from '#test/support/decision-examples.ts'
import { bindOrThrow, lists as known } from '#test/support/example-matrix.ts'
import type { BoundLists, DecisionRow, Definition, Finding, Input, Inputs, MatrixDefinition } from '../model.ts'
import { engine1 } from './engine.ts'

const limits = buildList('limits', {
  'cash|retail': { amount_minor: 900_000, amount: '9000.00', count: 3, low: 10, high: 20, name: 'retail', on: true },
  odd: { amount: '1.234', count: 2.5, day: '2024-02-30', gone: null, many: ['a'], name: 'none of them' },
  day: { from: '2024-02-29', nested: { low: 1234567 } },
})
const lists = buildLists(...known.values(), limits)

const inputs: readonly Input[] = [
  { name: 'amount', title: 'Amount', type: 'decimal', scale: 2, minimum: '0' },
  { name: 'count', title: 'Count', type: 'integer' },
  { name: 'segment', title: 'Segment', type: 'enum', values: ['retail', 'corporate'] },
  { name: 'day', title: 'Day', type: 'date' },
  { name: 'flag', title: 'Flag', type: 'boolean' },
  { name: 'tags', title: 'Tags', type: 'list' },
]
const usual: Inputs = { amount: '9000.00', count: 3, segment: 'retail', day: '2024-02-29', flag: true, tags: [] }

const ruleOf = (columns: readonly string[], ...rows: readonly Partial<DecisionRow>[]): Definition => ({
  family: 'rule',
  inputs,
  table: {
    hit_policy: 'first',
    columns,
    outputs: [],
    rows: rows.map((row, n) => ({ key: `r${n}`, when: [], then: [], ...row })),
  },
  reason_code: 'R',
  reason: 'It hits.',
})
const hits = (column: string, cell: string, given: Inputs): boolean => {
  const { outcome } = assertDecided(
    bindOrThrow(ruleOf([column], { when: [cell] }), lists).decide({ ...usual, ...given }),
  )
  return outcome.family === 'rule' && outcome.hit
}

describe('comparison with a value of a list', () => {
  test.each<[string, string, readonly unknown[], readonly unknown[]]>([
    ['amount', '>= list(limits, cash|retail).amount', ['9000', '9000.01'], ['8999.99']],
    ['amount', '< minor(list(limits, cash|retail).amount_minor)', ['8999.99'], ['9000']],
    ['count', '[list(limits, cash|retail).low..list(limits, cash|retail).high)', [10, 19], [9, 20]],
    ['count', '0, list(limits, cash|retail).count', [0, 3], [1, 2]],
    ['count', 'not(> list(limits, day)."/nested/low")', [1_234_567], [1_234_568]],
    ['segment', 'list(limits, cash|retail).name', ['retail'], ['corporate']],
    ['day', '<= list(limits, day).from', ['2024-02-29'], ['2024-03-01']],
    ['flag', 'list(limits, cash|retail).on', [true], [false]],
    ['tags', '"x", list(limits, cash|retail).name', [['a', 'retail'], ['x']], [[], ['a']]],
  ])('%s %s', (column, cell, passing, failing) => {
    expect(passing.map((value) => hits(column, cell, { [column]: value }))).toEqual(passing.map(() => true))
    expect(failing.map((value) => hits(column, cell, { [column]: value }))).toEqual(failing.map(() => false))
  })
})

describe('used entries and explanations', () => {
  const definition = ruleOf(
    ['amount', 'count'],
    { when: ['>= minor(list(limits, cash|retail).amount_minor)', '>= list(limits, day)."/nested/low"'] },
    { when: ['< 10000', '>= list(limits, cash|retail).count'], reason: '{count} of them.' },
  )
  const source = 'limits v1, cash|retail'

  test('lists every compared value as a used entry with its hash, and no others', () => {
    const { used } = assertDecided(bindOrThrow(definition, lists).decide({ ...usual, amount: '8999.99' }))
    const entry = { list_key: 'limits', key: 'cash|retail', hash: limits.get('cash|retail')?.hash }
    expect(used).toEqual([
      { ...entry, field: 'amount_minor', value: 900_000 },
      { ...entry, field: 'count', value: 3 },
    ])
  })

  test('explains the compared values and list versions of rows that fired', () => {
    const { explanation } = assertDecided(bindOrThrow(definition, lists).decide({ ...usual, amount: '8999.99' }))
    const reason = `3 of them. By the lists: Count ≥ 3 (${source}).`
    expect(explanation.rows).toEqual([{ key: 'r1', reason, reason_code: null }])
    expect(explanation.summary).toEqual(['The rule hits: It hits.', reason])
    const large = assertDecided(bindOrThrow(definition, lists).decide({ ...usual, count: 2_000_000 })).explanation
    expect(large.rows[0]?.reason).toBe(
      `By the lists: Amount ≥ 9,000.00 (${source}), Count ≥ 1,234,567 (limits v1, day).`,
    )
  })

  test('names an overlay', () => {
    const overlaid = buildLists({ ...limits, version: 3, overlay_hash: 'o'.repeat(64) })
    const [row] = assertDecided(bindOrThrow(definition, overlaid).decide(usual)).explanation.rows
    expect(row?.reason).toContain('(limits v3 with its overlay, cash|retail)')
  })

  test('is a reference whose key is needed for any inputs', () => {
    const compiled = engine1.compile(definition)
    expect(compiled.list_keys).toEqual(['limits'])
    expect(compiled.references[1]).toEqual({
      list_key: 'limits',
      pointer: '/table/rows/0/when/1',
      key: 'day',
      field: '/nested/low',
      compares: { title: 'Count', type: 'integer', minor: false },
    })
    expect([...compiled.needs(usual)]).toEqual([['limits', ['cash|retail', 'day']]])
    const large: BoundLists = new Map([['limits', { ...limits, all: null }]])
    expect(assertDecided(bindOrThrow(definition, large).decide(usual)).outcome).toMatchObject({ hit: true })
  })

  test('explains compared values of factors and triggers', () => {
    const matrix: Definition & MatrixDefinition = {
      family: 'matrix',
      inputs,
      factors: [
        {
          key: 'amount',
          title: 'Amounts',
          form: 'table',
          table: {
            hit_policy: 'first',
            columns: ['amount'],
            outputs: [{ name: 's' }],
            rows: [{ key: 'large', when: ['>= list(limits, cash|retail).amount'], then: [7000] }],
            otherwise: { then: [0], reason: 'Small.' },
          },
        },
      ],
      aggregation: 'max',
      bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
      triggers: [
        {
          key: 't',
          title: 'T',
          when: [
            { of: 'score', test: '>= list(risk-bands, high).from_bps' },
            { of: 'factor.amount', test: '> list(levels, low).score_bps' },
          ],
          reason_code: 'T',
          reason: 'Fired.',
        },
      ],
    }
    const { explanation, used } = assertDecided(bindOrThrow(matrix, lists).decide(usual))
    expect(explanation.factors[0]).toMatchObject({
      reason: `large gives 7000 basis points. By the lists: Amount ≥ 9,000.00 (${source}).`,
      found: [{ list_key: 'limits', key: 'cash|retail', field: 'amount', value: '9000.00' }],
    })
    expect(explanation.triggers[0]?.reason).toBe(
      'Fired. By the lists: Score ≥ 6,000 (risk-bands v1, high), Amounts > 500 (levels v1, low).',
    )
    expect(used.map(({ list_key, key, field }) => `${list_key} ${key} ${field}`)).toContain('levels low score_bps')
  })
})

describe('reports an unsuitable list at the cell with list, key and field', () => {
  const found = (column: string, cell: string, to: BoundLists = lists): Finding[] => {
    const row = { when: ['-', cell] }
    const other = column === 'count' ? 'amount' : 'count'
    const result = engine1.compile(ruleOf([other, column], row)).bind(to)
    return 'decide' in result ? [] : [...result]
  }
  test.each<[string, string, string, RegExp]>([
    ['count', '> list(nothing, k).x', 'list_missing', /"nothing" is not in force/],
    ['count', '> list(limits, k).x', 'list_key_missing', /"limits" has no entry "k"/],
    ['count', '> list(limits, odd).x', 'field_missing', /"odd" of the list "limits" .* at "x"/],
    ['count', '> list(limits, odd).gone', 'field_missing', /at "gone"/],
    ['count', 'list(limits, odd).many', 'field_missing', /at "many"/],
    ['count', '> list(limits, odd).count', 'test_type', /"limits" says 2.5 at "count" of "odd".* a whole number/],
    ['count', '> list(limits, cash|retail).amount', 'test_type', /a whole number/],
    ['amount', '> list(limits, odd).amount', 'test_type', /no more digits after the point/],
    ['amount', '> list(limits, cash|retail).amount_minor', 'test_type', /smallest unit, write minor\(…\)/],
    ['amount', '> minor(list(limits, cash|retail).amount)', 'test_type', /a whole number of its smallest unit/],
    ['amount', '> minor(list(limits, odd).count)', 'test_type', /a whole number of its smallest unit/],
    ['day', '< list(limits, odd).day', 'test_type', /a date as text/],
    ['flag', 'list(limits, odd).name', 'test_type', /true or false/],
    ['segment', 'list(limits, odd).name', 'test_value', /not a value that Segment may have/],
    ['tags', 'list(limits, cash|retail).count', 'test_type', /a text/],
    [
      'count',
      '[list(limits, cash|retail).high..10]',
      'range_empty',
      /from 20 to 10, by the entry "cash\|retail" of the list "limits"\./,
    ],
    ['count', '(5..list(limits, odd).x]', 'field_missing', /at "x"/],
  ])('%s %s', (column, cell, code, message) => {
    expect(found(column, cell)).toEqual([
      { code, pointer: '/table/rows/0/when/1', message: expect.stringMatching(message), severity: 'error' },
    ])
  })
})
