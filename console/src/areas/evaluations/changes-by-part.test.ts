/** Differences of two documents are read part by part: causes first, consequences after. */
import { expect, test } from 'vitest'
import { groupChangesByPart } from './changes-by-part.ts'

test('groups changes by part and omits empty parts', () => {
  const changes = ['/explanation/summary/0', '/inputs/age', '/lists/0/version', '/version', '/inputs/name'].map(
    (pointer) => ({ pointer }),
  )
  expect(
    groupChangesByPart(changes).map(({ title, changes: own }) => [title, ...own.map(({ pointer }) => pointer)]),
  ).toEqual([
    ['Inputs', '/age', '/name'],
    ['Versions', '/lists/0/version', '/version'],
    ['Reasons', '/summary/0'],
  ])
})

test('lists each entry that differs', () => {
  const read = (key: string, value: number, hash = 'aa') => ({ list_key: 'risk', key, field: 'score', value, hash })
  const before = [read('CH', 3), read('DE', 1), read('FR', 2), read('IT', 2, 'b1')]
  const after = [read('CH', 3), read('FR', 4), read('GB', 5), read('IT', 2, 'b2')]
  expect(groupChangesByPart([{ pointer: '/used', before, after }])).toEqual([
    {
      title: 'Versions',
      changes: [
        { pointer: '/risk/DE/score', before: 1 },
        { pointer: '/risk/FR/score', before: 2, after: 4 },
        { pointer: '/risk/GB/score', after: 5 },
        { pointer: '/risk/IT/score', before: 'b1', after: 'b2' },
      ],
    },
  ])
  const odd = { pointer: '/used', before: null, after }
  expect(groupChangesByPart([odd])[0]?.changes).toEqual([odd])
})
