/** The lists that say when alerts are raised and how they are closed: `alert-rules`, `alert-settings`, `quality-samples`, `reason-codes`. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { resolver } from '#modules/definitions/index.ts'
import type { Priority } from './model.ts'

export const ALERT_RULES = 'alert-rules'
const ALERT_SETTINGS = 'alert-settings'
const QUALITY_SAMPLES = 'quality-samples'
const REASON_CODES = 'reason-codes'

export interface AlertSettings {
  readonly priority: Priority
  readonly second_person: boolean
  readonly max_snooze_days: number
  readonly max_suppression_days: number
  /** Until when somebody should have begun; absent: no clock. */
  readonly first_action_hours?: number
}

/** Without an entry, the strictest: a second person, and nothing may be put off. */
const STRICTEST = { second_person: true, max_snooze_days: 0, max_suppression_days: 0 }

export async function loadAlertSettings(
  kernel: Capabilities<'caches'>,
  tx: Tx,
): Promise<(priority: Priority) => AlertSettings> {
  const list = await resolver.loadPolicyList<AlertSettings>(kernel, tx, ALERT_SETTINGS)
  return (priority) => list?.entries.find((entry) => entry.priority === priority) ?? { priority, ...STRICTEST }
}

export interface QualitySample {
  readonly code: string
  readonly source: string
  readonly priority: Priority | '*'
  readonly rate_bps: number
  readonly seed: string
}

export const loadQualitySamples = (kernel: Capabilities<'caches'>, tx: Tx) =>
  resolver.loadPolicyList<QualitySample>(kernel, tx, QUALITY_SAMPLES)

/** Fails with 409 for a code that the list in force does not have for alerts. */
export async function assertAlertReason(kernel: Capabilities<'caches'>, tx: Tx, code: string): Promise<void> {
  const list = await resolver.loadPolicyList<{ code: string; area: string }>(kernel, tx, REASON_CODES)
  if (list?.entries.some((entry) => entry.code === code && entry.area === 'alert')) return
  fail('conflict', {
    detail: `The list ${REASON_CODES} has no code ${code} of the area alert.`,
    errors: [
      { in: 'body', pointer: '#/reason_code', detail: 'is not a reason code of alerts', keyword: 'reason_code' },
    ],
  })
}
