/**
 * Words and titles of the entries of a short list, cached by content: long lists have an index in the database, and reading every short
 * list for each search would be slow. Content never changes under its hash, and shared lists are cached once for all tenants.
 */
import { declareCache } from '#kernel/cache/caches.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { versionStore } from '#modules/definitions/index.ts'
import type { Entry } from '#registry/adapter.ts'
import { collectEntryWords, iterateTexts } from '#registry/search/search-words.ts'

const CACHE_BYTES = 48 * 1024 * 1024
const BATCH = 2000
const MAX_TITLE_CHARS = 200

export interface EntryWords {
  readonly keys: readonly string[]
  readonly titles: readonly string[]
  /** The words of all entries, one entry after the other, each word after a space. */
  readonly text: string
  /** Where the words of each entry start. */
  readonly starts: readonly number[]
  readonly bytes: number
}

export const entryWords = declareCache<EntryWords>({
  name: 'list_entry_words',
  summary: 'Words and titles of the entries of short lists, for search.',
  bound: { max_bytes: CACHE_BYTES, sizeOf: ({ bytes }) => bytes + 200 },
})

export interface ListVersion {
  readonly tenant_id: string
  readonly dataset_id: string
  readonly version: number
}

/** The field that names an entry, or its first text. */
export function getEntryTitle(entry: Entry, key: string): string {
  const members = entry as Readonly<Record<string, unknown>>
  for (const member of ['name', 'title', 'label', 'legal_name', 'description']) {
    const value = members[member]
    if (typeof value === 'string' && value !== '') return value.slice(0, MAX_TITLE_CHARS)
  }
  const [first = key] = iterateTexts(entry)
  return first.slice(0, MAX_TITLE_CHARS)
}

/** Reads the version once; entries that an overlay removes have no text and no words. */
export async function readEntryWords(tx: Tx, version: ListVersion): Promise<EntryWords> {
  const keys: string[] = []
  const titles: string[] = []
  const texts: string[] = []
  const starts: number[] = []
  let chars = 0
  let bytes = 0
  let after: string | null = null
  for (;;) {
    const rows: versionStore.EntryRow[] = await versionStore.listEntries(tx, version, after, BATCH)
    for (const row of rows) {
      const entry = row.data === null ? null : versionStore.parseEntry(row)
      const title = entry === null ? row.key : getEntryTitle(entry, row.key)
      const text = entry === null ? '' : ` ${[...collectEntryWords(entry)].join(' ')}`
      keys.push(row.key)
      titles.push(title)
      texts.push(text)
      starts.push(chars)
      chars += text.length
      bytes += 2 * (row.key.length + title.length + text.length) + 96
    }
    if (rows.length < BATCH) return { keys, titles, text: texts.join(''), starts, bytes }
    after = rows.at(-1)?.key ?? null
  }
}

/** The last entry that starts at the position or before it and has words. */
function findEntryAt(starts: readonly number[], position: number): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] as number) <= position) low = middle
    else high = middle - 1
  }
  return low
}

/** Positions of the entries that have a word with each prefix, at most `count`. */
export function findEntriesByWords({ text, starts }: EntryWords, prefixes: readonly string[], count: number): number[] {
  const found: number[] = []
  const [first, ...others] = prefixes.map((prefix) => ` ${prefix}`)
  if (first === undefined) return found
  for (let from = 0; found.length < count; ) {
    const position = text.indexOf(first, from)
    if (position < 0) break
    const entry = findEntryAt(starts, position)
    from = starts[entry + 1] ?? text.length
    const words = others.length === 0 ? '' : text.slice(starts[entry], from)
    if (others.every((other) => words.includes(other))) found.push(entry)
  }
  return found
}
