/**
 * Parses dates as publishers write them. Formats use YYYY, MM, M, DD, D and MMM. Parts a source leaves out stay out: a year is
 * never turned into the first of January.
 */
import { BoundedMap } from '#kernel/bounded-map.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const tokens: Record<string, { pattern: string; part: 'year' | 'month' | 'name' | 'day' }> = {
  YYYY: { pattern: '(\\d{4})', part: 'year' },
  MMM: { pattern: '([A-Za-z]{3,9})\\.?', part: 'name' },
  MM: { pattern: '(\\d{2})', part: 'month' },
  M: { pattern: '(\\d{1,2})', part: 'month' },
  DD: { pattern: '(\\d{2})', part: 'day' },
  D: { pattern: '(\\d{1,2})', part: 'day' },
}

export const dateFormatPattern = '^(?=.*YYYY)(YYYY|MMM|MM|M|DD|D|[ ./,-])+$'

interface Matcher {
  readonly pattern: RegExp
  /** Which part of a date each group of the pattern is. */
  readonly parts: readonly ('year' | 'month' | 'name' | 'day')[]
}

/** Formats are options of imports, which tenants write. */
const compiled = new BoundedMap<string, Matcher>(1000)

function compileFormat(format: string): Matcher {
  let found = compiled.get(format)
  if (found === undefined) {
    const parts: ('year' | 'month' | 'name' | 'day')[] = []
    const source = format.replace(/YYYY|MMM|MM|M|DD|D|[^A-Z]/g, (token) => {
      const known = tokens[token]
      if (known === undefined) return `\\${token}`
      parts.push(known.part)
      return known.pattern
    })
    found = { pattern: new RegExp(`^${source}$`), parts }
    compiled.set(format, found)
  }
  return found
}

/** `2007-11-14`, or `2007-11` or `2007` when the format has no more parts; undefined when no format gives a real date. */
export function parseDate(text: string, formats: readonly string[]): string | undefined {
  for (const format of formats) {
    const { pattern, parts } = compileFormat(format)
    const groups = pattern.exec(text)
    if (groups === null) continue
    let year = ''
    let month: string | undefined
    let day: string | undefined
    for (let each = 0; each < parts.length; each++) {
      const group = groups[each + 1] as string
      if (parts[each] === 'year') year = group
      else if (parts[each] === 'day') day = group
      else month = parts[each] === 'name' ? parseMonth(group) : group
    }
    const iso = formatIsoDate(year, month, day)
    if (iso !== undefined) return iso
  }
  return undefined
}

function parseMonth(name: string): string {
  return String(MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1)
}

function formatIsoDate(year: string, month: string | undefined, day: string | undefined): string | undefined {
  if (month === undefined) return year
  const m = Number(month)
  if (Number(year) < 1000 || m < 1 || m > 12) return undefined
  if (day === undefined) return `${year}-${month.padStart(2, '0')}`
  const d = Number(day)
  if (d < 1 || d > getDaysInMonth(Number(year), m)) return undefined
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
}

function getDaysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}
