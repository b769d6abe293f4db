/** Stages the rows of a new version and summarises them. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Warning } from '#registry/adapter.ts'
import { createMerkleBuilder } from '#registry/content/merkle.ts'
import type { TreeSource } from '#registry/content/stored-tree.ts'
import { COPY_BEGIN, COPY_END, copyRow, type StagedRow } from '#registry/import/copy-rows.ts'
import { computeContentHash } from '#registry/overlay.ts'
import type { MemberCounts } from '#registry/types/array-members.ts'
import { toTreeSource } from '../trees/stored-tree.ts'
import { copyStage, createStage } from './queries.ts'

/** Summary of the staged rows. */
export interface StagedContent {
  readonly content_hash: string
  readonly entry_count: number
  readonly data_bytes: number
  readonly filled: Readonly<Record<string, number>>
  /** The rows were staged in key order. */
  readonly is_ordered?: boolean
  /** Absent where keys are never proved: in overlays and document definitions. */
  readonly tree?: TreeSource
  /** Values of array members. Without them lost values are not checked. */
  readonly members?: MemberCounts
  /** Warnings that the source may be incomplete. */
  readonly doubts?: readonly Warning[]
}

/** Stages rows that are already encoded for COPY. */
export async function stageEncodedRows(
  tx: Tx,
  rows: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<number> {
  await createStage(tx)
  return copyStage(
    tx,
    (async function* () {
      yield COPY_BEGIN
      yield* rows
      yield COPY_END
    })(),
  )
}

/** Stages rows that are in memory, and summarises them. */
export async function stageRows(tx: Tx, rows: readonly StagedRow[]): Promise<StagedContent> {
  await stageEncodedRows(tx, rows.map(copyRow))
  return summarizeRows(rows)
}

export function summarizeRows(rows: readonly StagedRow[]): StagedContent {
  const tree = createMerkleBuilder()
  let data_bytes = 0
  for (const row of rows) {
    tree.addHash(row.key, computeContentHash(row))
    data_bytes += Buffer.byteLength(row.text ?? '')
  }
  const built = tree.finish()
  return { content_hash: built.root, entry_count: rows.length, data_bytes, filled: {}, tree: toTreeSource(built) }
}
