import { expect, test } from 'vitest'
import { readPartChanges } from './part-changes.ts'
import { findValueChanges } from './value-changes.ts'

test('names each member that differs, is missing or is new', () => {
  expect(findValueChanges({ a: 1, b: [1, { c: 2 }], d: 4 }, { a: 1, b: [1, { c: 3 }], 'e/f': 5 })).toEqual([
    { pointer: '/b/1/c', before: 2, after: 3 },
    { pointer: '/d', before: 4 },
    { pointer: '/e~1f', after: 5 },
  ])
  expect(findValueChanges({ a: [1] }, { a: [1] })).toEqual([])
  expect(findValueChanges([], {})).toEqual([{ pointer: '', before: [], after: {} }])
})

test('reads stored texts as lines and stored JSON as values', () => {
  const changes = [
    { pointer: '/text', before: 'a\nb', after: 'a\nc' },
    { pointer: '/json', before: '{"title":"R\\u00f4le"}', after: '{"title":"Role"}' },
    { pointer: '/position', before: 1, after: 2 },
  ]
  expect(readPartChanges(changes)).toEqual({
    texts: [{ before: 'a\nb', after: 'a\nc' }],
    values: [{ pointer: '/title', before: 'Rôle', after: 'Role' }],
  })
})

test('reads texts that are stored as bytes, also where only one of the two is', () => {
  const base64 = Buffer.from('// 名簿\n').toString('base64')
  expect(
    readPartChanges([
      { pointer: '/base64', after: base64 },
      { pointer: '/text', before: '// list\n' },
    ]),
  ).toEqual({
    texts: [{ before: '// list\n', after: '// 名簿\n' }],
    values: [],
  })
})

test('keeps what it cannot read', () => {
  const changes = [{ pointer: '/json', before: 'not JSON', after: '{}' }]
  expect(readPartChanges(changes)).toEqual({ texts: [], values: changes })
})
