/** Formats instants and numbers of one report: when it is collected, and never again, since formats of a runtime may change. */
import type { ReportFormat } from '#kernel/report-template.ts'

const NONE = '–'

export function createReportFormat(locale: string, time_zone: string): ReportFormat {
  const instant = new Intl.DateTimeFormat(locale, { timeZone: time_zone, dateStyle: 'medium', timeStyle: 'short' })
  const day = new Intl.DateTimeFormat(locale, { timeZone: time_zone, dateStyle: 'medium' })
  const count = new Intl.NumberFormat(locale)
  const share = new Intl.NumberFormat(locale, { style: 'percent', minimumFractionDigits: 2, maximumFractionDigits: 2 })
  return {
    instant: (timestamp) => (timestamp === null ? NONE : instant.format(new Date(timestamp))),
    day: (timestamp) => (timestamp === null ? NONE : day.format(new Date(timestamp))),
    count: (value) => count.format(value),
    decimal: (value, scale) =>
      new Intl.NumberFormat(locale, { minimumFractionDigits: scale, maximumFractionDigits: 20 }).format(
        value as Intl.StringNumericLiteral,
      ),
    share: (bps) => (bps === null ? NONE : share.format(bps / 10_000)),
  }
}

const isAccepted = (attempt: () => unknown): boolean => {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}

export const isLocale = (locale: string): boolean =>
  isAccepted(() => new Intl.DateTimeFormat(locale)) && Intl.DateTimeFormat.supportedLocalesOf(locale).length > 0
export const isTimeZone = (time_zone: string): boolean =>
  isAccepted(() => new Intl.DateTimeFormat('en', { timeZone: time_zone }))
