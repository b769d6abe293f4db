/** Counts hours and days by a business calendar. Pure: no database, no current time. */
import { BoundedMap } from '#kernel/bounded-map.ts'

export interface Calendar {
  readonly calendar: string
  readonly time_zone: string
  /** ISO numbers: 1 is Monday, 7 is Sunday. */
  readonly weekend_days: readonly number[]
  readonly holidays: readonly { readonly on: string }[]
  /** Last day whose holidays are known. */
  readonly covers_until: string
}

/** Hours run through nights and holidays. Days begin to count on the day after the start and end with the last second of a day. */
export type Duration =
  | { readonly hours: number }
  | { readonly days: number; readonly day_kind: 'calendar' | 'business' }

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** More than the days of any duration together with the holidays among them. */
const MAX_STEPS = 20_000

/** Days since 1970-01-01 of the calendar date, whatever the time zone. */
type DayNumber = number

export const parseDay = (date: string): DayNumber => Date.parse(`${date}T00:00:00Z`) / DAY_MS
export const formatDay = (day: DayNumber): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** Tenants write the names, in any case: there are more spellings than zones. */
const formatters = new BoundedMap<string, Intl.DateTimeFormat>(1000)
function getFormatter(time_zone: string): Intl.DateTimeFormat {
  const known = formatters.get(time_zone)
  if (known) return known
  const created = new Intl.DateTimeFormat('en-CA', {
    timeZone: time_zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  formatters.set(time_zone, created)
  return created
}

export function isTimeZone(name: string): boolean {
  try {
    return getFormatter(name) !== undefined
  } catch {
    return false
  }
}

/** The local date at that instant. */
export const findLocalDay = (instant_ms: number, time_zone: string): DayNumber =>
  parseDay(getFormatter(time_zone).format(instant_ms))

/** The first instant of a date: midnight, or later where the clock jumps over it. Searched for, since offsets change within a day. */
export function findDayStart_ms(day: DayNumber, time_zone: string): number {
  let before_s = (day * DAY_MS) / 1000 - 15 * 3600
  let from_s = (day * DAY_MS) / 1000 + 15 * 3600
  while (from_s - before_s > 1) {
    const middle_s = Math.floor((before_s + from_s) / 2)
    if (findLocalDay(middle_s * 1000, time_zone) >= day) from_s = middle_s
    else before_s = middle_s
  }
  return from_s * 1000
}

const findDayEnd_ms = (day: DayNumber, time_zone: string): number => findDayStart_ms(day + 1, time_zone) - 1000

export interface DayCounter {
  isCounted(day: DayNumber): boolean
}

function createDayCounter({ weekend_days, holidays }: Calendar, day_kind: 'calendar' | 'business'): DayCounter {
  if (day_kind === 'calendar') return { isCounted: () => true }
  const closed = new Set(holidays.map(({ on }) => parseDay(on)))
  // 1970-01-01 was a Thursday, day 4 of its week.
  return { isCounted: (day) => !weekend_days.includes(((day + 3) % 7) + 1) && !closed.has(day) }
}

/** The day on which the given number of counted days after `day` has passed; never a day that is not counted. */
function addDays(day: DayNumber, count: number, counter: DayCounter): DayNumber {
  let at = day
  let left = count
  for (let step = 0; step < MAX_STEPS; step++) {
    if (left === 0 && counter.isCounted(at)) return at
    at++
    if (left > 0 && counter.isCounted(at)) left--
  }
  throw new Error('the calendar has no business days')
}

function countDays(after: DayNumber, until: DayNumber, counter: DayCounter): number {
  let count = 0
  for (let day = after + 1; day <= until; day++) if (counter.isCounted(day)) count++
  return count
}

export function computeDue(started_at: Date, duration: Duration, calendar: Calendar): Date {
  if ('hours' in duration) return new Date(started_at.getTime() + duration.hours * HOUR_MS)
  const { time_zone } = calendar
  const first = findLocalDay(started_at.getTime(), time_zone)
  const last = addDays(first, duration.days, createDayCounter(calendar, duration.day_kind))
  return new Date(findDayEnd_ms(last, time_zone))
}

/**
 * When a paused clock is due after it resumes. Hours: later by the length of the pause. Days: as many counted days are left on the day it
 * resumes as were left on the day it was paused.
 */
export function computeResumedDue(
  clock: { readonly due_at: Date; readonly paused_at: Date; readonly duration: Duration },
  resumed_at: Date,
  calendar: Calendar,
): Date {
  const { due_at, paused_at, duration } = clock
  if ('hours' in duration) return new Date(due_at.getTime() + resumed_at.getTime() - paused_at.getTime())
  const { time_zone } = calendar
  const counter = createDayCounter(calendar, duration.day_kind)
  const toDay = (at: Date) => findLocalDay(at.getTime(), time_zone)
  const left = countDays(toDay(paused_at), toDay(due_at), counter)
  const moved_ms = findDayEnd_ms(addDays(toDay(resumed_at), left, counter), time_zone)
  // Resuming never shortens the time: the calendar may have gained a holiday, or lost one, in between.
  return new Date(Math.max(due_at.getTime(), moved_ms))
}
