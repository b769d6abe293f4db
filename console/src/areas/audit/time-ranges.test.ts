/** Named time ranges of the audit search. */
import { expect, test } from 'vitest'
import { toRangeQuery } from './time-ranges.ts'

const now = new Date('2026-03-10T12:34:56.789Z')

test('a named range counts from now, to the minute', () => {
  expect(toRangeQuery('hour', now)).toEqual({ from_at: '2026-03-10T11:34:00.000Z' })
  expect(toRangeQuery('week', now)).toEqual({ from_at: '2026-03-03T12:34:00.000Z' })
  const { from_at = '' } = toRangeQuery('today', now)
  expect(new Date(from_at).getHours()).toBe(0)
})

test('no range and an unknown one restrict nothing', () => {
  expect(toRangeQuery(undefined, now)).toEqual({})
  expect(toRangeQuery('custom', now)).toEqual({})
})
