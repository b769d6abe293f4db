import { expect, test } from 'vitest'
import { attribute } from './attribution.ts'

const over = (names: readonly string[], decide: (has: (name: string) => boolean) => unknown) =>
  attribute({ names, decide: (switched) => decide((name) => switched.has(name)) })

test('one thing that explains everything is named, the others are without effect', () => {
  const found = over(['list', 'matrix'], (has) => ({ band: has('list') ? 'high' : 'low' }))
  expect(found).toEqual({
    before: { band: 'low' },
    after: { band: 'high' },
    changed: true,
    alone: [{ name: 'list', outcome: { band: 'high' }, whole: true }],
    joint: [],
    without_effect: ['matrix'],
    untried: [],
  })
})

test('two things that only matter together are joint', () => {
  const found = over(['a', 'b', 'c'], (has) => (has('a') && has('c') ? 'high' : 'low'))
  expect(found).toMatchObject({ changed: true, alone: [], joint: ['a', 'c'], without_effect: ['b'] })
})

test('of two that each suffice, both are named and none is joint', () => {
  const found = over(['a', 'b'], (has) => (has('a') || has('b') ? 'high' : 'low'))
  expect(found.alone.map(({ name, whole }) => [name, whole])).toEqual([
    ['a', true],
    ['b', true],
  ])
  expect(found.joint).toEqual([])
})

test('one with a part of the effect leaves the rest to what it needs', () => {
  const found = over(['a', 'b', 'c'], (has) => (has('a') ? (has('b') ? 'high' : 'medium') : 'low'))
  expect(found.alone).toEqual([{ name: 'a', outcome: 'medium', whole: false }])
  expect(found).toMatchObject({ joint: ['b'], without_effect: ['c'] })
})

test('effects that cancel out are told although nothing changed', () => {
  const found = over(['a', 'b'], (has) => has('a') !== has('b'))
  expect(found).toMatchObject({ changed: false, joint: [], without_effect: [] })
  expect(found.alone.map(({ name }) => name)).toEqual(['a', 'b'])
})

test('nothing to switch', () => {
  expect(over([], () => 'low')).toMatchObject({ changed: false, alone: [], joint: [], without_effect: [] })
})

test('members in another order are the same outcome', () => {
  const found = over(['a'], (has) => (has('a') ? { x: 1, y: 2 } : { y: 2, x: 1 }))
  expect(found).toMatchObject({ changed: false, without_effect: ['a'] })
})

test('it decides at most twice per name and twice more', () => {
  let decisions = 0
  over(['a', 'b', 'c', 'd'], (has) => {
    decisions += 1
    return has('a') && has('d')
  })
  expect(decisions).toBeLessThanOrEqual(10)
})

test('what there was no time for is untried, and said of nothing else', () => {
  const within = (tries: number, decide: (has: (name: string) => boolean) => unknown) => {
    let left = tries
    const isOver = () => left-- <= 0
    return attribute({ names: ['a', 'b', 'c'], isOver, decide: (switched) => decide((name) => switched.has(name)) })
  }
  const both = (has: (name: string) => boolean) => has('a') && has('b')
  expect(within(0, both)).toMatchObject({ changed: true, alone: [], joint: [], untried: ['a', 'b', 'c'] })
  // Each was tried alone, but not what they do together.
  expect(within(5, both)).toMatchObject({ alone: [], joint: [], without_effect: [], untried: ['a', 'b', 'c'] })
  expect(within(6, both)).toMatchObject({ joint: ['a', 'b'], without_effect: ['c'], untried: [] })
  // One that explains everything leaves nothing to be found out about those that were tried.
  expect(within(2, (has) => has('a'))).toMatchObject({
    alone: [{ name: 'a', whole: true }],
    without_effect: ['b'],
    untried: ['c'],
  })
})
