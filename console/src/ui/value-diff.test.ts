import { expect, test } from 'vitest'
import { diffLists, diffMembers, diffTexts } from './value-diff.ts'

test('compares texts by word, and as a whole if little is common', () => {
  expect(diffTexts('18 Nowhere Road, Villa Ficta', '18 Nowhere Lane, Villa Ficta')).toEqual([
    { kind: 'same', text: '18 Nowhere ' },
    { kind: 'removed', text: 'Road' },
    { kind: 'added', text: 'Lane' },
    { kind: 'same', text: ', Villa Ficta' },
  ])
  expect(diffTexts('GLASS KEEL', 'GHOST BUOY STAR')).toBeNull()
  expect(diffTexts('', 'new')).toBeNull()
})

test('compares arrays by item in order', () => {
  const kinds = (before: unknown[], after: unknown[]) =>
    diffLists(before, after).map(({ kind, value }) => [kind, value])
  expect(kinds(['a', 'b'], ['a', 'c', 'b'])).toEqual([
    ['same', 'a'],
    ['added', 'c'],
    ['same', 'b'],
  ])
  expect(kinds([{ name: 'x' }], [])).toEqual([['removed', { name: 'x' }]])
})

test('compares entries by member and distinguishes absent from null', () => {
  expect(diffMembers({ a: 1, b: [1], c: null }, { a: 1, b: [2], 'd/e': 'x' })).toEqual([
    { pointer: '/b', before: [1], after: [2] },
    { pointer: '/c', before: null },
    { pointer: '/d~1e', after: 'x' },
  ])
})
