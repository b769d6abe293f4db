/** The time left on a clock, in the colour of its urgency; the text says the same. */
import './work.css'
import type { Schemas } from '@probity/client'
import { formatDateTime } from '../date-format.ts'
import { useNow } from '../date-time.tsx'
import { formatShortTime } from '../time-left.tsx'
import { getClockColor } from './clock-state.ts'

export type WorkClock = Pick<Schemas['WorkClock'], 'state' | 'started_at' | 'due_at' | 'kind'>

export function ClockMark({ clock }: { readonly clock: WorkClock | undefined }) {
  const now_ms = useNow()
  if (clock === undefined) return <span className="quiet">–</span>
  const color = getClockColor(clock, now_ms)
  const left_ms = Date.parse(clock.due_at) - now_ms
  const text =
    color === 'paused' ? 'paused' : color === 'red' ? `${formatShortTime(-left_ms)} late` : formatShortTime(left_ms)
  return (
    <time
      className="clock-mark"
      data-color={color}
      dateTime={clock.due_at}
      title={`${clock.kind === 'statutory' ? 'Statutory clock' : 'Service clock'}, due ${formatDateTime(clock.due_at)}`}
    >
      {text}
    </time>
  )
}
