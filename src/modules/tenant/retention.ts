/**
 * The record classes that a retention policy may name, each with the query that removes expired records. A class without one is
 * refused, because the policy would promise what does not happen.
 */
import type { Tx } from '#kernel/database/tx.ts'
import {
  countHeldPayloads,
  type RemovedRows,
  type RetentionClassRow,
  removeOldBulkRejects,
  removeOldEvents,
  removeOldImportRejects,
  removeOldJobs,
  removeOldPayloadContents,
  removeOldProviderPages,
} from './queries.ts'

/** Removes at most `limit` records that are older than `keep_days`, that no hold keeps and that the transaction sees. */
export type RemoveExpired = (tx: Tx, keep_days: number, limit: number) => Promise<readonly RemovedRows[]>

export type RecordClass =
  | {
      readonly record_class: string
      readonly executors: readonly RemoveExpired[]
      /** How many records past their period a hold keeps, as far as the transaction sees both; absent where no object that can be held has such records. */
      readonly countHeld?: (tx: Tx, keep_days: number) => Promise<number>
    }
  | { readonly record_class: string; readonly kept_for_ever: string }
  /** Nothing removes them: until then they cannot be deleted. */
  | { readonly record_class: string; readonly refused_by: string }

export const recordClasses: readonly RecordClass[] = [
  { record_class: 'jobs', executors: [removeOldJobs] },
  { record_class: 'import-rejects', executors: [removeOldImportRejects, removeOldBulkRejects] },
  {
    record_class: 'provider-payloads',
    executors: [removeOldPayloadContents, removeOldProviderPages],
    countHeld: countHeldPayloads,
  },
  { record_class: 'documents', refused_by: 'deleteDocument' },
  { record_class: 'reports', refused_by: 'deleteReport' },
  { record_class: 'events', executors: [removeOldEvents] },
  { record_class: 'audit', kept_for_ever: 'The audit record is never removed; keep_days of audit must be null.' },
]

/** A sentence that says why the policy cannot be enforced, or null. */
export function findRetentionFault(classes: readonly RetentionClassRow[]): string | null {
  for (const [index, { record_class, keep_days }] of classes.entries()) {
    const known = recordClasses.find((each) => each.record_class === record_class)
    if (!known) {
      const names = recordClasses.map((each) => each.record_class).join(', ')
      return `Nothing acts on record class number ${index + 1}, so a policy for it would have no effect. Known are: ${names}.`
    }
    if ('kept_for_ever' in known && keep_days !== null) return known.kept_for_ever
  }
  return null
}
