/** Relative times, and the one style of dates. */
import { expect, test } from 'vitest'
import { formatDateTime, formatDay, formatExactTime } from './date-format.ts'
import { formatAgo, formatElapsed } from './date-time.tsx'

const DAY_MS = 86_400_000

test('are in days up to 100 days, then in months', () => {
  expect(formatAgo(new Date(90 * DAY_MS), 0)).toBe('in 90 days')
  expect(formatAgo(new Date(0), 45 * DAY_MS)).toBe('45 days ago')
  expect(formatAgo(new Date(0), 120 * DAY_MS)).toBe('4 months ago')
  expect(formatAgo(new Date(0), 800 * DAY_MS)).toBe('2 years ago')
})

test('a time that has lasted is a number of days, hours or minutes', () => {
  const lasted = [80 * DAY_MS, DAY_MS, 3 * 3_600_000, 60_000, 5000].map((ms) => formatElapsed(new Date(0), ms))
  expect(lasted).toEqual(['80 days', '1 day', '3 hours', '1 minute', 'less than a minute'])
})

test('dates have one style, with seconds only where they are asked for', () => {
  const at = new Date(2026, 10, 18, 5, 55, 40)
  expect([formatDay(at), formatDateTime(at), formatExactTime(at)]).toEqual([
    '18 Nov 2026',
    '18 Nov 2026, 05:55',
    '18 Nov 2026, 05:55:40',
  ])
})
