import { expect, test } from 'vitest'
import { listDays, toScaleEnd } from './usage-days.ts'

test('lists every day of the range, with days on which nothing was sent', () => {
  const day = { day: '2026-03-01', sent: 5, answered: 3, failed: 1, refused: 0, unknown: 1 }
  expect(listDays({ from: '2026-02-28', to: '2026-03-02', days: [day] })).toEqual([
    { day: '2026-02-28', answered: 0, other: 0 },
    { day: '2026-03-01', answered: 3, other: 2 },
    { day: '2026-03-02', answered: 0, other: 0 },
  ])
})

test('ends the scale at a round number', () => {
  expect([1, 3, 7, 12, 60, 500].map(toScaleEnd)).toEqual([1, 5, 10, 20, 100, 500])
})
