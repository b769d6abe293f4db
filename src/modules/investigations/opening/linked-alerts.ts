/** Which alerts a case may name. */
import type { Tx } from '#kernel/database/tx.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import { findAlertRestriction } from '../queries.ts'

export interface LinkableAlert {
  readonly alert_id: string
  readonly restriction_id: string
}

/** Those of another restriction in force would show to people of the case that they exist. */
export async function assertLinkable(
  tx: Tx,
  alert_ids: readonly string[],
  restriction_id: string | null = null,
): Promise<LinkableAlert[]> {
  const linkable: LinkableAlert[] = []
  for (const alert_id of alert_ids) {
    const alert = assertReferenced(await findAlertRestriction(tx, alert_id), 'alert with this id')
    if (alert.is_in_force && alert.restriction_id !== restriction_id)
      fail('conflict', 'An alert belongs to another restriction in force; escalate it instead.')
    linkable.push({ alert_id, restriction_id: alert.restriction_id })
  }
  return linkable
}
