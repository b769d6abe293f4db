/**
 * Computes the tree of a list after its delta: updates the stored tree of the head, or builds a new one where that is not
 * possible.
 */
import { setImmediate } from 'node:timers/promises'
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { createMerkleBuilder } from '#registry/content/merkle.ts'
import { MIN_TREE_ENTRIES, type TreeSource } from '#registry/content/stored-tree.ts'
import { collectGroups, hasSameBuckets, TreeMismatch, TreeUpdate } from '#registry/content/tree-update.ts'
import { listStaged } from '../staging/queries.ts'
import type { VersionRow } from '../versions/queries.ts'
import { findNodes, listBlocksInGroups, listDeltaGroups, listUntouchedHashes } from './queries.ts'
import { toTreeSource } from './stored-tree.ts'

/** A block of a base has 32 kB; this many are in memory at once. */
const GROUPS_AT_ONCE = 128
/** Beyond it most groups change anyway, and the changes would not fit in memory. */
const MAX_UPDATED_KEYS = 200_000
const BATCH = 5_000

export interface ResultTree {
  readonly root: string
  readonly tree: TreeSource
}

/** Runs in the transaction that has the stage, the delta and the lock of the list. */
export async function computeResultTree(
  tx: Tx,
  head: VersionRow,
  result: { readonly entry_count: number; readonly changed_keys: number },
): Promise<ResultTree> {
  const { entry_count, changed_keys } = result
  const is_updatable =
    Math.min(head.entry_count, entry_count) >= MIN_TREE_ENTRIES &&
    hasSameBuckets(head.entry_count, entry_count) &&
    changed_keys <= MAX_UPDATED_KEYS
  const updated = is_updatable ? await updateStoredTree(tx, head, entry_count) : null
  return updated ?? buildResultTree(tx, head, entry_count)
}

/** Null when there is no stored tree for the head's content. */
async function updateStoredTree(tx: Tx, head: VersionRow, entry_count: number): Promise<ResultTree | null> {
  const stored = await findNodes(tx, head)
  if (!stored) return null
  try {
    const update = new TreeUpdate(stored.nodes, head.entry_count, head.content_hash)
    const touched = await listDeltaGroups(tx, update.group_bits)
    for (let from = 0; from < touched.length; from += GROUPS_AT_ONCE) {
      const some = touched.slice(from, from + GROUPS_AT_ONCE)
      const groups = some.map(({ group }) => group)
      const blocks = await listBlocksInGroups(tx, head, stored.base_version, { groups, group_bits: update.group_bits })
      const before = collectGroups(
        blocks.map(({ pairs }) => pairs),
        groups,
        update.group_bits,
      )
      for (const { group, pairs } of some) update.apply(group, before.get(group) ?? new Map(), pairs)
      // Yields to the event loop.
      await setImmediate()
    }
    const { root, nodes } = update.finish(entry_count)
    return { root, tree: { nodes } }
  } catch (error) {
    if (error instanceof TreeMismatch) return null
    throw error
  }
}

/** Reads only the hashes of the entries. */
async function buildResultTree(tx: Tx, head: VersionRow, entry_count: number): Promise<ResultTree> {
  const builder = createMerkleBuilder()
  for (let after = ''; ; ) {
    const rows = await listUntouchedHashes(tx, head.dataset_id, after, BATCH)
    for (const { key, hash } of rows) if (hash) builder.addHash(key, hash.toString('hex'))
    if (rows.length < BATCH) break
    after = rows.at(-1)?.key as string
  }
  for (let after = ''; ; ) {
    const rows = await listStaged(tx, after, BATCH)
    for (const { key, hash } of rows) builder.addHash(key, hash.toString('hex'))
    if (rows.length < BATCH) break
    after = rows.at(-1)?.key as string
  }
  const built = builder.finish()
  // The stored entry count of the head is wrong.
  if (built.count !== entry_count) fail('content_corrupt')
  return { root: built.root, tree: toTreeSource(built) }
}
