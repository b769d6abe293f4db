/** Opens cases for alerts that a list sends to an investigation without a person, within seconds of the alert. */
import { recordEvent } from '#kernel/audit/record.ts'
import type { TenantScan } from '#kernel/tenant-scan.ts'
import { escalateByPolicy } from '#modules/alerts/index.ts'
import { type AlertKind, listRecentAlerts, listRecentKinds, listTenantsWithAlerts } from './queries.ts'
import { chooseTrigger, escalates, loadTriggers } from './triggers.ts'
import { findUsablePlaybook } from './usable-playbook.ts'

const BATCH = 50

export const triggerScan: TenantScan = {
  name: 'investigation-triggers',
  every_ms: 10_000,
  listTenants: listTenantsWithAlerts,
  run: async (kernel, tx) => {
    const triggers = await loadTriggers(kernel, tx)
    if (!triggers.some(({ is_automatic }) => is_automatic)) return { more: false }
    // Alerts that open no case are not read: any number of them must not hide one that does.
    const kinds: AlertKind[] = []
    for (const kind of await listRecentKinds(tx)) {
      const trigger = chooseTrigger(triggers, kind)
      if (!trigger?.is_automatic) continue
      const { playbook } = trigger
      if (await findUsablePlaybook(kernel, tx, { playbook, subject_type: kind.subject_type })) kinds.push(kind)
    }
    if (kinds.length === 0) return { more: false }
    const found = await listRecentAlerts(tx, kinds, BATCH)
    for (const { alert_id, restriction_id, ...kind } of found) {
      const trigger = chooseTrigger(triggers, kind)
      if (!trigger) continue
      if (!(await escalateByPolicy(kernel, tx, alert_id, { playbook_key: trigger.playbook, escalates }))) continue
      recordEvent(tx, kernel.auditKeys, {
        operation: 'escalateAlert',
        object_type: 'alerts',
        object_id: alert_id,
        request_id: null,
        detail: { trigger: trigger.code },
        restriction_id,
      })
    }
    return { more: found.length === BATCH }
  },
}
