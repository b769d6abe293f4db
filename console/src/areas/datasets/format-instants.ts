/** Formats a sequence of instants as dates, with the time of day where two fall on the same date. */

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Returns a formatter for the given instants. */
export function formatInstants(instants: readonly string[]): (at: string) => string {
  const days = new Map<string, Set<number>>()
  for (const at of instants) {
    const date = new Date(at)
    const on = day.format(date)
    days.set(on, (days.get(on) ?? new Set()).add(date.getTime()))
  }
  return (at) => {
    const date = new Date(at)
    return (days.get(day.format(date))?.size ?? 0) > 1 ? moment.format(date) : day.format(date)
  }
}
