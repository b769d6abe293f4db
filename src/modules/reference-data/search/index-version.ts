/** Builds what a long version needs for fast search, comparison and proofs, where it is missing. */
import type { Tx } from '#kernel/database/tx.ts'
import { differenceStore, treeStore, type versionStore } from '#modules/definitions/index.ts'
import { MIN_TREE_ENTRIES } from '#registry/content/stored-tree.ts'

import { buildSearchIndex } from './build-index.ts'

type RunInTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

interface IndexRun {
  readonly read: RunInTx
  readonly write: RunInTx
  onBatch(entries: number): Promise<void>
}

export const needsIndex = ({ entry_count }: Pick<versionStore.VersionRow, 'entry_count'>): boolean =>
  entry_count >= MIN_TREE_ENTRIES

export async function indexVersion(run: IndexRun, version: versionStore.VersionRow): Promise<void> {
  if (!needsIndex(version)) return
  const { tenant_id, dataset_id } = version
  await treeStore.ensureTree(run.read, run.write, version)
  await buildSearchIndex(run, { tenant_id, dataset_id }, version.version)
  if (version.version === 1) return
  const range = { from: version.version - 1, to: version.version }
  const changed = await run.read((tx) => differenceStore.sumDifferences(tx, version, range))
  if (changed > 0) await differenceStore.storeSummary({ ...run, onBatch: () => run.onBatch(0) }, version, range)
}
