/** Definitions that are too large to enumerate are reported as not provable. */
import { describe, expect, test } from 'vitest'
import {
  age,
  analyseExample,
  buildMatrix,
  buildTableFactor,
  kind,
  summarizeFindings,
} from '#test/support/analysis-definitions.ts'
import { lists } from '#test/support/example-matrix.ts'
import type { BoundList, BoundLists, Definition, Factor, Input } from '../model.ts'

describe('a definition that is too large', () => {
  const flags = (count: number): Input[] =>
    Array.from({ length: count }, (_, n) => ({ name: `f${n}`, title: `Flag ${n}`, type: 'boolean' }))
  const wide = (count: number): Definition => {
    const inputs = flags(count)
    const rows = [inputs.map(() => 'true'), inputs.map(() => 'false')]
    return buildMatrix(inputs, [
      buildTableFactor(
        inputs.map(({ name }) => name),
        rows,
      ),
    ])
  }

  test('is reported with the columns', () => {
    expect(summarizeFindings(analyseExample(wide(12)))).toEqual(['table_gap /factors/0/table'])
    const [finding] = analyseExample(wide(13))
    expect(finding).toMatchObject({ code: 'not_analysable', pointer: '/factors/0/table', severity: 'error' })
    expect(finding?.message).toContain('f0 (2), f1 (2)')
    expect(finding?.message).toContain('f12 (2)')
  })

  test('ignores columns that no row tests', () => {
    const inputs = flags(20)
    const rows = [inputs.map((_, n) => (n === 0 ? 'true' : '-')), inputs.map((_, n) => (n === 0 ? 'false' : '-'))]
    expect(
      analyseExample(
        buildMatrix(inputs, [
          buildTableFactor(
            inputs.map(({ name }) => name),
            rows,
          ),
        ]),
      ),
    ).toEqual([])
  })

  test('is limited for all tables together', () => {
    const inputs = Array.from({ length: 6 }, (_, n): Input => ({ ...age, name: `n${n}`, maximum: 9 }))
    const columns = inputs.map(({ name }) => name)
    const rows = Array.from({ length: 10 }, (_, n) => inputs.map(() => `${n}`))
    const factors = Array.from({ length: 7 }, (_, n) => ({
      ...buildTableFactor(columns, rows, { otherwise: { then: [0], reason: 'x' } }),
      key: `t${n}`,
    }))
    expect(summarizeFindings(analyseExample(buildMatrix(inputs, factors)))).toEqual(
      [5, 6].map((n) => `not_analysable /factors/${n}/table`),
    )
  })

  test('limits the keys of all lists, including duplicates', () => {
    const entry = { key: 'k', entry: {}, hash: '' }
    const long = (list_key: string): BoundList => ({
      ...(lists.get('jurisdiction-risk') as BoundList),
      list_key,
      all: Array.from({ length: 60_000 }, (_, n) => ({ ...entry, key: `k${n}` })),
    })
    const names = Array.from({ length: 9 }, (_, n) => `long-${n}`)
    const many: BoundLists = new Map([...lists, ...names.map((name) => [name, long(name)] as const)])
    const own: Input = { name: 'code', title: 'Code', type: 'string' }
    const reading = (count: number) => {
      const rows = names.slice(0, count).map((name) => [`in list(${name})`])
      return analyseExample(buildMatrix([own], [buildTableFactor(['code'], rows, { hit_policy: 'first' })]), many)
    }
    expect(summarizeFindings(reading(1))).toContain('table_gap /factors/0/table')
    const [finding] = reading(9)
    expect(finding).toMatchObject({ code: 'not_analysable', pointer: '/factors/0/table', severity: 'error' })
    expect(finding?.message).toContain('540000 keys together')
  })

  test('proves nothing for a list that is not fully loaded, except for its own keys', () => {
    const large: BoundLists = new Map([
      ...lists,
      ['jurisdiction-risk', { ...(lists.get('jurisdiction-risk') as BoundList), all: null }],
    ])
    const lookup: Factor = {
      key: 'country',
      title: 'Country',
      form: 'lookup',
      list_key: 'jurisdiction-risk',
      inputs: ['country'],
      field: 'score_bps',
      on_missing: 'fail',
    }
    const own: Input = { name: 'country', title: 'Country', type: 'string', one_of: { list_key: 'jurisdiction-risk' } }
    expect(analyseExample(buildMatrix([own], [lookup]), large)).toEqual([])
    // The rest of the matrix is analysed for any country.
    const other = buildTableFactor(['age'], [['< 18'], ['> 18']])
    const [gap, ...more] = analyseExample(buildMatrix([own, age], [lookup, other]), large)
    expect([gap?.code, gap?.example, more]).toEqual(['table_gap', undefined, []])
    const scored = { ...buildTableFactor(['factor.kind'], [['< 5'], ['>= 5']]), key: 'scored' }
    const scores: Factor = {
      key: 'kind',
      title: 'Kind',
      form: 'score_map',
      input: 'kind',
      scores: { a: 1, b: 9 },
      on_missing: 'fail',
    }
    expect(analyseExample(buildMatrix([own, kind], [scores, scored]), large)).toEqual([])
    const second: Factor = { ...scores, key: 'second', scores: { a: 1, b: 10_000 } }
    const sums = buildMatrix([own, kind], [scores, second], { aggregation: 'sum' })
    expect(summarizeFindings(analyseExample(sums, large))).toEqual(['not_analysable /aggregation'])
    const [finding] = analyseExample(
      buildMatrix([{ name: 'country', title: 'Country', type: 'enum', values: ['DE'] }], [lookup]),
      large,
    )
    expect(finding).toMatchObject({ code: 'not_analysable', pointer: '/factors/0' })
    expect(finding?.message).toContain('jurisdiction-risk is too large')
  })

  test('proves presence on a list of any size', () => {
    const large: BoundLists = new Map([
      ...lists,
      ['jurisdiction-risk', { ...(lists.get('jurisdiction-risk') as BoundList), all: null }],
    ])
    const named: Input = { name: 'country', title: 'Country', type: 'string' }
    const several: Input = { name: 'country', title: 'Countries', type: 'list', max_items: 20 }
    const presence: Factor = {
      key: 'listed',
      title: 'Listed',
      form: 'presence',
      list_key: 'jurisdiction-risk',
      input: 'country',
      present: 9000,
      absent: 0,
    }
    expect(analyseExample(buildMatrix([named], [presence]), large)).toEqual([])
    expect(analyseExample(buildMatrix([several], [{ ...presence, count: true, at_most: 10_000 }]), large)).toEqual([])
    // Without a limit twenty hits would be too many, and their number is unknown.
    expect(summarizeFindings(analyseExample(buildMatrix([several], [{ ...presence, count: true }]), large))).toEqual([
      'not_analysable /factors/0',
    ])
  })

  test('enumerates a million combinations', () => {
    const inputs = Array.from(
      { length: 6 },
      (_, n): Input => ({ name: `n${n}`, title: `N${n}`, type: 'integer', minimum: 0, maximum: 9 }),
    )
    const rows = Array.from({ length: 60 }, (_, n) =>
      inputs.map((__, column) => (n % 6 === column ? `${Math.floor(n / 6)}` : '-')),
    )
    const factor = buildTableFactor(
      inputs.map(({ name }) => name),
      rows,
      { hit_policy: 'first' },
    )
    const findings = analyseExample(buildMatrix(inputs, [factor]))
    // The ten rows on the first column cover everything, so later rows are unreachable.
    expect(summarizeFindings(findings)).toEqual(
      [55, 56, 57, 58, 59].map((row) => `row_never /factors/0/table/rows/${row}`),
    )
  })
})
