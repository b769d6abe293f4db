/**
 * What the operator does to a tenant stands in that tenant's audit record, written by the transaction that does it: what is not
 * recorded did not happen, and what did not happen is not recorded.
 */
import type { AuditKeys } from '../../kernel/audit/chain.ts'
import { type EventFacts, recordEvent } from '../../kernel/audit/record.ts'
import type { Tx } from '../../kernel/database/tx.ts'
import { CANARY_TENANT } from '../../modules/tenant/index.ts'
import { deferFor } from '../queries.ts'
import { OPERATOR, type Operator } from './operator.ts'

export type Act = Omit<EventFacts, 'request_id'>

/** Inside a transaction that speaks for the tenant. */
export const noteAct = (tx: Tx, keys: AuditKeys, act: Act): void => recordEvent(tx, keys, { ...act, request_id: null })

/** For an act that concerns all of these tenants: an event in the record of each, but for the canary, which nobody speaks for. */
export function noteActForAll(tx: Tx, keys: AuditKeys, tenant_ids: readonly string[], act: Act): void {
  for (const tenant_id of tenant_ids) {
    if (tenant_id !== CANARY_TENANT) recordEvent(deferFor(tx, tenant_id), keys, { ...act, request_id: null })
  }
}

/** For an act that changes no row, before its result is handed over. */
export async function recordAct({ guarded, audit }: Operator, tenant_id: string, act: Act): Promise<void> {
  const keys = await audit()
  await guarded.app.write({ tenant_id, actor: OPERATOR }, async (tx) => noteAct(tx, keys, act))
}
