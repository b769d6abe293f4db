/** Cells read back as what they were written from. */
import { expect, test } from 'vitest'
import { cellText, cellValue } from './cell-text.ts'

test.each([
  [2500, '2500'],
  [true, 'true'],
  ['high', 'high'],
  [{ list_key: 'risk-levels', key: 'low', field: 'score_bps' }, 'risk-levels > low > score_bps'],
])('%o is typed as %s', (value, text) => {
  expect(cellText(value)).toBe(text)
  expect(cellValue(text)).toEqual(value)
})

test('what is no place in a list stays a word', () => {
  expect(cellValue('a > b')).toBe('a > b')
  expect(cellValue('a > b > c > d')).toBe('a > b > c > d')
  expect(cellValue('')).toBe('')
  expect(cellText(undefined)).toBe('')
})
