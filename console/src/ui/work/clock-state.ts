/** How urgent a clock is. Pure. */

export type ClockColor = 'green' | 'amber' | 'red' | 'paused'

interface Clock {
  readonly state: 'running' | 'paused' | 'met' | 'missed'
  readonly started_at: string
  readonly due_at: string
}

const AMBER_SHARE = 0.25

/** Amber while less than a quarter of the time is left, red from the due time on. */
export function getClockColor({ state, started_at, due_at }: Clock, now_ms: number): ClockColor {
  if (state === 'paused') return 'paused'
  const left_ms = Date.parse(due_at) - now_ms
  if (state === 'missed' || left_ms <= 0) return 'red'
  return left_ms < AMBER_SHARE * (Date.parse(due_at) - Date.parse(started_at)) ? 'amber' : 'green'
}
