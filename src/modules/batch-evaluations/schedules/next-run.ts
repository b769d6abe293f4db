/** When a schedule is due next. */
import { fail } from '#kernel/problem.ts'
import { createZoneClock, findNextTime, parseCron } from './cron.ts'
import type { ScheduleTiming } from './queries.ts'

export function failScheduleInvalid(pointer: string, keyword: string, detail: string): never {
  return fail('schedule_invalid', { detail, errors: [{ in: 'body', pointer, detail, keyword }] })
}

/** The first due time after an instant; refuses expressions that are never due. */
export function getNextRun({ cron, time_zone }: ScheduleTiming, now: string): string {
  const read = parseCron(cron)
  if (typeof read === 'string') return failScheduleInvalid('#/cron', 'cron', read)
  let clocks: ReturnType<typeof createZoneClock>
  try {
    clocks = createZoneClock(time_zone)
  } catch {
    return failScheduleInvalid(
      '#/time_zone',
      'time_zone',
      'There is no such time zone. Give an IANA name such as Europe/Berlin.',
    )
  }
  const next_ms = findNextTime(read, clocks, Date.parse(now))
  if (next_ms === null) return failScheduleInvalid('#/cron', 'cron', 'It would never be due: there is no such day.')
  return new Date(next_ms).toISOString()
}
