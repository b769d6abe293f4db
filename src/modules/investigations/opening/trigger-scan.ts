/** Opens cases for alerts that a list sends to an investigation without a person, within seconds of the alert. */

import { recordEvent } from '#kernel/audit/record.ts'
import { BoundedMap } from '#kernel/bounded-map.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { ScanCapabilities, TenantScan } from '#kernel/tenant-scan.ts'
import { escalateByPolicy } from '#modules/alerts/index.ts'
import { openingsRefused } from '../gathering/metrics.ts'
import { type AlertKind, listRecentAlerts, listRecentKinds, listTenantsWithAlerts, tryInSavepoint } from './queries.ts'
import { chooseTrigger, escalates, type InvestigationTrigger, loadTriggers } from './triggers.ts'
import { findUsablePlaybook } from './usable-playbook.ts'

const BATCH = 50
const RETRY_MS = 600_000
/** Of a longer list the oldest are tried again earlier. */
const MAX_REFUSED = 10_000

/**
 * Alerts of all tenants for which no case could be opened, with when that is tried again. Only of this process: it keeps refused alerts
 * from being all that a scan reads.
 */
const refusedUntil = new BoundedMap<string, number>(MAX_REFUSED)

export const triggerScan: TenantScan = {
  name: 'investigation-triggers',
  every_ms: 10_000,
  listTenants: listTenantsWithAlerts,
  run: async (kernel, tx) => {
    const triggers = await loadTriggers(kernel, tx)
    if (!triggers.some(({ is_automatic }) => is_automatic)) return { more: false }
    const now_ms = Date.now()
    for (const [alert_id, until_ms] of refusedUntil) if (until_ms <= now_ms) refusedUntil.delete(alert_id)
    // Alerts that open no case are not read: any number of them must not hide one that does.
    const kinds: AlertKind[] = []
    for (const kind of await listRecentKinds(tx)) {
      const trigger = chooseTrigger(triggers, kind)
      if (!trigger?.is_automatic) continue
      const { playbook } = trigger
      if (await findUsablePlaybook(kernel, tx, { playbook, subject_type: kind.subject_type })) kinds.push(kind)
      else kernel.metrics.increment(openingsRefused, { origin: 'trigger' })
    }
    if (kinds.length === 0) return { more: false }
    const found = await listRecentAlerts(tx, kinds, [...refusedUntil.keys()], BATCH)
    const refused: string[] = []
    for (const alert of found) {
      const trigger = chooseTrigger(triggers, alert)
      if (trigger && !(await tryInSavepoint(tx, (part) => openByTrigger(kernel, part, alert, trigger))))
        refused.push(alert.alert_id)
    }
    return {
      more: found.length === BATCH,
      committed: () => {
        for (const alert_id of refused) refusedUntil.set(alert_id, now_ms + RETRY_MS)
        kernel.metrics.increment(openingsRefused, { origin: 'trigger' }, refused.length)
      },
    }
  },
}

async function openByTrigger(
  kernel: ScanCapabilities,
  tx: Tx,
  { alert_id, restriction_id }: { readonly alert_id: string; readonly restriction_id: string },
  { code, playbook: playbook_key }: InvestigationTrigger,
): Promise<void> {
  if (!(await escalateByPolicy(kernel, tx, alert_id, { playbook_key, escalates }))) return
  recordEvent(tx, kernel.auditKeys, {
    operation: 'escalateAlert',
    object_type: 'alerts',
    object_id: alert_id,
    request_id: null,
    detail: { trigger: code },
    restriction_id,
  })
}
