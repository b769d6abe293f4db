import { expect, test } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

test('drops the oldest entry when a new key comes, and none when a key is set again', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('b', 3)
  expect([...map]).toEqual([
    ['a', 1],
    ['b', 3],
  ])
  map.set('c', 4)
  expect([...map]).toEqual([
    ['b', 3],
    ['c', 4],
  ])
})
