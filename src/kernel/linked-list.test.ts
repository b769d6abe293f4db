import { expect, test } from 'vitest'
import { LinkedList, type Node } from './linked-list.ts'

const valuesOf = <T>(line: LinkedList<T>): T[] => [...line].map(({ value }) => value)

test('keeps the order of insertion when entries are removed', () => {
  const line = new LinkedList<string>()
  const places = ['a', 'b', 'c', 'd'].map((value) => line.add(value))
  line.remove(places[1] as Node<string>)
  expect(valuesOf(line)).toEqual(['a', 'c', 'd'])
  line.remove(places[0] as Node<string>)
  line.remove(places[3] as Node<string>)
  expect([valuesOf(line), line.size]).toEqual([['c'], 1])
  line.add('e')
  expect(valuesOf(line)).toEqual(['c', 'e'])
})

test('is empty and usable again when the last entry was removed', () => {
  const line = new LinkedList<string>()
  line.remove(line.add('a'))
  expect([valuesOf(line), line.size]).toEqual([[], 0])
  line.add('b')
  expect(valuesOf(line)).toEqual(['b'])
})

test('removing an entry twice has no effect', () => {
  const line = new LinkedList<string>()
  const first = line.add('a')
  line.add('b')
  line.remove(first)
  line.remove(first)
  expect([valuesOf(line), line.size]).toEqual([['b'], 1])
})

test('the current entry may be removed during iteration', () => {
  const line = new LinkedList<number>()
  for (let n = 0; n < 5; n++) line.add(n)
  for (const place of line) if (place.value % 2 === 0) line.remove(place)
  expect(valuesOf(line)).toEqual([1, 3])
})

test('a removed entry does not reference its neighbours', () => {
  const line = new LinkedList<string>()
  const [first, second] = [line.add('a'), line.add('b'), line.add('c')]
  line.remove(second)
  expect([second.next, second.previous, first.next?.value]).toEqual([undefined, undefined, 'c'])
})
