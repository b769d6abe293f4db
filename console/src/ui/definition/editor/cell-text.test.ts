/** Cell text converts back to the value it was made from. */
import { expect, test } from 'vitest'
import { formatCell, parseCell } from './cell-text.ts'

test.each([
  [2500, '2500'],
  [true, 'true'],
  ['high', 'high'],
  [{ list_key: 'risk-levels', key: 'low', field: 'score_bps' }, 'risk-levels > low > score_bps'],
])('%o is typed as %s', (value, text) => {
  expect(formatCell(value)).toBe(text)
  expect(parseCell(text)).toEqual(value)
})

test('keeps text that is not a list reference', () => {
  expect(parseCell('a > b')).toBe('a > b')
  expect(parseCell('a > b > c > d')).toBe('a > b > c > d')
  expect(parseCell('')).toBe('')
  expect(formatCell(undefined)).toBe('')
})
