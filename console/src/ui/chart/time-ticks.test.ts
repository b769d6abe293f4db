/** Ticks of a time axis. */
import { expect, test } from 'vitest'
import { getTimeTicks } from './time-ticks.ts'

const labels = (from: string, until: string, most?: number) =>
  getTimeTicks(Date.parse(from), Date.parse(until), most).map(({ label }) => label)

test('a year has ticks at the beginning of quarters', () => {
  expect(labels('2025-11-17T00:00:00Z', '2026-11-17T00:00:00Z')).toEqual([
    'Jan 2026',
    'Apr 2026',
    'Jul 2026',
    'Oct 2026',
  ])
})

test('a week has ticks of days, an hour has ticks of minutes', () => {
  expect(labels('2026-03-01T12:00:00Z', '2026-03-05T12:00:00Z')).toEqual(['2 Mar', '3 Mar', '4 Mar', '5 Mar'])
  expect(labels('2026-03-01T12:05:00Z', '2026-03-01T12:45:00Z')).toEqual(['12:10', '12:20', '12:30', '12:40'])
})

test('never has more ticks than asked for, whatever the span', () => {
  for (const days of [0, 1, 3, 10, 45, 100, 400, 2000, 9000]) {
    const last_ms = Date.UTC(2026, 0, 1)
    expect(getTimeTicks(last_ms - days * 86_400_000, last_ms, 6).length).toBeLessThanOrEqual(7)
  }
})
