/** Edits keep every row as long as the columns. */
import { expect, test } from 'vitest'
import {
  addColumn,
  addRow,
  moveColumn,
  moveRow,
  parseTable,
  removeColumn,
  removeRow,
  setHitPolicy,
  setOtherwise,
  setOutput,
  setReason,
  setTest,
} from './table-edits.ts'

const table = parseTable({
  hit_policy: 'unique',
  columns: ['age', 'country'],
  outputs: [{ name: 'score_bps' }],
  rows: [
    { key: 'young', when: ['< 18', '-'], then: [100] },
    { key: 'row-2', when: ['>= 18', '"DE"'], then: [200], reason: 'Of age.' },
  ],
})
const keys = ({ rows }: typeof table) => rows.map(({ key }) => key)

test('cells are set where they are', () => {
  expect(setTest(table, 0, 1, '"CH"').rows[0]?.when).toEqual(['< 18', '"CH"'])
  expect(setOutput(table, 1, 0, 300).rows.map(({ then }) => then)).toEqual([[100], [300]])
  expect(setReason(table, 1, '').rows[1]).not.toHaveProperty('reason')
})

test('rows come under a new name, move and go', () => {
  const longer = addRow(table)
  expect(keys(longer)).toEqual(['young', 'row-2', 'row-3'])
  expect(longer.rows[2]).toMatchObject({ when: ['-', '-'], then: [0] })
  expect(keys(addRow(removeRow(longer, 0)))).toEqual(['row-2', 'row-3', 'row-4'])
  expect(keys(moveRow(longer, 2, -1))).toEqual(['young', 'row-3', 'row-2'])
  expect(moveRow(table, 0, -1)).toBe(table)
})

test('columns come and go with their tests', () => {
  expect(addColumn(table, 'channel').rows.map(({ when }) => when.length)).toEqual([3, 3])
  expect(removeColumn(table, 0).rows.map(({ when }) => when)).toEqual([['-'], ['"DE"']])
})

test('columns move with their tests', () => {
  const turned = moveColumn(table, 0, 1)
  expect(turned.columns).toEqual(['country', 'age'])
  expect(turned.rows.map(({ when }) => when)).toEqual([
    ['-', '< 18'],
    ['"DE"', '>= 18'],
  ])
  expect(moveColumn(table, 1, 1)).toBe(table)
})

test('a policy brings what it needs and takes along what only it had', () => {
  const ranked = setHitPolicy({ ...table, collect: 'sum' }, 'priority')
  expect(ranked).toMatchObject({ hit_policy: 'priority', priorities: [100, 200] })
  expect(ranked).not.toHaveProperty('collect')
  expect(setHitPolicy(ranked, 'first')).not.toHaveProperty('priorities')
})

test('what holds otherwise is as long as the outputs, and can be taken away', () => {
  const said = setOtherwise(table, (now) => ({ ...now, reason: 'Nothing else.' }))
  expect(said.otherwise).toEqual({ then: [0], reason: 'Nothing else.' })
  expect(parseTable({ ...said, outputs: [{ name: 'a' }, { name: 'b' }] }).otherwise?.then).toEqual([0, 0])
  expect(setOtherwise(said, null)).not.toHaveProperty('otherwise')
})

test('a draft that is hardly a table is shown as one', () => {
  expect(parseTable(undefined)).toMatchObject({ columns: [], rows: [] })
  const unfinished = JSON.parse('{ "columns": ["age"], "rows": [{ "key": "a" }] }')
  expect(parseTable(unfinished).rows[0]?.when).toEqual(['-'])
})
