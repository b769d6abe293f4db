/** Wakes snoozed alerts within seconds of their time; their clocks run on. */
import { recordEvent } from '#kernel/audit/record.ts'
import type { TenantScan } from '#kernel/tenant-scan.ts'
import { wakeAlertWork } from './alert-work.ts'
import { listTenantsToWake, wakeSnoozed } from './queries.ts'

const BATCH = 100

export const wakeScan: TenantScan = {
  name: 'alert-wake',
  every_ms: 10_000,
  listTenants: listTenantsToWake,
  run: async (kernel, tx) => {
    const woken = await wakeSnoozed(tx, BATCH)
    for (const alert of woken) {
      await wakeAlertWork(kernel, tx, alert)
      // One event each: those of restricted alerts are hidden with them.
      recordEvent(tx, kernel.auditKeys, {
        operation: 'wakeAlert',
        object_type: 'alerts',
        object_id: alert.alert_id,
        request_id: null,
        detail: {},
        restriction_id: alert.restriction_id,
      })
    }
    return { more: woken.length === BATCH }
  },
}
