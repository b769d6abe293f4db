/** Starts, pauses, resumes and ends the clocks of an object, in the transaction of its change. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { type Calendar, computeDue, computeResumedDue, type Duration, findLocalDay, formatDay } from './calendar.ts'
import { loadCalendar } from './calendar-list.ts'
import {
  type ClockReceipt,
  type ClockRow,
  findSetting,
  insertClock,
  lockPausedClocks,
  type ObjectRef,
  type StoppedClocks,
  updatePaused,
  updateResumed,
  updateStopped,
} from './queries.ts'

/** Used where the tenant has chosen no calendar. */
export const DEFAULT_CALENDAR = 'weekdays'

export interface NewClock extends ObjectRef {
  readonly clock_key: string
  /** Only service clocks can be paused. */
  readonly kind: 'service' | 'statutory'
  readonly duration: Duration
  /** When it began, RFC 3339; now when absent. */
  readonly started_at?: string
  /** Key of the list `business-calendars`; that of the tenant when absent. */
  readonly calendar?: string
  /** Of the object; null where it has none. */
  readonly restriction_id: string | null
}

/** The due time is computed once, here, with the calendar in force. */
export async function startClock(kernel: Capabilities<'caches'>, tx: Tx, clock: NewClock): Promise<ClockRow> {
  const calendar_key = clock.calendar ?? (await findSetting(tx))?.calendar_key ?? DEFAULT_CALENDAR
  const { duration } = clock
  const started_at = new Date(clock.started_at ?? Date.now())
  const { due_at, receipt } = await computeWithReceipt(kernel, tx, { duration, calendar: calendar_key }, (calendar) =>
    computeDue(started_at, duration, calendar),
  )
  const { object_kind, object_id, clock_key, kind, restriction_id } = clock
  const stored = { object_kind, object_id, clock_key, kind, restriction_id, started_at: started_at.toISOString() }
  return (await insertClock(tx, { ...stored, due_at, receipt })) as ClockRow
}

async function computeWithReceipt(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { duration, calendar: calendar_key }: Pick<ClockReceipt, 'duration' | 'calendar'>,
  compute: (calendar: Calendar) => Date,
): Promise<{ due_at: string; receipt: ClockReceipt }> {
  const { calendar, version } = await loadCalendar(kernel, tx, calendar_key)
  const due = compute(calendar)
  const { time_zone, covers_until } = calendar
  const last_day = formatDay(findLocalDay(due.getTime(), time_zone))
  return {
    due_at: due.toISOString(),
    receipt: {
      duration,
      calendar: calendar_key,
      time_zone,
      list: version,
      is_covered: 'hours' in duration || duration.day_kind === 'calendar' || last_day <= covers_until,
    },
  }
}

/** Pauses the running service clocks of an object, or exactly the named ones; the database refuses to pause a statutory clock. */
export const pauseClocks = (tx: Tx, object: ObjectRef, clock_keys: readonly string[] | null = null): Promise<number> =>
  updatePaused(tx, object, clock_keys)

/** Counted on with the calendar in force now. */
export async function resumeClocks(kernel: Capabilities<'caches'>, tx: Tx, object: ObjectRef): Promise<number> {
  const paused = await lockPausedClocks(tx, object)
  for (const clock of paused) {
    const { duration, calendar } = clock.receipt
    const { due_at, receipt } = await computeWithReceipt(kernel, tx, { duration, calendar }, (current) =>
      computeResumedDue(
        { due_at: new Date(clock.due_at), paused_at: new Date(clock.paused_at ?? clock.now), duration },
        new Date(clock.now),
        current,
      ),
    )
    await updateResumed(tx, clock, { due_at, receipt })
  }
  return paused.length
}

/** Ends one clock, those of one name whichever opening started them, or all service clocks of the object: met in time, otherwise missed. */
export const stopClocks = (
  tx: Tx,
  object: ObjectRef,
  which: StoppedClocks = { kind: 'service' },
): Promise<ClockRow[]> => updateStopped(tx, object, which)
