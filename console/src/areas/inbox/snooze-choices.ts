/** Times that people snooze alerts to. Pure. */

export interface SnoozeChoice {
  readonly name: string
  readonly at: Date
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MORNING_HOUR = 9

/** At nine in the morning, local time. */
function toMorning(now: Date, days: number): Date {
  const at = new Date(now)
  at.setDate(at.getDate() + days)
  at.setHours(MORNING_HOUR, 0, 0, 0)
  return at
}

/** Those that the limit allows. */
export function listSnoozeChoices(now: Date, max_days: number): SnoozeChoice[] {
  const untilMonday = (8 - now.getDay()) % 7 || 7
  const choices = [
    { name: 'In 4 hours', at: new Date(now.getTime() + 4 * HOUR_MS) },
    { name: 'Tomorrow 9:00', at: toMorning(now, 1) },
    { name: 'Monday 9:00', at: toMorning(now, untilMonday) },
    { name: 'In 14 days', at: toMorning(now, 14) },
  ]
  return choices.filter(({ at }) => at.getTime() - now.getTime() <= max_days * DAY_MS)
}
