/** Reports what is always a bug or an attack: logged with its context and counted in a metric that alerts. */
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

/** The reason label of an unexpected error: a row refused by a policy of the database is reported as its own reason. */
export const toAlarmReason = (error: unknown): AlarmReason =>
  (error as { code?: string } | null)?.code === INSUFFICIENT_PRIVILEGE ? 'policy_violation' : 'internal_error'
