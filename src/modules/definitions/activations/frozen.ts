/** The gate that an archived definition closes: none of its versions can be put in force. */
import type { Tx } from '#kernel/database/tx.ts'
import { type DatasetFamily, type DatasetRow, findDatasetForWrite } from '../datasets/queries.ts'
import type { Gate } from '../versions/guards.ts'

export const findFrozenGates = ({ state, list_key }: Pick<DatasetRow, 'state' | 'list_key'>): Gate[] =>
  state === 'archived' ? [{ gate: 'frozen', detail: `${list_key} is archived.`, overridable: false, facts: {} }] : []

/** The same for a request to put a version in force, with what can be done about it. */
export async function findRequestGates(tx: Tx, family: DatasetFamily, list_key: string): Promise<Gate[]> {
  const dataset = await findDatasetForWrite(tx, list_key, family)
  if (!dataset) return []
  return findFrozenGates(dataset).map((gate) => ({
    ...gate,
    // Read by people who know the title, not the key.
    detail: `“${dataset.title}” was archived, so no version of it can be put in force. Reject this request, or have it withdrawn.`,
  }))
}
