/** For tests: lists as a decision sees them, made from plain entries. */

import type { BoundList, BoundLists, ListEntry } from '#decision/model.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { entryHash } from '#registry/content/hashes.ts'

/** Keys to entries, in the order of the keys. */
export function buildList(list_key: string, entries: Readonly<Record<string, Record<string, unknown>>>): BoundList {
  const all = Object.keys(entries)
    .sort()
    .map((key): ListEntry => {
      const entry = entries[key] as Record<string, unknown>
      return { key, entry, hash: entryHash(canonicalJson(entry)) }
    })
  const byKey = new Map(all.map((entry) => [entry.key, entry]))
  const content_hash = entryHash(canonicalJson(entries))
  return { list_key, version: 1, content_hash, overlay_hash: null, get: (key) => byKey.get(key), all }
}

export const buildLists = (...lists: readonly BoundList[]): BoundLists =>
  new Map(lists.map((list) => [list.list_key, list]))
