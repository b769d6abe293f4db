/** Formats a sequence of instants as dates, with the time of day where two fall on the same date. */
import { formatDay, formatExactTime } from '#console/ui/date-format.ts'

/** Returns a formatter for the given instants. */
export function formatInstants(instants: readonly string[]): (at: string) => string {
  const days = new Map<string, Set<number>>()
  for (const at of instants) {
    const date = new Date(at)
    const on = formatDay(date)
    days.set(on, (days.get(on) ?? new Set()).add(date.getTime()))
  }
  return (at) => {
    const date = new Date(at)
    return (days.get(formatDay(date))?.size ?? 0) > 1 ? formatExactTime(date) : formatDay(date)
  }
}
