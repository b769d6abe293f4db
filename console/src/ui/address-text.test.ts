import { expect, test } from 'vitest'
import { readAddressText } from './address-text.ts'

test('takes a text as the router read it', () => {
  expect(readAddressText('1e5', '?q=%221e5%22', 'q')).toBe('1e5')
  expect(readAddressText(undefined, '', 'q')).toBe('')
})

test.each([
  [100_000, '?q=1e5', '1e5'],
  [{ a: 1 }, '?q=%7B%22a%22%3A1%7D', '{"a":1}'],
  [true, '?kind=list&q=true', 'true'],
  [null, '?q=null', 'null'],
  [7, '?q=007+b', '007 b'],
])('takes %j as it was typed', (value, query, text) => {
  expect(readAddressText(value, query, 'q')).toBe(text)
})
