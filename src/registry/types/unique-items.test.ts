import { expect, test } from 'vitest'
import { compileSchema } from './schema-validator.ts'
import { findRepeatedItem } from './unique-items.ts'

const distinct = (count: number): unknown[] => Array.from({ length: count }, (_, n) => ({ id: n, tags: [`${n}`] }))

test.each([
  [[], null],
  [[1, '1', true, 'true', null, 'null', [], {}, [1], ['1'], { a: 1 }, { a: '1' }], null],
  [
    [{ a: 1, b: [2] }, 0, { b: [2], a: 1 }],
    [0, 2],
  ],
  [
    [1, 1.0],
    [0, 1],
  ],
  [
    [0, -0],
    [0, 1],
  ],
  [['a,b', ['a', 'b'], ['a,b']], null],
  [['\ud800', '\ud801'], null],
  [
    ['\ud800', '\ud800'],
    [0, 1],
  ],
  [[{ a: { b: 1 } }, { 'a": {"b': 1 }], null],
])('finds equal items among few: %j', (items, expected) => {
  expect(findRepeatedItem(items)).toEqual(expected)
  // Among many, by their hashes.
  const others = distinct(100)
  expect(findRepeatedItem([...items, ...others])).toEqual(expected)
})

test('the validator reports both positions of a repeated object', () => {
  const validate = compileSchema({ type: 'object', properties: { a: { type: 'array', uniqueItems: true } } })
  expect(validate({ a: distinct(200) })).toBe(true)
  expect(validate({ a: [...distinct(200), { tags: ['7'], id: 7 }] })).toBe(false)
  expect(validate.errors).toMatchObject([{ keyword: 'uniqueItems', instancePath: '/a', params: { i: 200, j: 7 } }])
  const off = compileSchema({ type: 'array', uniqueItems: false })
  expect(off([{}, {}])).toBe(true)
})

test('an item is read a few times, however many there are', () => {
  let reads = 0
  const items = Array.from({ length: 5000 }, (_, n) => ({
    get id() {
      reads++
      return n
    },
  }))
  expect(compileSchema({ type: 'array', uniqueItems: true })(items)).toBe(true)
  expect(reads).toBeLessThan(20_000)
})
