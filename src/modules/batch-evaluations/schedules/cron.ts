/**
 * Evaluates cron expressions of five fields in a time zone, without I/O: the caller passes the time. A local time that a clock
 * change skips is due right after the gap; one that occurs twice is due the first time.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Eight years may pass between two 29 Februaries. */
const HORIZON_DAYS = 3000
/** Due at most four times an hour: a batch decides about a portfolio. */
const MAX_RUNS_PER_HOUR = 4

interface Field {
  readonly name: string
  readonly first: number
  readonly last: number
  /** Names of the numbers, from the first one on. */
  readonly names: readonly string[]
}
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const fields: readonly Field[] = [
  { name: 'minute', first: 0, last: 59, names: [] },
  { name: 'hour', first: 0, last: 23, names: [] },
  { name: 'day of the month', first: 1, last: 31, names: [] },
  { name: 'month', first: 1, last: 12, names: months },
  { name: 'day of the week', first: 0, last: 7, names: weekdays },
]

export interface Cron {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly days: readonly number[]
  readonly lastDay: boolean
  readonly months: readonly number[]
  readonly weekdays: readonly number[]
  /** When both are restricted, either one is enough. */
  readonly daysOrWeekdays: boolean
}

class CronFault extends Error {}

/** The parsed expression, or a sentence that describes its fault. */
export function parseCron(text: string): Cron | string {
  try {
    return parseFields(text)
  } catch (error) {
    if (error instanceof CronFault) return error.message
    throw error
  }
}

function parseFields(text: string): Cron {
  const given = text.trim().toLowerCase().split(/\s+/)
  if (given.length !== fields.length)
    throw new CronFault('Give five fields: minute, hour, day of the month, month, day of the week.')
  const [minute, hour, day, month, weekday] = given as [string, string, string, string, string]
  const parts = day.split(',')
  const lastDay = parts.includes('l')
  const days = parts.filter((part) => part !== 'l').join(',')
  const cron: Cron = {
    minutes: parseField(minute, 0),
    hours: parseField(hour, 1),
    days: days === '' ? [] : parseField(days, 2),
    lastDay,
    months: parseField(month, 3),
    // Sunday is both 0 and 7.
    weekdays: [...new Set(parseField(weekday, 4).map((value) => value % 7))],
    daysOrWeekdays: !day.startsWith('*') && !weekday.startsWith('*'),
  }
  if (cron.minutes.length > MAX_RUNS_PER_HOUR)
    throw new CronFault(`A schedule is due ${MAX_RUNS_PER_HOUR} times an hour at most; name fewer minutes.`)
  return cron
}

function parseField(text: string, index: number): number[] {
  const field = fields[index] as Field
  const values = new Set<number>()
  for (const part of text.split(',')) for (const value of parseRange(part, field)) values.add(value)
  return [...values].sort((a, b) => a - b)
}

function parseRange(part: string, field: Field): number[] {
  const read = /^(?:(\*)|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:\/([0-9]{1,3}))?$/.exec(part)
  const [, any, from, to, step] = read ?? []
  // A step needs a range.
  if (!read || (step !== undefined && any === undefined && to === undefined)) throw toCronFault(part, field)
  const first = any ? field.first : parseNumber(from as string, field)
  const last = any ? field.last : to === undefined ? first : parseNumber(to, field)
  const every = step === undefined ? 1 : Number(step)
  if (first > last || every < 1) throw toCronFault(part, field)
  const values: number[] = []
  for (let value = first; value <= last; value += every) values.push(value)
  return values
}

function parseNumber(text: string, field: Field): number {
  const named = field.names.indexOf(text)
  const value = named >= 0 ? named + field.first : /^[0-9]{1,2}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= field.first && value <= field.last)) throw toCronFault(text, field)
  return value
}

const toCronFault = (text: string, { name, first, last }: Field): CronFault =>
  new CronFault(
    `The ${name} cannot be ${JSON.stringify(text.slice(0, 20))}: give *, numbers from ${first} to ${last}, ranges or steps.`,
  )

/** The local time of an instant, encoded as if it were UTC. */
type ZoneClock = (instant_ms: number) => number

/** Throws when the zone is unknown. */
export function createZoneClock(time_zone: string): ZoneClock {
  const format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    timeZone: time_zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (instant_ms) => {
    const shown: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(instant_ms)) shown[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
}

/** The first due instant after this one, or null when there is none within eight years. */
export function findNextTime(cron: Cron, clocks: ZoneClock, after_ms: number): number | null {
  const today = Math.floor(clocks(after_ms) / DAY_MS) * DAY_MS
  for (let day = today; day <= today + HORIZON_DAYS * DAY_MS; day += DAY_MS) {
    if (!isDueDay(cron, day)) continue
    for (const hour of cron.hours) {
      for (const minute of cron.minutes) {
        const instant = toInstant(clocks, day + hour * HOUR_MS + minute * MINUTE_MS)
        if (instant > after_ms) return instant
      }
    }
  }
  return null
}

function isDueDay({ days, lastDay, months, weekdays, daysOrWeekdays }: Cron, day_ms: number): boolean {
  const date = new Date(day_ms)
  if (!months.includes(date.getUTCMonth() + 1)) return false
  const isLast = new Date(day_ms + DAY_MS).getUTCDate() === 1
  const byDay = days.includes(date.getUTCDate()) || (lastDay && isLast)
  const byWeekday = weekdays.includes(date.getUTCDay())
  return daysOrWeekdays ? byDay || byWeekday : byDay && byWeekday
}

/** The first instant with this local time or, where it is skipped, the end of the gap. */
function toInstant(clocks: ZoneClock, local_ms: number): number {
  // Offsets change at most once in two days, so one of these two applies.
  const ahead = [local_ms - DAY_MS, local_ms + DAY_MS].map((instant) => clocks(instant) - instant)
  for (let shown = local_ms; ; shown += MINUTE_MS) {
    const instants = ahead.map((by_ms) => shown - by_ms).filter((instant) => clocks(instant) === shown)
    if (instants.length > 0) return Math.min(...instants)
  }
}
