/** What a long version needs to be searched, compared and proved quickly, built where it is missing. */
import type { Tx } from '#kernel/database/tx.ts'
import { MIN_TREE_ENTRIES } from '#registry/content/stored-tree.ts'
import { sumDifferences } from '../differences/queries.ts'
import { storeSummary } from '../differences/summary.ts'
import { ensureTree } from '../trees/stored-tree.ts'
import type { VersionRow } from '../versions/queries.ts'
import { buildSearchIndex } from './build-index.ts'

type RunInTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

interface IndexRun {
  readonly read: RunInTx
  readonly write: RunInTx
  onBatch(entries: number): Promise<void>
}

export const needsIndex = ({ entry_count }: Pick<VersionRow, 'entry_count'>): boolean => entry_count >= MIN_TREE_ENTRIES

export async function indexVersion(run: IndexRun, version: VersionRow): Promise<void> {
  if (!needsIndex(version)) return
  const { tenant_id, dataset_id } = version
  await ensureTree(run.read, run.write, version)
  await buildSearchIndex(run, { tenant_id, dataset_id }, version.version)
  if (version.version === 1) return
  const range = { from: version.version - 1, to: version.version }
  const changed = await run.read((tx) => sumDifferences(tx, version, range))
  if (changed > 0) await storeSummary(run.read, run.write, version, range, () => run.onBatch(0))
}
