/** Requests per day as bars of a chart. Pure. */
import type { Schemas } from '@probity/client'

type Usage = Schemas['ProviderUsage']
const DAY_MS = 86_400_000

export interface DayBar {
  readonly day: string
  readonly answered: number
  /** Failed, refused, unknown or still under way. */
  readonly other: number
}

/** Every day of the range, including those without a request. */
export function listDays({ from, to, days }: Pick<Usage, 'from' | 'to' | 'days'>): DayBar[] {
  const found = new Map(days.map((one) => [one.day, one]))
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
  return Array.from({ length: count }, (_, place) => {
    const day = new Date(Date.parse(from) + place * DAY_MS).toISOString().slice(0, 10)
    const { sent = 0, answered = 0 } = found.get(day) ?? {}
    return { day, answered, other: sent - answered }
  })
}

/** The smallest of 1, 2, 5, 10, 20, 50 … that is not below the count, so that the scale has round marks. */
export function toScaleEnd(count: number): number {
  for (let unit = 1; ; unit *= 10) {
    for (const step of [1, 2, 5]) if (step * unit >= count) return step * unit
  }
}
