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

test('sets a cell', () => {
  expect(setTest(table, 0, 1, '"CH"').rows[0]?.when).toEqual(['< 18', '"CH"'])
  expect(setOutput(table, 1, 0, 300).rows.map(({ then }) => then)).toEqual([[100], [300]])
  expect(setReason(table, 1, '').rows[1]).not.toHaveProperty('reason')
})

test('adds, moves and removes rows', () => {
  const longer = addRow(table)
  expect(keys(longer)).toEqual(['young', 'row-2', 'row-3'])
  expect(longer.rows[2]).toMatchObject({ when: ['-', '-'], then: [0] })
  expect(keys(addRow(removeRow(longer, 0)))).toEqual(['row-2', 'row-3', 'row-4'])
  expect(keys(moveRow(longer, 2, -1))).toEqual(['young', 'row-3', 'row-2'])
  expect(moveRow(table, 0, -1)).toBe(table)
})

test('adds and removes columns with their conditions', () => {
  expect(addColumn(table, 'channel').rows.map(({ when }) => when.length)).toEqual([3, 3])
  expect(removeColumn(table, 0).rows.map(({ when }) => when)).toEqual([['-'], ['"DE"']])
})

test('moves columns with their conditions', () => {
  const moved = moveColumn(table, 0, 1)
  expect(moved.columns).toEqual(['country', 'age'])
  expect(moved.rows.map(({ when }) => when)).toEqual([
    ['-', '< 18'],
    ['"DE"', '>= 18'],
  ])
  expect(moveColumn(table, 1, 1)).toBe(table)
})

test('sets the members of a hit policy and drops those of the previous one', () => {
  const ranked = setHitPolicy({ ...table, collect: 'sum' }, 'priority')
  expect(ranked).toMatchObject({ hit_policy: 'priority', priorities: [100, 200] })
  expect(ranked).not.toHaveProperty('collect')
  expect(setHitPolicy(ranked, 'first')).not.toHaveProperty('priorities')
})

test('keeps the default row as long as the outputs, and removes it', () => {
  const withDefault = setOtherwise(table, (now) => ({ ...now, reason: 'Nothing else.' }))
  expect(withDefault.otherwise).toEqual({ then: [0], reason: 'Nothing else.' })
  expect(parseTable({ ...withDefault, outputs: [{ name: 'a' }, { name: 'b' }] }).otherwise?.then).toEqual([0, 0])
  expect(setOtherwise(withDefault, null)).not.toHaveProperty('otherwise')
})

test('reads an incomplete draft as a table', () => {
  expect(parseTable(undefined)).toMatchObject({ columns: [], rows: [] })
  const unfinished = JSON.parse('{ "columns": ["age"], "rows": [{ "key": "a" }] }')
  expect(parseTable(unfinished).rows[0]?.when).toEqual(['-'])
})
