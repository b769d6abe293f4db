/** Dates of OFAC's advanced XML, which are periods, written as OFAC's other files write them. */
import { getChild, getChildText, type XmlElement } from '../formats/xml.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

interface Day {
  readonly year: number
  readonly month: number
  readonly day: number
}

/** A date that may lack its day and month; the missing part is that of the earliest or latest day it can be. */
function toDay(element: XmlElement | undefined, is_last: boolean): Day | undefined {
  const year = Number(element && getChildText(element, 'Year'))
  if (!element || !Number.isInteger(year) || year < 1) return undefined
  const month = Number(getChildText(element, 'Month') ?? (is_last ? 12 : 1))
  const last_day = new Date(Date.UTC(year, month, 0)).getUTCDate()
  return { year, month, day: Number(getChildText(element, 'Day') ?? (is_last ? last_day : 1)) }
}

const isSame = (a: Day, b: Day) => a.year === b.year && a.month === b.month && a.day === b.day
const formatDay = ({ year, month, day }: Day) => `${String(day).padStart(2, '0')} ${MONTHS[month - 1]} ${year}`

/** `1962`, `May 1962`, `05 May 1962`, `1960 to 1964`, with `circa` before it when it is approximate. */
export function formatPeriod(period: XmlElement): string | undefined {
  const [start, end] = [getChild(period, 'Start'), getChild(period, 'End')]
  const from = toDay(start && (getChild(start, 'From') ?? getChild(start, 'To')), false)
  const to = toDay(end && (getChild(end, 'To') ?? getChild(end, 'From')), true) ?? from
  if (from === undefined || to === undefined) return undefined
  const is_circa = [start, end].some((bound) => bound?.attributes['Approximate'] === 'true')
  return `${is_circa ? 'circa ' : ''}${formatRange(from, to)}`
}

function formatRange(from: Day, to: Day): string {
  if (isSame(from, to)) return formatDay(from)
  const last_day = new Date(Date.UTC(to.year, to.month, 0)).getUTCDate()
  const whole_months = from.day === 1 && to.day === last_day
  if (whole_months && from.month === 1 && to.month === 12) {
    return from.year === to.year ? String(from.year) : `${from.year} to ${to.year}`
  }
  if (whole_months && from.year === to.year && from.month === to.month) return `${MONTHS[from.month - 1]} ${from.year}`
  return `${formatDay(from)} to ${formatDay(to)}`
}

/** The day of a `Date` element as ISO 8601, when it is a whole one. */
export function formatIsoDay(element: XmlElement | undefined): string | undefined {
  const day =
    element && getChildText(element, 'Day') && getChildText(element, 'Month') ? toDay(element, false) : undefined
  if (day === undefined) return undefined
  const padTwo = (value: number) => String(value).padStart(2, '0')
  return `${String(day.year).padStart(4, '0')}-${padTwo(day.month)}-${padTwo(day.day)}`
}
