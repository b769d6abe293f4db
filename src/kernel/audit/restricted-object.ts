/** Objects that belong to a restriction by a column of their row. */
import type { Tx } from '../database/tx.ts'
import { findObjectRestriction, type RestrictedTable } from './queries.ts'
import type { AuditNotes, ObjectRestriction } from './record.ts'

/** Notes the restrictions of objects that the answer names besides its own. */
export async function noteNamed(
  { tx, audit }: { readonly tx: Tx; readonly audit: Pick<AuditNotes, 'names'> },
  objects: readonly (readonly [RestrictedTable, string | null])[],
): Promise<void> {
  for (const [table, id] of objects) {
    const found = id === null ? undefined : await findObjectRestriction(tx, table, id)
    if (found) audit.names([found, { restriction_id: found.also_restriction_id }])
  }
}

/** Notes the restriction of an object that the caller may see, so that the event of the request and a read of it carry it. */
export async function noteRestriction(
  { tx, audit }: { readonly tx: Tx; readonly audit: Pick<AuditNotes, 'belongsTo'> },
  table: RestrictedTable,
  id: string,
): Promise<ObjectRestriction> {
  const restriction = (await findObjectRestriction(tx, table, id)) ?? { restriction_id: null, is_in_force: false }
  audit.belongsTo(restriction)
  return restriction
}
