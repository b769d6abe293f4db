/**
 * Words of the entries of a short list, cached by content: long lists have an index in the database, and reading every short list for
 * each search would be slow. Content never changes under its hash, and shared lists are cached once for all tenants.
 */
import { declareCache } from '#kernel/cache/caches.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { versionStore } from '#modules/definitions/index.ts'
import { collectEntryWords } from '#registry/search/search-words.ts'

const CACHE_BYTES = 48 * 1024 * 1024
const BATCH = 2000

export interface EntryWords {
  readonly keys: readonly string[]
  /** The words of each entry, each after a space. */
  readonly texts: readonly string[]
  readonly bytes: number
}

export const entryWords = declareCache<EntryWords>({
  name: 'list_entry_words',
  summary: 'Words of the entries of short lists, for search.',
  bound: { max_bytes: CACHE_BYTES, sizeOf: ({ bytes }) => bytes + 200 },
})

export interface ListVersion {
  readonly tenant_id: string
  readonly dataset_id: string
  readonly version: number
}

/** Reads the version once; entries that an overlay removes have no text and no words. */
export async function readEntryWords(tx: Tx, version: ListVersion): Promise<EntryWords> {
  const keys: string[] = []
  const texts: string[] = []
  let bytes = 0
  let after: string | null = null
  for (;;) {
    const rows: versionStore.EntryRow[] = await versionStore.listEntries(tx, version, after, BATCH)
    for (const row of rows) {
      const text = row.data === null ? '' : ` ${[...collectEntryWords(versionStore.parseEntry(row))].join(' ')}`
      keys.push(row.key)
      texts.push(text)
      bytes += 2 * (row.key.length + text.length) + 64
    }
    if (rows.length < BATCH) return { keys, texts, bytes }
    after = rows.at(-1)?.key ?? null
  }
}

/** Keys of the entries that have a word with each prefix, at most `count`. */
export function findKeys({ keys, texts }: EntryWords, prefixes: readonly string[], count: number): string[] {
  const found: string[] = []
  const wanted = prefixes.map((prefix) => ` ${prefix}`)
  for (const [n, text] of texts.entries()) {
    if (!wanted.every((prefix) => text.includes(prefix))) continue
    found.push(keys[n] as string)
    if (found.length === count) break
  }
  return found
}
