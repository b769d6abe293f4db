/** Escalates an alert because a list says so, without a person. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Escalate, EscalationKernel } from '#kernel/escalation.ts'
import { isOpen } from '../model.ts'
import { lockAlert } from '../queries.ts'
import { openCase } from './acts.ts'

/** False where somebody works on it, or a dismissal was proposed. */
export async function escalateByPolicy(
  kernel: EscalationKernel,
  tx: Tx,
  alert_id: string,
  request: { readonly playbook_key: string; readonly escalates: Escalate },
): Promise<boolean> {
  const alert = await lockAlert(tx, alert_id)
  if (!alert || !isOpen(alert) || alert.assignee !== null || alert.proposed_by !== null) return false
  await openCase({ kernel, tx, principal: tx.actor }, alert, { ...request, note: null, origin: 'trigger' })
  return true
}
