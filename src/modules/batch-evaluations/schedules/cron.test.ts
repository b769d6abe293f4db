/** Due times of cron expressions, also across clock changes. */
import { describe, expect, test } from 'vitest'
import { type Cron, createZoneClock, findNextTime, parseCron } from './cron.ts'

/** The next due times after an instant. */
function due(text: string, time_zone: string, after: string, count = 1): string[] {
  const cron = parseCron(text) as Cron
  expect(cron).toBeTypeOf('object')
  const times: string[] = []
  let after_ms = Date.parse(after)
  for (let i = 0; i < count; i++) {
    after_ms = findNextTime(cron, createZoneClock(time_zone), after_ms) as number
    times.push(new Date(after_ms).toISOString().replace(':00.000Z', 'Z'))
  }
  return times
}

describe('an expression is due', () => {
  test.each<[string, string, string[]]>([
    ['0 6 * * *', 'a day later when it is due this very moment', ['2026-11-16T06:00Z', '2026-11-17T06:00Z']],
    ['30 6 * * *', 'later the same day', ['2026-11-15T06:30Z', '2026-11-16T06:30Z']],
    ['0 6 * * 1-5', 'on working days', ['2026-11-16T06:00Z', '2026-11-17T06:00Z']],
    ['0 6 * * SUN', 'on days by their name', ['2026-11-22T06:00Z', '2026-11-29T06:00Z']],
    ['0 6 * * 7', 'on Sunday, also called 7', ['2026-11-22T06:00Z', '2026-11-29T06:00Z']],
    ['0 0 1 jan,jul *', 'in months by their name', ['2027-01-01T00:00Z', '2027-07-01T00:00Z']],
    ['0 0 L * *', 'on the last of the month', ['2026-11-30T00:00Z', '2026-12-31T00:00Z']],
    ['0 0 15,L 2 *', 'on several days', ['2027-02-15T00:00Z', '2027-02-28T00:00Z']],
    ['0 0 13 * 5', 'on either where both are restricted', ['2026-11-20T00:00Z', '2026-11-27T00:00Z']],
    ['0 0 */10 * *', 'at steps', ['2026-11-21T00:00Z', '2026-12-01T00:00Z']],
    ['0 8-18/5 * * *', 'at steps of a range', ['2026-11-15T08:00Z', '2026-11-15T13:00Z']],
    ['*/15 * * * *', 'four times an hour', ['2026-11-15T06:15Z', '2026-11-15T06:30Z']],
    ['0 0 29 2 *', 'in leap years', ['2028-02-29T00:00Z', '2032-02-29T00:00Z']],
  ])('%s: %s', (text, _title, times) => {
    expect(due(text, 'UTC', '2026-11-15T06:00:00Z', times.length)).toEqual(times)
  })

  test('at the local time of its zone', () => {
    expect(due('0 6 * * *', 'America/New_York', '2026-11-15T06:00:00Z')).toEqual(['2026-11-15T11:00Z'])
    expect(due('0 6 * * *', 'Asia/Kolkata', '2026-11-15T06:00:00Z')).toEqual(['2026-11-16T00:30Z'])
    expect(due('0 6 * * *', 'Pacific/Kiritimati', '2026-11-15T06:00:00Z')).toEqual(['2026-11-15T16:00Z'])
  })

  test('at the same local time, summer and winter', () => {
    expect(due('0 6 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', 2)).toEqual([
      '2026-03-28T05:00Z',
      '2026-03-29T04:00Z',
    ])
  })

  test('once at the end of the gap where its time is skipped', () => {
    const times = due('0,30 2,3 * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', 3)
    expect(times).toEqual(['2026-03-29T01:00Z', '2026-03-29T01:30Z', '2026-03-30T00:00Z'])
    expect(due('30 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 1)).toEqual(['2026-10-03T15:30Z'])
  })

  test('once where its time occurs twice', () => {
    const times = due('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)
    expect(times).toEqual(['2026-10-25T00:30Z', '2026-10-26T01:30Z'])
  })

  test('never when the day does not exist', () => {
    expect(
      findNextTime(parseCron('0 0 31 2 *') as Cron, createZoneClock('UTC'), Date.parse('2026-11-15T00:00:00Z')),
    ).toBeNull()
  })
})

describe('an invalid expression', () => {
  test.each([
    ['', 'five fields'],
    ['0 6 * *', 'five fields'],
    ['@daily', 'five fields'],
    ['60 6 * * *', 'minute'],
    ['0 24 * * *', 'hour'],
    ['0 6 0 * *', 'day of the month'],
    ['0 6 * 13 *', 'month'],
    ['0 6 * * 8', 'day of the week'],
    ['0 6 * * lun', 'day of the week'],
    ['0 6 * * 5-1', 'day of the week'],
    ['0 6 * * 1,', 'day of the week'],
    ['0 6-8/0 * * *', 'hour'],
    ['5/15 * * * *', 'minute'],
    ['-1 * * * *', 'minute'],
    ['1e1 * * * *', 'minute'],
    ['* * * * *', '4 times an hour'],
  ])('%s', (text, said) => {
    expect(parseCron(text)).toContain(said)
  })

  test('an unknown zone', () => {
    expect(() => createZoneClock('Europe/Atlantis')).toThrow(RangeError)
  })
})
