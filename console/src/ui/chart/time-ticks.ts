/** Ticks of a time axis at the beginnings of hours, days, months or years. */
import { formatChartDay, formatChartMonth, formatChartTime } from '../date-format.ts'

export interface Tick {
  readonly at_ms: number
  readonly label: string
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Smallest first. Months and years are stepped by the calendar, the others by their length. */
const steps: readonly { readonly unit: 'ms' | 'month'; readonly size: number; readonly length_ms: number }[] = [
  { unit: 'ms', size: 60_000, length_ms: 60_000 },
  { unit: 'ms', size: 600_000, length_ms: 600_000 },
  { unit: 'ms', size: HOUR_MS, length_ms: HOUR_MS },
  { unit: 'ms', size: 6 * HOUR_MS, length_ms: 6 * HOUR_MS },
  { unit: 'ms', size: DAY_MS, length_ms: DAY_MS },
  { unit: 'ms', size: 7 * DAY_MS, length_ms: 7 * DAY_MS },
  { unit: 'month', size: 1, length_ms: 30 * DAY_MS },
  { unit: 'month', size: 3, length_ms: 91 * DAY_MS },
  { unit: 'month', size: 6, length_ms: 182 * DAY_MS },
  { unit: 'month', size: 12, length_ms: 365 * DAY_MS },
  { unit: 'month', size: 60, length_ms: 5 * 365 * DAY_MS },
]

const formatTick = (at_ms: number, length_ms: number): string =>
  (length_ms < DAY_MS ? formatChartTime : length_ms < 28 * DAY_MS ? formatChartDay : formatChartMonth)(at_ms)

/** At most `most` ticks between the two instants, in UTC. */
export function getTimeTicks(first_ms: number, last_ms: number, most = 6): Tick[] {
  const span_ms = Math.max(1, last_ms - first_ms)
  const step = steps.find(({ length_ms }) => span_ms / length_ms <= most) ?? steps[steps.length - 1]
  if (!step) return []
  const ticks: Tick[] = []
  const add = (at_ms: number) => {
    if (at_ms >= first_ms && at_ms <= last_ms) ticks.push({ at_ms, label: formatTick(at_ms, step.length_ms) })
  }
  if (step.unit === 'ms') {
    for (let at_ms = Math.ceil(first_ms / step.size) * step.size; at_ms <= last_ms; at_ms += step.size) add(at_ms)
    return ticks
  }
  const first = new Date(first_ms)
  const months = first.getUTCFullYear() * 12 + first.getUTCMonth()
  for (let count = Math.floor(months / step.size) * step.size; ; count += step.size) {
    const at_ms = Date.UTC(Math.floor(count / 12), count % 12, 1)
    if (at_ms > last_ms) return ticks
    add(at_ms)
  }
}
