import { expect, test } from 'vitest'
import { cronOf, rhythmNames, rhythms, skippedWords, timesInWords } from './schedule-words.ts'

test('what is chosen comes back in the same words', () => {
  for (const rhythm of rhythms) {
    if (rhythm === 'other') continue
    expect(timesInWords(cronOf(rhythm, '06:05'))).toBe(`${rhythmNames[rhythm]} at 06:05`)
  }
  expect(cronOf('last-of-month', '22:30')).toBe('30 22 L * *')
})

test('other expressions are shown as they stand', () => {
  for (const cron of ['*/15 * * * *', '0 6 13 * 5', '0 6 * * MON-FRI', 'nonsense'])
    expect(timesInWords(cron)).toBe(cron)
})

test('a reason nobody wrote words for is still read', () => {
  expect(skippedWords('previous_running')).toBe('the batch before was still running')
  expect(skippedWords('content_corrupt')).toBe('content corrupt')
})
