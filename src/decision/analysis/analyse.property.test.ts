/**
 * Compares the analysis with brute force: random tables over spaces small enough to decide every input with the engine. Every
 * reported fault exists, and every existing fault is reported.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildList, buildLists } from '#test/support/bound-lists.ts'
import { bands, bindOrThrow } from '#test/support/example-matrix.ts'
import { engine1 } from '../engine-1/engine.ts'
import type { DecisionTable, Definition, Factor, Finding, HitPolicy, Input, Inputs } from '../model.ts'
import { analyseDefinition } from './analyse.ts'

type Matrix = Extract<Definition, { family: 'matrix' }>

const lists = buildLists(
  bands,
  buildList('few', { a: { score_bps: 100 }, 2: { score_bps: 700 } }),
  buildList('limits', {
    all: { two: 2, three: 3, minor: 2, share: '0.4', day: '2024-02-29', text: 'x', kind: 'b', on: true, tag: 'q' },
  }),
  buildList('countries', { AT: { group: 'near' }, FR: { group: 'near' }, US: { group: 'far' } }),
)

/** An input, tests on it, and all relevant values, which include those around the literals of the tests. */
interface Column {
  readonly input: Input
  readonly tests: readonly string[]
  readonly values: readonly unknown[]
}

const subsets = (items: readonly string[]): string[][] => [
  [],
  ...items.map((item) => [item]),
  ...items.flatMap((item, n) => items.slice(n).map((other) => [item, other])),
]

const COLUMNS: readonly Column[] = [
  {
    input: { name: 'kind', title: 'Kind', type: 'enum', values: ['a', 'b', 'c'] },
    tests: ['-', '"a"', '"b","c"', 'not("a")', 'in list(few)', 'not("a","b")', 'list(limits, all).kind'],
    values: ['a', 'b', 'c'],
  },
  {
    input: { name: 'flag', title: 'Flag', type: 'boolean' },
    tests: ['-', 'true', 'false', 'not(true)', 'list(limits, all).on'],
    values: [true, false],
  },
  {
    input: { name: 'count', title: 'Count', type: 'integer', minimum: 0, maximum: 4 },
    tests: [
      ...['-', '< 2', '>= 2', '[1..3]', '(1..3)', '3', 'not([0..1])', '> 4', '<= 9', '0, 4', 'in list(few)'],
      ...['< list(limits, all).two', '>= list(limits, all).two', '[0..list(limits, all).three)'],
      ...['not(list(limits, all).three)', '(list(limits, all).two..list(limits, all).three], 0'],
    ],
    values: [0, 1, 2, 3, 4],
  },
  {
    input: { name: 'free', title: 'Free', type: 'integer' },
    tests: ['-', '< 0', '>= 0', '> 3', '[0..3]', 'not(2)', 'in list(few)', ']0..3[', '> list(limits, all).three'],
    values: [-9, -2, -1, 0, 1, 2, 3, 4, 5, 99],
  },
  {
    input: { name: 'share', title: 'Share', type: 'decimal', scale: 1, minimum: '0', maximum: '0.5' },
    tests: [
      ...['-', '< 0.2', '>= 0.2', '(0.1..0.4)', '0.5', 'not(0.5)', '< minor(list(limits, all).minor)'],
      '[minor(list(limits, all).minor)..list(limits, all).share)',
    ],
    values: ['0', '0.1', '0.2', '0.3', '0.4', '0.5'],
  },
  {
    input: { name: 'day', title: 'Day', type: 'date', minimum: '2024-02-28', maximum: '2024-03-01' },
    tests: [
      '-',
      '< "2024-02-29"',
      '>= date("2024-02-29")',
      '"2024-03-01"',
      'not("2024-02-29")',
      '> list(limits, all).day',
    ],
    values: ['2024-02-28', '2024-02-29', '2024-03-01'],
  },
  {
    input: { name: 'text', title: 'Text', type: 'string' },
    tests: ['-', '"x"', '"y"', 'not("x")', 'in list(few)', 'not(in list(few))', '"a"', 'not(list(limits, all).text)'],
    values: ['x', 'y', 'a', '2', 'something else'],
  },
  {
    input: { name: 'tags', title: 'Tags', type: 'list', values: ['p', 'q', 'r'], max_items: 2 },
    tests: ['-', '"p"', 'not("p")', '"q","r"', 'not("p","q")', 'list(limits, all).tag'],
    values: subsets(['p', 'q', 'r']),
  },
  {
    input: { name: 'country', title: 'Country', type: 'enum', one_of: { list_key: 'countries' } },
    tests: ['-', '"AT"', 'not("AT")', '"US","FR"'],
    values: ['AT', 'FR', 'US'],
  },
  {
    input: { name: 'group', title: 'Group', type: 'string', one_of: { list_key: 'countries', field: 'group' } },
    tests: ['-', '"near"', '"far"', 'not("far")'],
    values: ['near', 'far'],
  },
]

const first: Factor = {
  key: 'first',
  title: 'First',
  form: 'score_map',
  input: 'kind',
  scores: { a: 100, b: 5000 },
  on_missing: 'fail',
}
const SCORE_TESTS = ['-', '< 200', '>= 200', '5000', 'not(100)', '> 6000', '> list(limits, all).two']

interface Trial {
  readonly columns: readonly Column[]
  readonly with_factor: boolean
  readonly table: DecisionTable
}

const trials: fc.Arbitrary<Trial> = fc
  .record({
    columns: fc.subarray([...COLUMNS], { minLength: 1, maxLength: 3 }),
    with_factor: fc.boolean(),
    hit_policy: fc.constantFrom<HitPolicy>('unique', 'any', 'first', 'priority', 'collect'),
    collect: fc.constantFrom('sum' as const, 'max' as const),
    otherwise: fc.boolean(),
  })
  .chain(({ columns, with_factor, hit_policy, collect, otherwise }) => {
    const tests = columns.map((column) => fc.constantFrom(...column.tests))
    const when = fc.tuple(...(with_factor ? [...tests, fc.constantFrom(...SCORE_TESTS)] : tests))
    return fc
      .array(fc.record({ when, score: fc.constantFrom(0, 3000, 6000) }), { minLength: 1, maxLength: 6 })
      .map((rows) => ({
        columns,
        with_factor,
        table: {
          hit_policy,
          ...(hit_policy === 'collect' && { collect }),
          ...(hit_policy === 'priority' && { priorities: [3000, 0, 6000] }),
          columns: [...columns.map(({ input }) => input.name), ...(with_factor ? ['factor.first'] : [])],
          outputs: [{ name: 'score_bps' }],
          rows: rows.map((row, n) => ({ key: `r${n}`, when: row.when, then: [row.score] })),
          ...(otherwise && { otherwise: { then: [1], reason: 'Otherwise.' } }),
        },
      }))
  })

function matrixOf({ columns, with_factor }: Trial, table: DecisionTable): Matrix {
  const kind = (COLUMNS[0] as Column).input
  const inputs = columns.map(({ input }) => input)
  return {
    family: 'matrix',
    inputs: with_factor && !inputs.includes(kind) ? [...inputs, kind] : inputs,
    factors: [...(with_factor ? [first] : []), { key: 'second', title: 'Second', form: 'table', table }],
    aggregation: 'max',
    bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
    triggers: [],
  }
}

function everyInput(inputs: readonly Input[]): Inputs[] {
  return inputs.reduce<Inputs[]>(
    (sofar, { name }) => {
      const { values } = COLUMNS.find(({ input }) => input.name === name) as Column
      return sofar.flatMap((some) => values.map((value) => ({ ...some, [name]: value })))
    },
    [{}],
  )
}

/** The faults of the table, found by deciding every input with each row alone. */
function bruteForce(trial: Trial, space: readonly Inputs[]) {
  const { table } = trial
  const alone = table.rows.map((row) => {
    const { collect: _, priorities: __, otherwise: ___, ...rest } = table
    return bindOrThrow(matrixOf(trial, { ...rest, hit_policy: 'first', rows: [row] }), lists)
  })
  const fires = space.map((inputs) => {
    // When the first factor has no score the table is not evaluated.
    if (trial.with_factor && inputs['kind'] === 'c') return null
    return alone.flatMap((each, row) => (each.decide(inputs).ok ? [row] : []))
  })
  const reached = fires.filter((rows) => rows !== null)
  const score = (row: number) => table.rows[row]?.then[0] as number
  const rank = (row: number) => [3000, 0, 6000].indexOf(score(row))
  const counts = (rows: readonly number[]): readonly number[] => {
    if (table.hit_policy === 'first') return rows.slice(0, 1)
    if (table.hit_policy !== 'priority') return rows
    return [...rows].sort((a, b) => rank(a) - rank(b) || a - b).slice(0, 1)
  }
  const counted = new Set(reached.flatMap(counts))
  return {
    gap: reached.some((rows) => rows.length === 0),
    several: reached.some((rows) => rows.length > 1),
    differ: reached.some((rows) => new Set(rows.map(score)).size > 1),
    never: table.rows.map((_, row) => row).filter((row) => !counted.has(row)),
    beyond: table.collect === 'sum' && reached.some((rows) => rows.reduce((sum, row) => sum + score(row), 0) > 10_000),
  }
}

const SHOWS: Readonly<Record<string, string>> = {
  table_gap: 'no_row_fires',
  rows_overlap: 'several_rows_fire',
  rows_differ: 'any_rows_differ',
  score_out_of_range: 'score_out_of_range',
  list_key_missing: 'list_key_missing',
}

test('reports every fault and only real ones', () => {
  fc.assert(
    fc.property(trials, (trial) => {
      const { table, with_factor } = trial
      const definition = matrixOf(trial, table)
      const found = analyseDefinition(engine1.compile(definition), lists)
      const truth = bruteForce(trial, everyInput(definition.inputs))
      const at = (code: string): Finding[] =>
        found.filter(
          (finding) => finding.code === code && finding.pointer.startsWith(`/factors/${with_factor ? 1 : 0}`),
        )
      expect(at('table_gap').length).toBe(truth.gap && !table.otherwise ? 1 : 0)
      expect(at('rows_overlap').length > 0).toBe(table.hit_policy === 'unique' && truth.several)
      expect(at('rows_differ').length > 0).toBe(table.hit_policy === 'any' && truth.differ)
      expect(at('otherwise_never').length).toBe(!truth.gap && table.otherwise ? 1 : 0)
      expect(at('score_out_of_range').length).toBe(truth.beyond ? 1 : 0)
      expect(at('row_never').map(({ pointer }) => Number(pointer.split('/').at(-1)))).toEqual(truth.never)
      const decider = bindOrThrow(definition, lists)
      for (const { code, example, pointer } of found.filter((finding) => finding.example)) {
        if (!pointer.startsWith(`/factors/${with_factor ? 1 : 0}`)) continue
        const decision = decider.decide(example as Inputs)
        expect(decision.ok ? [] : decision.findings.map((each) => each.code)).toContain(SHOWS[code])
      }
    }),
    { numRuns: 250, seed: 7 },
  )
})
