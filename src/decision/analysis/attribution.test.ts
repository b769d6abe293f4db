import { expect, test } from 'vitest'
import { attribute } from './attribution.ts'

const over = (names: readonly string[], decide: (has: (name: string) => boolean) => unknown) =>
  attribute({ names, decide: (switched) => decide((name) => switched.has(name)) })

test('names the one that explains everything, and no effect of the others', () => {
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

test('reports two that have an effect only together as joint', () => {
  const found = over(['a', 'b', 'c'], (has) => (has('a') && has('c') ? 'high' : 'low'))
  expect(found).toMatchObject({ changed: true, alone: [], joint: ['a', 'c'], without_effect: ['b'] })
})

test('names both of two that suffice alone', () => {
  const found = over(['a', 'b'], (has) => (has('a') || has('b') ? 'high' : 'low'))
  expect(found.alone.map(({ name, whole }) => [name, whole])).toEqual([
    ['a', true],
    ['b', true],
  ])
  expect(found.joint).toEqual([])
})

test('reports a partial effect and what else is needed', () => {
  const found = over(['a', 'b', 'c'], (has) => (has('a') ? (has('b') ? 'high' : 'medium') : 'low'))
  expect(found.alone).toEqual([{ name: 'a', outcome: 'medium', whole: false }])
  expect(found).toMatchObject({ joint: ['b'], without_effect: ['c'] })
})

test('reports effects that cancel out', () => {
  const found = over(['a', 'b'], (has) => has('a') !== has('b'))
  expect(found).toMatchObject({ changed: false, joint: [], without_effect: [] })
  expect(found.alone.map(({ name }) => name)).toEqual(['a', 'b'])
})

test('returns nothing without differences', () => {
  expect(over([], () => 'low')).toMatchObject({ changed: false, alone: [], joint: [], without_effect: [] })
})

test('ignores the order of members', () => {
  const found = over(['a'], (has) => (has('a') ? { x: 1, y: 2 } : { y: 2, x: 1 }))
  expect(found).toMatchObject({ changed: false, without_effect: ['a'] })
})

test('decides at most twice per name and twice more', () => {
  let decisions = 0
  over(['a', 'b', 'c', 'd'], (has) => {
    decisions += 1
    return has('a') && has('d')
  })
  expect(decisions).toBeLessThanOrEqual(10)
})

test('reports only what there was no time for as untried', () => {
  const within = (tries: number, decide: (has: (name: string) => boolean) => unknown) => {
    let left = tries
    const isOver = () => left-- <= 0
    return attribute({ names: ['a', 'b', 'c'], isOver, decide: (switched) => decide((name) => switched.has(name)) })
  }
  const both = (has: (name: string) => boolean) => has('a') && has('b')
  expect(within(0, both)).toMatchObject({ changed: true, alone: [], joint: [], untried: ['a', 'b', 'c'] })
  // Each was tried alone, but not in combination.
  expect(within(5, both)).toMatchObject({ alone: [], joint: [], without_effect: [], untried: ['a', 'b', 'c'] })
  expect(within(6, both)).toMatchObject({ joint: ['a', 'b'], without_effect: ['c'], untried: [] })
  // When one explains everything, nothing remains to be tried.
  expect(within(2, (has) => has('a'))).toMatchObject({
    alone: [{ name: 'a', whole: true }],
    without_effect: ['b'],
    untried: ['c'],
  })
})
