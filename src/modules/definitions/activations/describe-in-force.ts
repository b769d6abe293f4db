/** The version in force under a key, as a change of it is recorded for auditors and shown to approvers. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { getOrigin, type Origin } from '../datasets/origin.ts'
import type { DatasetFamily } from '../datasets/queries.ts'
import { listPointers } from '../resolve/queries.ts'
import type { ActivationRow } from './queries.ts'

interface InForce {
  /** Null: nothing is in force, neither of the tenant nor shared. */
  readonly version: number | null
  readonly origin?: Origin
}

/** Takes no lock: the caller takes the exclusive lock afterwards, and two holders of a shared one would deadlock. */
export async function describeInForce(tx: Tx, family: DatasetFamily, list_key: string): Promise<InForce> {
  const [pointer] = await listPointers(tx, [list_key], { valid_at: null, known_at: null }, family)
  return pointer && pointer.via !== null
    ? { version: pointer.version, origin: getOrigin(pointer.dataset_tenant_id) }
    : { version: null }
}

/** The owner is named only where a version of the other owner was in force. */
const toAfter = (before: InForce, activation: ActivationRow): InForce => ({
  version: activation.version,
  ...(before.origin !== undefined &&
    activation.dataset_tenant_id !== null && { origin: getOrigin(activation.dataset_tenant_id) }),
})

interface RecordedActivation {
  readonly before: InForce
  readonly activation: ActivationRow
  /** The instant that the caller named; undefined: at once. */
  readonly requested_from: string | undefined
}

/**
 * Approvers see no instant unless the request names one: without one it is that of the approval, which a dry run cannot know.
 */
export function recordActivation(audit: AuditNotes, { before, activation, requested_from }: RecordedActivation): void {
  const { effective_from, reason } = activation
  const after = toAfter(before, activation)
  audit.recordDiff(before, { ...after, effective_from, reason })
  if (activation.cr_id === null)
    audit.recordPreview(before, { ...after, effective_from: requested_from ?? null, reason })
}

export function recordRollback(
  audit: AuditNotes,
  before: InForce,
  activation: ActivationRow,
  body: { readonly reason: string; readonly break_glass?: { readonly reason: string } | undefined },
): void {
  audit.recordDiff(before, {
    ...toAfter(before, activation),
    reason: body.reason,
    ...(body.break_glass && { break_glass: body.break_glass.reason }),
  })
}

/** Which version a pin holds, and which version is in force with it. */
export const describePin = async (tx: Tx, family: DatasetFamily, list_key: string) => {
  const [pointer] = await listPointers(tx, [list_key], { valid_at: null, known_at: null }, family)
  const isPinned = pointer?.via === 'tenant-pin'
  return {
    pinned: isPinned ? pointer.version : null,
    version: pointer && pointer.via !== null ? pointer.version : null,
  }
}
