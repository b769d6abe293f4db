/** Named time ranges of the audit search. */

const DAY_MS = 86_400_000

export const TIME_RANGES = ['hour', 'today', 'week', 'month', 'year'] as const
type TimeRange = (typeof TIME_RANGES)[number]

const texts: Readonly<Record<TimeRange, string>> = {
  hour: 'Last hour',
  today: 'Today',
  week: 'Last 7 days',
  month: 'Last 30 days',
  year: 'Last 365 days',
}

export const formatRange = (range: TimeRange): string => texts[range]

const lengths_ms: Readonly<Record<Exclude<TimeRange, 'today'>, number>> = {
  hour: 3_600_000,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
  year: 365 * DAY_MS,
}

/** The beginning of a named range, to the minute, so that a repeated search is the same search. */
export function toRangeQuery(range: string | undefined, now: Date): { readonly from_at?: string } {
  const known = TIME_RANGES.find((one) => one === range)
  if (known === undefined) return {}
  if (known === 'today') return { from_at: new Date(now.getFullYear(), now.getMonth(), now.getDate()).toISOString() }
  const from_ms = now.getTime() - lengths_ms[known]
  return { from_at: new Date(from_ms - (from_ms % 60_000)).toISOString() }
}
