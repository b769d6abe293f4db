/** Days as text, in UTC. */

const DAY_MS = 86_400_000

export const toDay = (time_ms: number): string => new Date(time_ms).toISOString().slice(0, 10)
export const toTime_ms = (day: string): number => Date.parse(`${day}T00:00:00Z`)
export const addDays = (day: string, days: number): string => toDay(toTime_ms(day) + days * DAY_MS)
/** Of a period, both ends included. */
export const countDays = (first: string, last: string): number => (toTime_ms(last) - toTime_ms(first)) / DAY_MS + 1
