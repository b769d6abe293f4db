/** Business calendars in force: entries of the list `business-calendars`. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { resolver } from '#modules/definitions/index.ts'
import { type Calendar, isTimeZone } from './calendar.ts'
import { findTimeZone } from './queries.ts'

export const CALENDAR_LIST = 'business-calendars'

export interface CalendarVersion {
  readonly calendar: Calendar
  /** Null: the list has no such calendar in a known time zone, and Saturday and Sunday are the weekend. */
  readonly version: { readonly list_key: string; readonly version: number; readonly content_hash: string } | null
}

/** Without the calendar, days are counted without holidays in the tenant's time zone: due earlier, never later. */
const toPlainWeek = (calendar: string, time_zone: string): Calendar => ({
  calendar,
  time_zone,
  weekend_days: [6, 7],
  holidays: [],
  covers_until: '1970-01-01',
})

export async function loadCalendar(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  calendar_key: string,
): Promise<CalendarVersion> {
  const list = await resolver.loadPolicyList<Calendar>(kernel, tx, CALENDAR_LIST)
  const calendar = list?.entries.find((entry) => entry.calendar === calendar_key)
  // A list cannot check zones, and a clock must start whatever it says.
  if (!list || !calendar || !isTimeZone(calendar.time_zone)) {
    const own = await findTimeZone(tx)
    return { calendar: toPlainWeek(calendar_key, isTimeZone(own) ? own : 'UTC'), version: null }
  }
  const { version, content_hash } = list.pointer
  return { calendar, version: { list_key: CALENDAR_LIST, version, content_hash } }
}
