/**
 * Converts dates and decimals to integers and back by plain arithmetic, independent of time zone, locale and floating point.
 */

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DECIMAL = /^(-?)(0|[1-9]\d{0,15})(?:\.(\d{1,15}))?$/
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

/** Days since 1970-01-01 of an ISO date of the years 1 to 9999; undefined for any other text. */
export function parseDate(text: string): number | undefined {
  const parts = DATE.exec(text)
  if (!parts) return undefined
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  const last = month === 2 && isLeap(year) ? 29 : (MONTH_DAYS[month - 1] ?? 0)
  if (year < 1 || day < 1 || day > last) return undefined
  // Years start in March, so that the leap day is the last day.
  const y = month > 2 ? year : year - 1
  const m = month > 2 ? month - 3 : month + 9
  const leaps = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)
  return 365 * y + leaps + Math.floor((153 * m + 2) / 5) + day - 1 - DAYS_TO_1970
}

/** From the first of March of the year 0 to 1970-01-01. */
const DAYS_TO_1970 = 719_468

export function formatDate(days: number): string {
  const since = days + DAYS_TO_1970
  const era = Math.floor(since / 146_097)
  const inEra = since - era * 146_097
  const yearOfEra = Math.floor(
    (inEra - Math.floor(inEra / 1460) + Math.floor(inEra / 36_524) - Math.floor(inEra / 146_096)) / 365,
  )
  const dayOfYear = inEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const m = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * m + 2) / 5) + 1
  const month = m < 10 ? m + 3 : m - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

/** Parses a decimal, scaled by ten to the power of `scale`; undefined when the result is not a safe integer. */
export function parseScaled(text: string, scale: number): number | undefined {
  const parts = DECIMAL.exec(text)
  if (!parts) return undefined
  const digits = parts[3] ?? ''
  if (digits.length > scale) return undefined
  const scaled = Number(`${parts[2]}${digits.padEnd(scale, '0')}`)
  if (!Number.isSafeInteger(scaled)) return undefined
  // Avoids -0.
  return parts[1] === '-' && scaled !== 0 ? -scaled : scaled
}

/** With exactly `scale` digits after the point. */
export function formatScaled(value: number, scale: number): string {
  if (scale === 0) return String(value)
  const digits = String(Math.abs(value)).padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${value < 0 ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`
}
