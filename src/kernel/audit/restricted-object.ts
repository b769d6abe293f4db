/** Objects that belong to a restriction by a column of their row. */
import type { Tx } from '../database/tx.ts'
import { findObjectRestriction, type RestrictedTable } from './queries.ts'
import type { AuditNotes, ObjectRestriction } from './record.ts'

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
