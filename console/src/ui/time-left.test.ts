/** The text of a countdown. */
import { expect, test } from 'vitest'
import { formatShortTime, formatTimeLeft } from './time-left.tsx'

const MINUTE_MS = 60_000

test.each([
  [1, 'less than a minute'],
  [MINUTE_MS, '1 min'],
  [59.9 * MINUTE_MS, '59 min'],
  [60 * MINUTE_MS, '1 h 0 min'],
  [192 * MINUTE_MS, '3 h 12 min'],
  [47 * 60 * MINUTE_MS, '47 h 0 min'],
  [72 * 60 * MINUTE_MS, '3 days'],
])('%i ms are %s', (left_ms, text) => {
  expect(formatTimeLeft(left_ms)).toBe(text)
})

test.each([
  [1, '<1 min'],
  [59.9 * MINUTE_MS, '59 min'],
  [117 * MINUTE_MS, '1 h 57 min'],
  [180 * MINUTE_MS, '3 h'],
  [47.5 * 60 * MINUTE_MS, '47 h'],
  [72 * 60 * MINUTE_MS, '3 days'],
])('%i ms are %s in a narrow column', (time_ms, text) => {
  expect(formatShortTime(time_ms)).toBe(text)
})
