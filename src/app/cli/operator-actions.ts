/**
 * What the operator does to a tenant stands in that tenant's audit record, written by the transaction that does it: what is not
 * recorded did not happen, and what did not happen is not recorded.
 */
import type { AuditKeys } from '#kernel/audit/chain.ts'
import { type AuditEventInput, recordEvent } from '#kernel/audit/record.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { CANARY_TENANT } from '#modules/tenant/index.ts'
import { deferForTenant } from '../queries.ts'
import { OPERATOR, type OperatorContext } from './operator.ts'

export type OperatorAction = Omit<AuditEventInput, 'request_id'>

/** Inside a transaction that speaks for the tenant. */
export const recordAction = (tx: Tx, keys: AuditKeys, act: OperatorAction): void =>
  recordEvent(tx, keys, { ...act, request_id: null })

/** For an act that concerns all of these tenants: an event in the record of each, but for the canary, which nobody speaks for. */
export function recordActionForAll(tx: Tx, keys: AuditKeys, tenant_ids: readonly string[], act: OperatorAction): void {
  for (const tenant_id of tenant_ids) {
    if (tenant_id !== CANARY_TENANT) recordEvent(deferForTenant(tx, tenant_id), keys, { ...act, request_id: null })
  }
}

/** For an act that changes no row, before its result is handed over. */
export async function recordStandaloneAction(
  { guarded, audit }: OperatorContext,
  tenant_id: string,
  act: OperatorAction,
): Promise<void> {
  const keys = await audit()
  await guarded.app.write({ tenant_id, actor: OPERATOR }, async (tx) => recordAction(tx, keys, act))
}
