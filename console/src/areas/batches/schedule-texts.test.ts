import { expect, test } from 'vitest'
import { describeSkip, describeTimes, frequencies, frequencyLabels, toCron } from './schedule-texts.ts'

test('what is chosen comes back in the same words', () => {
  for (const rhythm of frequencies) {
    if (rhythm === 'other') continue
    expect(describeTimes(toCron(rhythm, '06:05'))).toBe(`${frequencyLabels[rhythm]} at 06:05`)
  }
  expect(toCron('last-of-month', '22:30')).toBe('30 22 L * *')
})

test('other expressions are shown as they stand', () => {
  for (const cron of ['*/15 * * * *', '0 6 13 * 5', '0 6 * * MON-FRI', 'nonsense'])
    expect(describeTimes(cron)).toBe(cron)
})

test('a reason nobody wrote words for is still read', () => {
  expect(describeSkip('previous_running')).toBe('the batch before was still running')
  expect(describeSkip('content_corrupt')).toBe('content corrupt')
})
