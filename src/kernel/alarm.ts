/** What is always a bug or an attack: told in the log with its place, and counted, so that somebody is called. */
import type { Log } from './log.ts'
import type { AlarmReason, Metrics } from './metrics.ts'

export type RaiseAlarm = (reason: AlarmReason, facts: object, message: string) => void

export const createAlarmReporter =
  (log: Pick<Log, 'error'>, { alarms }: Pick<Metrics, 'alarms'>): RaiseAlarm =>
  (reason, facts, message) => {
    alarms.inc({ reason })
    log.error(facts, message)
  }

const INSUFFICIENT_PRIVILEGE = '42501'

/** Why something undeclared that was thrown is an alarm: a row that the database refused is more than an accident. */
export const toAlarmReason = (error: unknown): AlarmReason =>
  (error as { code?: string } | null)?.code === INSUFFICIENT_PRIVILEGE ? 'policy_violation' : 'internal_error'
