/**
 * Counts values that staged content loses in entries that remain, and marks entries that differ only by the canonical form
 * of a newer type version.
 */

import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Entry } from '#registry/adapter.ts'
import { entryHash } from '#registry/content/hashes.ts'
import { findArrayMembers, type MemberCounts } from '#registry/types/array-members.ts'
import { compileNormalForm } from '#registry/types/compile-type.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'
import { countDeltaMembers, listChanged, updateRestated } from '../staging/queries.ts'
import type { MemberLoss } from './guards.ts'

export type EntryForm = Pick<TypeDefinition, 'schema' | 'fields' | 'key_pointers' | 'trim'>

const BATCH = 2000

/** Marks entries of the delta that are equal once the head's text has the form of the new type version. */
export async function markRestated(tx: Tx, dataset_id: string, definition: EntryForm): Promise<void> {
  const toForm = compileNormalForm(definition)
  for (let after = ''; ; ) {
    const rows = await listChanged(tx, dataset_id, after, BATCH)
    const keys = rows
      .filter(
        ({ before, hash }) => entryHash(canonicalJson(toForm(JSON.parse(before) as Entry))) === hash.toString('hex'),
      )
      .map(({ key }) => key)
    if (keys.length > 0) await updateRestated(tx, keys)
    if (rows.length < BATCH) return
    after = rows.at(-1)?.key as string
  }
}

/** Losses by member. `counts` are those of the staged content; those of the head are derived from them. */
export async function countLosses(
  tx: Tx,
  dataset_id: string,
  definition: EntryForm,
  counts: MemberCounts,
): Promise<MemberLoss[]> {
  const members = findArrayMembers(definition)
  if (members.length === 0) return []
  const rows = await countDeltaMembers(tx, dataset_id, members)
  return rows.map((row) => {
    const { values, entries } = counts[row.pointer] ?? { values: row.values_after, entries: row.entries_after }
    return {
      pointer: row.pointer,
      title: definition.fields[row.pointer]?.title ?? row.pointer,
      lost: row.lost,
      values_before: values - row.values_after + row.values_before,
      emptied: row.emptied,
      entries_before: entries - row.entries_after + row.entries_before,
    }
  })
}
