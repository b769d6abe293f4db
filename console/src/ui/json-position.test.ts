/** Finding a place in a JSON text. */
import { expect, test } from 'vitest'
import { findPosition } from './json-position.ts'

const text = `{
  "a/b": { "x": [1, {"deep": "br{]ace \\" quoted"}] },
  "empty": {},
  "list": [],
  "after": -1.5e3
}`
const at = (pointer: string) => {
  const place = findPosition(text, pointer)
  return place && [place.line, text.slice(place.from, place.to)]
}

test('finds members, elements and escaped names with their line', () => {
  expect(at('/a~1b/x/1/deep')).toEqual([2, '"br{]ace \\" quoted"'])
  expect(at('/a~1b/x/0')).toEqual([2, '1'])
  expect(at('/empty')).toEqual([3, '{}'])
  expect(at('/after')).toEqual([5, '-1.5e3'])
  expect(at('')).toEqual([1, text])
})

test('returns the innermost existing parent of a missing pointer', () => {
  expect(at('/a~1b/x/7')).toEqual([2, '[1, {"deep": "br{]ace \\" quoted"}]'])
  expect(at('/list/0')).toEqual([4, '[]'])
  expect(at('/nowhere/at/all')).toEqual([1, text])
})

test('returns null for a text that is not JSON', () => {
  expect(findPosition('{"a": ', '/a')).toBeNull()
})
