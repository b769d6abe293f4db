import { expect, test } from 'vitest'
import { bindOrThrow, lists, matrix } from '#test/support/example-matrix.ts'
import { engine1 } from '../engine-1/engine.ts'
import type { Definition, Inputs } from '../model.ts'
import { findBreakPoints } from './break-points.ts'
import { findMinimalChanges } from './minimal-changes.ts'

const compiled = engine1.compile(matrix)
const inputs: Inputs = {
  country: 'DE',
  turnover: '5000.00',
  channel: 'online',
  trades: [],
  since: '2020-01-01',
  pep: false,
}
const bandOf = (changed: Inputs): string => {
  const decision = bindOrThrow(matrix).decide({ ...inputs, ...changed })
  if (!decision.ok || decision.outcome.family !== 'matrix') throw new Error(JSON.stringify(decision))
  return decision.outcome.band
}

test('finds break points at the ends of equal ranges', () => {
  expect(findBreakPoints(compiled, lists, 'turnover')).toEqual(['0.00', '10000.49', '10000.50', '1000000000.00'])
  expect(findBreakPoints(compiled, lists, 'since')).toEqual(['0001-01-01', '2023-12-31', '2024-01-01', '9999-12-31'])
  expect(findBreakPoints(compiled, lists, 'pep')).toEqual([true, false])
  // Germany and Switzerland have equal scores, and no trigger distinguishes them.
  expect(findBreakPoints(compiled, lists, 'country')).toEqual(['CH', 'IR', 'NA'])
  expect(() => findBreakPoints(compiled, lists, 'shoe_size')).toThrow(RangeError)
})

test('finds changes of one input that lead to the stated band', () => {
  const found = findMinimalChanges({ bound: bindOrThrow(matrix), compiled, lists }, inputs)
  expect(bandOf({})).toBe('low')
  expect(found.changes.map(({ changed, result }) => [changed[0]?.name, changed[0]?.to, result])).toEqual([
    ['country', 'IR', 'prohibited'],
    ['pep', true, 'high'],
  ])
  for (const { changed, result } of found.changes) {
    expect(changed).toHaveLength(1)
    expect(bandOf(Object.fromEntries(changed.map(({ name, to }) => [name, to])))).toBe(result)
  }
  expect(found.searched).toMatchObject({ together: 1, truncated: false, not_searched: [] })
  expect(found.searched.decisions).toBe(found.searched.candidates)
})

test('tries pairs when no single input is enough', () => {
  const found = findMinimalChanges({ bound: bindOrThrow(matrix), compiled, lists }, inputs, { band: 'medium' })
  expect(found.searched.together).toBe(2)
  expect(found.changes.length).toBeGreaterThan(0)
  for (const { changed, result } of found.changes) {
    expect(changed).toHaveLength(2)
    expect(result).toBe('medium')
    expect(bandOf(Object.fromEntries(changed.map(({ name, to }) => [name, to])))).toBe('medium')
  }
})

const rule = (test_text: string, maximum = 1000): Definition => ({
  family: 'rule',
  inputs: [
    { name: 'amount', title: 'Amount', type: 'integer', minimum: 0, maximum },
    { name: 'tags', title: 'Tags', type: 'list' },
  ],
  table: {
    hit_policy: 'first',
    columns: ['amount', 'tags'],
    outputs: [],
    rows: [{ key: 'large', when: [test_text, 'not("safe")'], then: [] }],
  },
  reason_code: 'LARGE',
  reason: 'Large.',
})

test('returns the nearest value on either side', () => {
  const tried = (amount: number) => {
    const definition = rule('[100..200]')
    const given = { amount, tags: ['cash'] }
    return findMinimalChanges(
      { bound: bindOrThrow(definition), compiled: engine1.compile(definition), lists: new Map() },
      given,
    ).changes
  }
  expect(tried(50)).toEqual([{ changed: [{ name: 'amount', from: 50, to: 100 }], result: 'hit' }])
  expect(tried(999)).toEqual([{ changed: [{ name: 'amount', from: 999, to: 200 }], result: 'hit' }])
  expect(tried(110)[0]).toEqual({ changed: [{ name: 'amount', from: 110, to: 99 }], result: 'no hit' })
  expect(tried(195)[0]).toEqual({ changed: [{ name: 'amount', from: 195, to: 201 }], result: 'no hit' })
})

test('tries to remove or add one item before it replaces a list', () => {
  const definition = rule('-')
  const given = { amount: 1, tags: ['safe', 'cash'] }
  const found = findMinimalChanges(
    { bound: bindOrThrow(definition), compiled: engine1.compile(definition), lists: new Map() },
    given,
  )
  expect(found.changes).toEqual([
    { changed: [{ name: 'tags', from: ['safe', 'cash'], to: ['safe'] }], result: 'no hit' },
  ])
})

test('reports what was searched when nothing is found, and does not search undecidable inputs', () => {
  const definition = rule('> 5000')
  const compiledRule = engine1.compile(definition)
  const none = findMinimalChanges(
    { bound: bindOrThrow(definition), compiled: compiledRule, lists: new Map() },
    { amount: 1, tags: [] },
  )
  expect(none.changes).toEqual([])
  expect(none.searched).toMatchObject({ inputs: ['amount', 'tags'], together: 2, truncated: false })
  const refused = findMinimalChanges(
    { bound: bindOrThrow(definition), compiled: compiledRule, lists: new Map() },
    { amount: 'x', tags: [] },
  )
  expect(refused).toMatchObject({ changes: [], searched: { together: 0, decisions: 0 } })
})

test('returns partial results when the time is over', () => {
  const whole = findMinimalChanges({ bound: bindOrThrow(matrix), compiled, lists }, inputs)
  let left = 2
  const found = findMinimalChanges({ bound: bindOrThrow(matrix), compiled, lists }, inputs, {
    isOver: () => left-- <= 0,
  })
  expect(found.changes).toEqual(whole.changes.slice(0, 1))
  expect(found.searched).toEqual({ ...whole.searched, decisions: 2, truncated: true })
})
