import { expect, test } from 'vitest'
import { findJsonFaultPlace } from './json-fault.ts'

test.each([
  ['yes they did it', 1, 1],
  ['', 1, 1],
  ['{"a": 1', 1, 8],
  ['{\n  "a": 1,\n  "b" 2\n}', 3, 7],
  ['{"a": [1, 2,]}', 1, 13],
  ['{"a": {}, }', 1, 11],
  ['{"a": tru}', 1, 7],
  ["{'a': 1}", 1, 2],
  ['{"a": "b\nc"}', 1, 7],
  ['{"a": 01}', 1, 8],
  ['{} {}', 1, 4],
  ['[[1], [2}]', 1, 9],
])('locates the fault of %j', (text, line, column) => {
  expect(findJsonFaultPlace(text)).toEqual({ line, column })
})

test('finds no fault in JSON', () => {
  for (const value of [{}, [], 'x', 0, null, { a: [{ b: -1.5e3 }, 'ü"\\'] }]) {
    expect(findJsonFaultPlace(JSON.stringify(value, null, 2))).toBeNull()
  }
})

test('locates a fault after a long text', () => {
  const text = `{"a": "${'x'.repeat(1_000_000)}"`
  expect(findJsonFaultPlace(text)).toEqual({ line: 1, column: text.length + 1 })
})

test('locates a fault below deep nesting', () => {
  expect(findJsonFaultPlace(`${'['.repeat(100_000)}x`)).toEqual({ line: 1, column: 100_001 })
})
