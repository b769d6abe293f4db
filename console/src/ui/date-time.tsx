/** Instants as relative and exact times. */
import { useSyncExternalStore } from 'react'
import { formatDateTime, formatDay, formatExactTime } from './date-format.ts'
import { formatCount } from './format.ts'

/** From which distance a unit is used. Deadlines are set in days, so that 90 days are not called 2 months. */
const steps: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number, from: number][] = [
  ['year', 31_536_000, 31_536_000],
  ['month', 2_592_000, 100 * 86_400],
  ['day', 86_400, 86_400],
  ['hour', 3600, 3600],
  ['minute', 60, 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

export function formatAgo(at: Date, now_ms: number): string {
  const seconds = (at.getTime() - now_ms) / 1000
  for (const [unit, size, from] of steps) {
    if (Math.abs(seconds) >= from) return relative.format(Math.trunc(seconds / size), unit)
  }
  return seconds < 0 ? 'just now' : 'soon'
}

/** How long something has lasted: `80 days`. */
export function formatElapsed(since: Date, now_ms: number): string {
  const seconds = Math.max(0, now_ms - since.getTime()) / 1000
  const [unit = 'minute', size = 60] = steps.find(([, , from]) => seconds >= from) ?? []
  return seconds < size ? 'less than a minute' : formatCount(Math.trunc(seconds / size), unit)
}

/** One timer for all instances, because a long list would need hundreds. */
const TICK_MS = 10_000
const watchers = new Set<() => void>()
let now_ms = Date.now()
let ticking: ReturnType<typeof setInterval> | undefined

function watch(notify: () => void) {
  watchers.add(notify)
  ticking ??= setInterval(() => {
    now_ms = Date.now()
    for (const watcher of watchers) watcher()
  }, TICK_MS)
  return () => {
    watchers.delete(notify)
    if (watchers.size > 0) return
    clearInterval(ticking)
    ticking = undefined
  }
}

/** The current time, updated often enough for relative times in minutes. */
export function useNow(): number {
  useSyncExternalStore(watch, () => now_ms)
  return Date.now()
}

export function RelativeTime({ at, never = 'never' }: { readonly at: string | null; readonly never?: string }) {
  const now = useNow()
  if (at === null) return never
  const date = new Date(at)
  return (
    <time dateTime={at} title={formatExactTime(date)}>
      {formatAgo(date, now)}
    </time>
  )
}

interface DateTimeProps {
  readonly at: string
  /** With seconds, as records do that may follow each other within a minute. */
  readonly isExact?: boolean
}

/** `80 days`, with the exact begin as its title. */
export function ElapsedTime({ since }: { readonly since: string }) {
  const now = useNow()
  return (
    <time dateTime={since} title={formatExactTime(since)}>
      {formatElapsed(new Date(since), now)}
    </time>
  )
}

/** Date and time, with the seconds as its title. */
export function DateTime({ at, isExact = false }: DateTimeProps) {
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {isExact ? formatExactTime(at) : formatDateTime(at)}
    </time>
  )
}

/** The date, with the exact time as its title: for narrow columns. */
export function CalendarDay({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {formatDay(at)}
    </time>
  )
}

export function formatDuration(from: string, until: string): string {
  const total_s = Math.max(0, (Date.parse(until) - Date.parse(from)) / 1000)
  if (total_s < 10) return `${total_s.toFixed(1)} s`
  if (total_s < 120) return `${Math.round(total_s)} s`
  return total_s < 7200 ? `${Math.round(total_s / 60)} min` : `${Math.round(total_s / 3600)} h`
}
