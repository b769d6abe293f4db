/** How long something still lasts, counted down on the screen. */
import { formatDateTime } from './date-format.ts'
import { useNow } from './date-time.tsx'

const MINUTE_MS = 60_000
const FEW_HOURS = 12

/** Whole minutes, because the text is refreshed every few seconds: "3 h 12 min", "less than a minute". */
export function formatTimeLeft(left_ms: number): string {
  const minutes = Math.floor(left_ms / MINUTE_MS)
  if (minutes < 1) return 'less than a minute'
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24).toLocaleString('en')} days`
}

/** For narrow columns: "<1 min", "1 h 57 min", "47 h", "3 days". Minutes are left out once they hardly matter. */
export function formatShortTime(time_ms: number): string {
  const minutes = Math.floor(time_ms / MINUTE_MS)
  if (minutes < 1) return '<1 min'
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < FEW_HOURS) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24).toLocaleString('en')} days`
}

export function TimeLeft({ until, ended = 'ended' }: { readonly until: string; readonly ended?: string }) {
  const left_ms = Date.parse(until) - useNow()
  return (
    <time dateTime={until} title={formatDateTime(until)}>
      {left_ms <= 0 ? ended : `${formatTimeLeft(left_ms)} left`}
    </time>
  )
}
