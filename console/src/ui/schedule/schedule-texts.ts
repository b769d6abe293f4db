/** Converts common frequencies to and from cron expressions. */

export const frequencies = ['daily', 'working-days', 'weekly', 'first-of-month', 'last-of-month', 'other'] as const
export type Frequency = (typeof frequencies)[number]

export const frequencyLabels: Readonly<Record<Frequency, string>> = {
  daily: 'Every day',
  'working-days': 'Monday to Friday',
  weekly: 'Every Monday',
  'first-of-month': 'On the first of the month',
  'last-of-month': 'On the last of the month',
  other: 'Custom (cron)',
}

/** Day of the month, month and day of the week. */
const cronDays: Readonly<Record<Exclude<Frequency, 'other'>, string>> = {
  daily: '* * *',
  'working-days': '* * 1-5',
  weekly: '* * 1',
  'first-of-month': '1 * *',
  'last-of-month': 'L * *',
}

/** `time` as in a time field: 06:30. */
export function toCron(frequency: Exclude<Frequency, 'other'>, time: string): string {
  const [hour = '0', minute = '0'] = time.split(':')
  return `${Number(minute)} ${Number(hour)} ${cronDays[frequency]}`
}

/** The fields of an expression; one without a common frequency is custom. */
export function parseCron(cron: string): { readonly frequency: Frequency; readonly time: string } {
  const [, minute = '', hour = '', rest = ''] = /^(\d{1,2}) (\d{1,2}) (.+)$/.exec(cron.trim()) ?? []
  const found = Object.entries(cronDays).find(([, text]) => text.toLowerCase() === rest.toLowerCase())
  if (found === undefined) return { frequency: 'other', time: '06:00' }
  return { frequency: found[0] as Frequency, time: `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}` }
}

/** Describes a common expression in words; returns others unchanged. */
export function describeTimes(cron: string): string {
  const { frequency, time } = parseCron(cron)
  return frequency === 'other' ? cron : `${frequencyLabels[frequency]} at ${time}`
}

/** Short reasons why a run was skipped. */
export const describeSkip = (skipped: string): string =>
  ({ previous_running: 'the previous batch was still running', nothing_in_force: 'no version was in force' })[
    skipped
  ] ?? skipped.replaceAll('_', ' ')
