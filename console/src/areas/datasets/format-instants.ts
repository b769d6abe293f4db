/** Instants along a line: a day is enough until two of them fall on one, which then have their time of day as well. */

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** How each of these instants is written beside the others. */
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
