/** Counts what a delta would change while it is read: its keys are compared with the base, and nothing is staged. */
import type { Tx } from '#kernel/database/tx.ts'
import type { versionStore } from '#modules/definitions/index.ts'
import type { RemovalMarkerOptions } from '#registry/import/removal-marker.ts'

import { listHashesByKey } from './queries.ts'
import { type DeltaRequest, normaliseStatedKeys } from './request.ts'

type Read = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

export interface DeltaComparison {
  readonly marker: RemovalMarkerOptions | null
  /** Keys with the hash of their entry; null where the row removes the key. */
  compare(keys: readonly (readonly [string, string | null])[]): Promise<void>
  finish(is_whole: boolean): Promise<DeltaPreview>
}

export interface DeltaPreview {
  readonly base_version: number
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly unchanged_rows: number
  readonly unmatched_removals: number
  /** Null when the file was not read to the end. */
  readonly untouched: number | null
}

export function createDeltaComparison(
  read: Read,
  base: versionStore.VersionRow,
  delta: DeltaRequest,
  type: { readonly key_pointers: readonly string[] },
): DeltaComparison {
  const counts = { added: 0, changed: 0, removed: 0, unchanged_rows: 0, unmatched_removals: 0 }
  const stated = new Set(normaliseStatedKeys(delta, type))
  const compare: DeltaComparison['compare'] = async (keys) => {
    const hashes = await read((tx) =>
      listHashesByKey(
        tx,
        base,
        keys.map(([key]) => key),
      ),
    )
    const known = new Map(hashes.map(({ key, hash }) => [key, hash.toString('hex')]))
    for (const [key, hash] of keys) {
      const before = known.get(key)
      if (hash === null) {
        stated.delete(key)
        if (before === undefined) counts.unmatched_removals++
        else counts.removed++
      } else if (before === undefined) counts.added++
      else if (before === hash) counts.unchanged_rows++
      else counts.changed++
    }
  }
  return {
    marker: delta.removed.marker,
    compare,
    async finish(is_whole) {
      await compare([...stated].map((key) => [key, null]))
      const untouched = is_whole ? base.entry_count - counts.changed - counts.removed : null
      return { base_version: base.version, ...counts, untouched }
    },
  }
}
