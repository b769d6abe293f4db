/**
 * What the operator does to a tenant stands in that tenant's audit record. The event is committed before the act: what is not
 * recorded did not happen, and an act that failed afterwards is at worst recorded twice.
 */
import { createAuditKeys } from '../../kernel/audit/chain.ts'
import { type EventFacts, recordEvent } from '../../kernel/audit/record.ts'
import type { Tx } from '../../kernel/database/tx.ts'
import { OPERATOR, type Operator } from './operator.ts'

export type Act = Omit<EventFacts, 'request_id'>

/** Inside a transaction that changes the tenant's own rows: recorded if and only if it is done. */
export const noteAct = (tx: Tx, { keyring }: Pick<Operator, 'keyring'>, act: Act): void =>
  recordEvent(tx, createAuditKeys(keyring), { ...act, request_id: null })

/** Before an act outside the tenant's walls: the role that may do it cannot write the tenant's record, and must not. */
export const recordAct = (operator: Operator, tenant_id: string, act: Act): Promise<void> =>
  operator.guarded.app.write({ tenant_id, actor: OPERATOR }, async (tx) => noteAct(tx, operator, act))
