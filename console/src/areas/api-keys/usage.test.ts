import { expect, test } from 'vitest'
import { sumByDay, sumByOperation } from './usage.ts'

const items = [
  { used_on: '2026-03-01', operation: 'getMe', status: 200, calls: 5 },
  { used_on: '2026-03-01', operation: 'getMe', status: 429, calls: 2 },
  { used_on: '2026-02-27', operation: 'listUsers', status: 403, calls: 9 },
]

test('sums calls by operation, most calls first', () => {
  expect(sumByOperation(items)).toEqual([
    { operation: 'listUsers', calls: 9, refused: 9 },
    { operation: 'getMe', calls: 7, refused: 2 },
  ])
})

test('returns all of the last 31 days across a month boundary', () => {
  const days = sumByDay(items, new Date('2026-03-01T23:30:00Z'))
  expect(days).toHaveLength(31)
  expect(days.at(-1)).toEqual({ day: '2026-03-01', accepted: 5, refused: 2 })
  expect(days.at(-2)).toEqual({ day: '2026-02-28', accepted: 0, refused: 0 })
  expect(days.at(-3)).toEqual({ day: '2026-02-27', accepted: 0, refused: 9 })
})
