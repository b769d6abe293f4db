import { expect, test } from 'vitest'
import { describeSkip, describeTimes, frequencies, frequencyLabels, parseCron, toCron } from './schedule-texts.ts'

test('converts every frequency to cron and back', () => {
  for (const frequency of frequencies) {
    if (frequency === 'other') continue
    expect(describeTimes(toCron(frequency, '06:05'))).toBe(`${frequencyLabels[frequency]} at 06:05`)
    expect(parseCron(toCron(frequency, '06:05'))).toEqual({ frequency, time: '06:05' })
  }
  expect(toCron('last-of-month', '22:30')).toBe('30 22 L * *')
})

test('returns other expressions unchanged', () => {
  for (const cron of ['*/15 * * * *', '0 6 13 * 5', '0 6 * * MON-FRI', 'nonsense'])
    expect([describeTimes(cron), parseCron(cron).frequency]).toEqual([cron, 'other'])
})

test('falls back to the code of an unknown reason', () => {
  expect(describeSkip('previous_running')).toBe('the previous batch was still running')
  expect(describeSkip('content_corrupt')).toBe('content corrupt')
})
