/** When the time of day is said. */
import { expect, test } from 'vitest'
import { formatInstants } from './format-instants.ts'

// Local times, so that they fall on one day wherever the test runs.
const at = (day: number, hour: number) => new Date(2026, 4, day, hour).toISOString()
const [morning, evening, next] = [at(4, 9), at(4, 21), at(5, 9)]

test('shows the time only for instants on the same day', () => {
  const words = formatInstants([morning, evening, evening, next])
  expect(words(morning)).not.toBe(words(evening))
  expect(words(morning)).toMatch(/\d:\d\d/)
  expect(words(next)).not.toContain(':')
})

test('treats the end of one period and the start of the next as one instant', () => {
  expect(formatInstants([morning, morning, next])(morning)).not.toContain(':')
})
