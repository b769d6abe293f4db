/**
 * Records what the operator does to a tenant in that tenant's audit trail, in the transaction of the action: both happen or
 * neither.
 */
import type { AuditKeys } from '#kernel/audit/chain.ts'
import { type AuditEventInput, recordEvent } from '#kernel/audit/record.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { CANARY_TENANT } from '#modules/tenant/index.ts'
import { deferForTenant } from '../queries.ts'
import { OPERATOR, type OperatorContext } from './operator.ts'

export type OperatorAction = Omit<AuditEventInput, 'request_id' | 'restriction_id'>

/** Inside a transaction of the tenant. */
export const recordAction = (tx: Tx, keys: AuditKeys, act: OperatorAction): string =>
  recordEvent(tx, keys, { ...act, request_id: null, restriction_id: null })

/** For an action that concerns all of these tenants: an event for each except the canary. */
export function recordActionForAll(tx: Tx, keys: AuditKeys, tenant_ids: readonly string[], act: OperatorAction): void {
  for (const tenant_id of tenant_ids) {
    if (tenant_id !== CANARY_TENANT)
      recordEvent(deferForTenant(tx, tenant_id), keys, { ...act, request_id: null, restriction_id: null })
  }
}

/** For an action that changes no row, before its result is returned. */
export async function recordStandaloneAction(
  { guarded, audit }: OperatorContext,
  tenant_id: string,
  act: OperatorAction,
): Promise<void> {
  const keys = await audit()
  await guarded.app.write(fullScope(tenant_id, OPERATOR), async (tx) => recordAction(tx, keys, act))
}
