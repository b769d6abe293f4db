/** The colour of a clock. */
import { expect, test } from 'vitest'
import { getClockColor } from './clock-state.ts'

const clock = { state: 'running', started_at: '2026-01-01T00:00:00Z', due_at: '2026-01-01T04:00:00Z' } as const
const at = (time: string) => Date.parse(`2026-01-01T${time}Z`)

test.each([
  ['00:00:00', 'green'],
  ['03:00:00', 'green'],
  ['03:00:01', 'amber'],
  ['03:59:59', 'amber'],
  ['04:00:00', 'red'],
])('at %s a running clock is %s', (time, color) => {
  expect(getClockColor(clock, at(time))).toBe(color)
})

test('a missed clock is red and a paused one is neither', () => {
  expect(getClockColor({ ...clock, state: 'missed' }, at('00:00:00'))).toBe('red')
  expect(getClockColor({ ...clock, state: 'paused' }, at('05:00:00'))).toBe('paused')
})
