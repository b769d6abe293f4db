/** Due times: daylight saving, year boundaries and holidays, compared with a count of one day after the other. */
import { describe, expect, test } from 'vitest'
import { SeededRandom } from '#test/support/seeded-random.ts'
import { type Calendar, computeDue, computeResumedDue, type Duration, findDayStart_ms, parseDay } from './calendar.ts'

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Africa/Cairo',
  'Asia/Kolkata',
  'Pacific/Auckland',
  'Pacific/Apia',
]
const make = (change: Partial<Calendar> = {}): Calendar => ({
  calendar: 'test',
  time_zone: 'Europe/Berlin',
  weekend_days: [6, 7],
  holidays: ['2026-12-25', '2027-01-01', '2026-11-18'].map((on) => ({ on })),
  covers_until: '2028-12-31',
  ...change,
})
const due = (started_at: string, duration: Duration, calendar = make()): string =>
  computeDue(new Date(started_at), duration, calendar).toISOString()
const business = (days: number) => ({ days, day_kind: 'business' }) as const
const plain = (days: number) => ({ days, day_kind: 'calendar' }) as const

/** Local date and time, read from the formatter of the platform and nothing else. */
const formatLocal = (at: Date, timeZone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(at)
const dayOf = (at: Date, timeZone: string): string => formatLocal(at, timeZone).slice(0, 10)
const nextDay = (day: string): string =>
  new Date(Date.parse(`${day}T12:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
const isBusinessDay = (day: string, { weekend_days, holidays }: Calendar): boolean =>
  !weekend_days.includes(new Date(`${day}T12:00:00Z`).getUTCDay() || 7) && !holidays.some(({ on }) => on === day)

describe('a duration', () => {
  test('in days begins with the day after the start and ends with the last second of a day', () => {
    expect(due('2026-11-16T08:00:00Z', plain(1))).toBe('2026-11-17T22:59:59.000Z')
    // 00:30 on the 17th in Berlin.
    expect(due('2026-11-16T23:30:00Z', plain(1))).toBe('2026-11-18T22:59:59.000Z')
    expect(due('2026-11-16T08:00:00Z', plain(0))).toBe('2026-11-16T22:59:59.000Z')
  })

  test('in business days leaves out weekends and holidays, also across the year', () => {
    expect(due('2026-11-16T08:00:00Z', business(2))).toBe('2026-11-19T22:59:59.000Z')
    expect(due('2026-11-20T08:00:00Z', business(1))).toBe('2026-11-23T22:59:59.000Z')
    expect(due('2026-12-24T08:00:00Z', business(5))).toBe('2027-01-04T22:59:59.000Z')
    // Saturday: the first business day ends on Monday; zero days do too.
    expect(due('2026-11-21T08:00:00Z', business(1))).toBe('2026-11-23T22:59:59.000Z')
    expect(due('2026-11-21T08:00:00Z', business(0))).toBe('2026-11-23T22:59:59.000Z')
  })

  test('in hours runs through daylight saving, nights and holidays', () => {
    expect(due('2026-03-28T12:00:00Z', { hours: 24 })).toBe('2026-03-29T12:00:00.000Z')
    expect(due('2026-12-24T23:00:00Z', { hours: 8 })).toBe('2026-12-25T07:00:00.000Z')
  })

  test('in days ends at local midnight when the clocks change', () => {
    expect(due('2026-03-28T12:00:00Z', plain(1))).toBe('2026-03-29T21:59:59.000Z')
    expect(due('2026-10-24T12:00:00Z', plain(1))).toBe('2026-10-25T22:59:59.000Z')
    // In Cairo the clock jumps from midnight to one: the day begins at one.
    const cairo = make({ time_zone: 'Africa/Cairo' })
    expect(formatLocal(new Date(findDayStart_ms(parseDay('2026-04-24'), 'Africa/Cairo')), 'Africa/Cairo')).toBe(
      '2026-04-24 01:00:00',
    )
    expect(formatLocal(new Date(due('2026-04-22T12:00:00Z', plain(1), cairo)), 'Africa/Cairo')).toBe(
      '2026-04-23 23:59:59',
    )
  })

  test('with a calendar that has no business day is refused', () => {
    const never = make({ weekend_days: [1, 2, 3, 4, 5, 6, 7] })
    expect(() => due('2026-11-16T08:00:00Z', business(1), never)).toThrow('no business days')
  })
})

describe('compared with a count of one day after the other', () => {
  const random = new SeededRandom(49).share
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const cases = Array.from({ length: 150 }, () => {
    const holidays = Array.from({ length: 30 }, () => {
      const on = new Date(Date.UTC(2026, 9, 1) + Math.floor(random() * 240) * 86_400_000).toISOString().slice(0, 10)
      return { on }
    })
    const calendar = make({ time_zone: pick(zones), weekend_days: pick([[6, 7], [5, 6], [7], []]), holidays })
    const started_at = new Date(Date.UTC(2026, 9, 1) + Math.floor(random() * 180 * 86_400) * 1000)
    const day_kind = pick(['calendar', 'business'] as const)
    return { calendar, started_at, duration: { days: Math.floor(random() * 40), day_kind } }
  })
  const countBetween = (after: string, until: string, calendar: Calendar, day_kind: string): number => {
    let count = 0
    for (let day = after; day < until; ) {
      day = nextDay(day)
      if (day_kind === 'calendar' || isBusinessDay(day, calendar)) count++
    }
    return count
  }

  test('the due time is the last second of the day on which that many days have passed', () => {
    for (const { calendar, started_at, duration } of cases) {
      const { time_zone } = calendar
      const at = computeDue(started_at, duration, calendar)
      const [day, after] = [dayOf(at, time_zone), dayOf(new Date(at.getTime() + 1000), time_zone)]
      expect(after).toBe(nextDay(day))
      const isCounted = (one: string) => duration.day_kind === 'calendar' || isBusinessDay(one, calendar)
      expect(isCounted(day)).toBe(true)
      const counted = countBetween(dayOf(started_at, time_zone), day, calendar, duration.day_kind)
      // Without days to count, the first business day is the last.
      const moved = duration.days === 0 && !isCounted(dayOf(started_at, time_zone)) ? 1 : duration.days
      expect(counted).toBe(moved)
    }
  })

  test('a pause leaves as many days as there were, and never fewer hours', () => {
    for (const { calendar, started_at, duration } of cases) {
      const { time_zone } = calendar
      const due_at = computeDue(started_at, duration, calendar)
      const left_ms = due_at.getTime() - started_at.getTime()
      const paused_at = new Date(started_at.getTime() + Math.floor(random() * left_ms))
      const resumed_at = new Date(paused_at.getTime() + Math.floor(random() * 20 * 86_400) * 1000)
      const moved = computeResumedDue({ due_at, paused_at, duration }, resumed_at, calendar)
      const left = countBetween(dayOf(paused_at, time_zone), dayOf(due_at, time_zone), calendar, duration.day_kind)
      const isCounted = (one: string) => duration.day_kind === 'calendar' || isBusinessDay(one, calendar)
      const resumed = countBetween(dayOf(resumed_at, time_zone), dayOf(moved, time_zone), calendar, duration.day_kind)
      const expected = left === 0 && !isCounted(dayOf(resumed_at, time_zone)) ? 1 : left
      expect(resumed).toBe(expected)
      expect(moved.getTime()).toBeGreaterThanOrEqual(due_at.getTime())
      const hours = computeResumedDue({ due_at, paused_at, duration: { hours: 1 } }, resumed_at, calendar)
      expect(hours.getTime() - due_at.getTime()).toBe(resumed_at.getTime() - paused_at.getTime())
    }
  })
})
