/** The estimated size of a definition is never smaller than its real size. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildMatrix, buildTableFactor } from '#test/support/analysis-definitions.ts'
import { buildList, buildLists } from '#test/support/bound-lists.ts'
import { bands } from '#test/support/example-matrix.ts'
import { buildBoundLayout } from '../engine-1/bound-layout.ts'
import type { Factor, Input, LookupFactor, PresenceFactor } from '../model.ts'
import { InputUsage } from './input-usage.ts'
import { estimateCombinations } from './size-estimate.ts'
import { countBoxes } from './sweep.ts'
import { buildDimensions } from './table-space.ts'

const lists = buildLists(
  bands,
  buildList('few', {
    a: { score_bps: 100, top: 3 },
    ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`${3 * n}`, { score_bps: n }])),
  }),
)

const COLUMNS: readonly (readonly [Input, readonly string[]])[] = [
  [{ name: 'kind', title: 'Kind', type: 'enum', values: ['a', 'b', 'c'] }, ['-', '"a"', '"b","c"', 'in list(few)']],
  [{ name: 'flag', title: 'Flag', type: 'boolean' }, ['-', 'true', 'false']],
  [
    { name: 'count', title: 'Count', type: 'integer' },
    [
      '-',
      '[0..10]',
      '[5..15]',
      '[8..20]',
      '[9..30]',
      '7, 9, 11',
      'not([0..1], 4)',
      'in list(few)',
      '> list(few, a).top',
    ],
  ],
  [{ name: 'day', title: 'Day', type: 'date' }, ['-', '< "2024-02-29"', '"2024-03-01"', 'not("2025-01-01")']],
  [{ name: 'text', title: 'Text', type: 'string' }, ['-', '"x"', '"y","z"', 'not("x")', 'in list(few)']],
  [{ name: 'tags', title: 'Tags', type: 'list', values: ['p', 'q', 'r'] }, ['-', '"p"', 'not("p")', '"q","r"']],
  [{ name: 'names', title: 'Names', type: 'list' }, ['-', '"p"', '"q"', 'in list(few)']],
  [{ name: 'listed', title: 'Listed', type: 'enum', one_of: { list_key: 'few' } }, ['-', '"a"', 'not("b")']],
]

const factors = fc
  .subarray([...COLUMNS], { minLength: 1, maxLength: 4 })
  .chain((columns) =>
    fc.record({
      columns: fc.constant(columns),
      rows: fc.array(fc.tuple(...columns.map(([, tests]) => fc.constantFrom(...tests))), {
        minLength: 1,
        maxLength: 6,
      }),
      looked_up: fc.option(fc.constantFrom('count', 'text', 'names', 'kind')),
      counted: fc.option(fc.constantFrom('tags', 'names')),
    }),
  )
  .map(({ columns, rows, looked_up, counted }): Factor[] => [
    buildTableFactor(
      columns.map(([{ name }]) => name),
      rows,
    ),
    ...(looked_up === null ? [] : [{ ...lookup, inputs: [looked_up] }]),
    ...(counted === null ? [] : [{ ...presence, input: counted }]),
  ])
const lookup: LookupFactor = {
  key: 'lookup',
  title: 'Lookup',
  form: 'lookup',
  list_key: 'few',
  inputs: [],
  field: 'score_bps',
  on_missing: 'fail',
}
const presence: PresenceFactor = {
  key: 'presence',
  title: 'Presence',
  form: 'presence',
  list_key: 'few',
  input: '',
  count: true,
  present: 1,
  absent: 0,
}

test('is at least the number of enumerated combinations', () => {
  fc.assert(
    fc.property(factors, (given) => {
      const read = JSON.stringify(given.map((factor) => (factor.form === 'table' ? factor.table.columns : factor)))
      const inputs = COLUMNS.map(([input]) => input).filter(({ name }) => read.includes(`"${name}"`))
      const definition = buildMatrix(inputs, given)
      const layout = buildBoundLayout(definition, lists)
      const boxes = given.map((factor, index) => {
        const questions = new InputUsage(layout, lists)
        questions.factor(factor, index)
        return countBoxes(buildDimensions(questions, layout, Number.POSITIVE_INFINITY))
      })
      const all = boxes.reduce((sum, each) => sum + each, 0)
      expect(estimateCombinations(definition, lists)).toBeGreaterThanOrEqual(all)
    }),
    { numRuns: 300 },
  )
})
