/** Opens cases for alerts that a list sends to an investigation without a person, within seconds of the alert. */
import { recordEvent } from '#kernel/audit/record.ts'
import type { TenantScan } from '#kernel/tenant-scan.ts'
import { escalateByPolicy } from '#modules/alerts/index.ts'
import { listRecentAlerts, listTenantsWithAlerts } from './queries.ts'
import { chooseTrigger, escalates, loadTriggers } from './triggers.ts'

const BATCH = 50

export const triggerScan: TenantScan = {
  name: 'investigation-triggers',
  every_ms: 10_000,
  listTenants: listTenantsWithAlerts,
  run: async (kernel, tx) => {
    const triggers = await loadTriggers(kernel, tx)
    if (!triggers.some(({ is_automatic }) => is_automatic)) return { more: false }
    const found = await listRecentAlerts(tx, BATCH)
    let opened = 0
    for (const { alert_id, rule_code, subject_type, restriction_id } of found) {
      const trigger = chooseTrigger(triggers, { rule_code, subject_type })
      if (!trigger?.is_automatic) continue
      if (!(await escalateByPolicy(kernel, tx, alert_id, { playbook_key: trigger.playbook, escalates }))) continue
      opened++
      recordEvent(tx, kernel.auditKeys, {
        operation: 'escalateAlert',
        object_type: 'alerts',
        object_id: alert_id,
        request_id: null,
        detail: { trigger: trigger.code },
        restriction_id,
      })
    }
    // Alerts that are left have no automatic entry: looking at them again would find the same.
    return { more: found.length === BATCH && opened === BATCH }
  },
}
