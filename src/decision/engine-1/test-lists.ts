/** For tests: lists as a decision sees them, made from plain entries. */
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { entryHash } from '../../registry/content/hashes.ts'
import type { BoundList, ListEntry, Lists } from '../model.ts'

/** Keys to entries, in the order of the keys. */
export function listOf(list_key: string, entries: Readonly<Record<string, Record<string, unknown>>>): BoundList {
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

export const listsOf = (...lists: readonly BoundList[]): Lists => new Map(lists.map((list) => [list.list_key, list]))
