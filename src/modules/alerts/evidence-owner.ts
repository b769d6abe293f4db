/** What other modules attach to an alert as evidence; it takes the restriction of the alert, which may be imposed later. */
import type { EvidenceOwner } from '#kernel/module.ts'
import { findAlert } from './queries.ts'

export const evidenceOwner: EvidenceOwner = {
  kind: 'alert',
  find: async (tx, alert_id) => {
    const alert = await findAlert(tx, alert_id)
    return alert && { restriction_id: alert.restriction_id }
  },
}
