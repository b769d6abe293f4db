/** Finds entries of the lists in force by their key and by words of any of their fields. */

import { Problem } from '#kernel/problem.ts'
import { type Match, rankHits, type SearchContext, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { definitionSearch, resolver, versionStore } from '#modules/definitions/index.ts'
import type { Entry } from '#registry/adapter.ts'
import { MIN_TREE_ENTRIES } from '#registry/content/stored-tree.ts'
import { matchName } from '#registry/search/match-name.ts'
import { iterateTexts, parseQueryWords } from '#registry/search/search-words.ts'
import { entryWords, findKeys, type ListVersion, readEntryWords } from './entry-words.ts'
import { searchEntries } from './find-entries.ts'
import { findIndexedVersion } from './queries.ts'

/** Lists that one search looks at. */
const MAX_LISTS = 500
/** Matches per list from which the best are chosen. */
const RANKED_PER_LIST = 20
/** A list with few but very large entries is not read whole for a search. */
const MAX_SHORT_LIST_BYTES = 8 * 1024 * 1024
/** Entries whose content is read. */
const MAX_ENTRIES = 60

interface ListInForce {
  readonly pointer: resolver.ListPointer
  readonly title: string
}

async function listInForce(context: SearchContext): Promise<ListInForce[]> {
  const { tx } = context
  const [lists, epochs] = await Promise.all([definitionSearch.listLiveListKeys(tx, MAX_LISTS), resolver.findEpochs(tx)])
  const list_keys = lists.map(({ list_key }) => list_key)
  const pointers = await resolver.findListsInForce(context, tx, list_keys, epochs)
  return lists.flatMap(({ list_key, title }) => {
    const pointer = pointers.get(list_key)
    return pointer ? [{ pointer, title }] : []
  })
}

const getBase = ({ pointer }: ListInForce): ListVersion => ({
  tenant_id: pointer.dataset_tenant_id,
  dataset_id: pointer.dataset_id,
  version: pointer.version,
})

/** A list whose stored content no longer fits its hash is left out: the others can still be searched. */
async function omitIfCorrupt<T>(found: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await found
  } catch (error) {
    if (error instanceof Problem && error.code === 'content_corrupt') return otherwise
    throw error
  }
}

interface EntryTerms {
  readonly words: readonly string[]
  /** Keys are case-sensitive, and people type either case. */
  readonly spellings: readonly string[]
}

async function findInShortList(
  { tx, caches }: SearchContext,
  version: ListVersion,
  hash: string,
  { words, spellings }: EntryTerms,
): Promise<string[]> {
  const cache = caches.get(entryWords)
  const key = `${version.tenant_id}:${version.dataset_id}:${version.version}:${hash}`
  let known = cache.get(key)
  if (!known) {
    known = await readEntryWords(tx, version)
    cache.set(key, known)
  }
  const exact = known.keys.filter((one) => spellings.includes(one))
  return words.length === 0 ? exact : [...exact, ...findKeys(known, words, RANKED_PER_LIST)]
}

/** Undefined: the list cannot be searched by words yet, because its index is being built. */
async function findInLongList(
  { tx }: SearchContext,
  version: ListVersion,
  { words }: EntryTerms,
): Promise<string[] | undefined> {
  if (words.length === 0) return []
  const [indexed, row] = await Promise.all([
    findIndexedVersion(tx, version),
    versionStore.findVersion(tx, version, version.version),
  ])
  if (!row || indexed < version.version) return undefined
  const search = { version: row, words, key_prefix: '', after: '', count: RANKED_PER_LIST }
  return (await searchEntries(tx, search)).rows.map(({ key }) => key)
}

/** Keys that may match, of the version in force and of the tenant's overlay of it. */
async function findCandidates(context: SearchContext, list: ListInForce, terms: EntryTerms) {
  const { pointer } = list
  const isLong = pointer.entry_count >= MIN_TREE_ENTRIES
  const isReadable = pointer.data_bytes <= MAX_SHORT_LIST_BYTES
  const overlay = pointer.overlay_version !== null && {
    tenant_id: context.tx.tenant_id,
    dataset_id: pointer.overlay_dataset_id as string,
    version: pointer.overlay_version,
  }
  const findInBase = () => {
    if (isLong) return findInLongList(context, getBase(list), terms)
    return isReadable ? findInShortList(context, getBase(list), pointer.content_hash, terms) : undefined
  }
  const [base, overlaid] = await Promise.all([
    findInBase(),
    overlay ? findInShortList(context, overlay, pointer.overlay_hash ?? '', terms) : [],
  ])
  const found = [...new Set([...overlaid, ...(base ?? [])])]
  // The key itself is looked up in a list that is not in memory.
  const keys = isLong ? [...new Set([...terms.spellings, ...found])] : found
  return { list, keys, is_complete: base !== undefined && found.length < RANKED_PER_LIST }
}

/** Entries by key as the tenant sees them. Only an overlay needs the resolver, which caches whole lists for decisions. */
async function readEntries(context: SearchContext, list: ListInForce, keys: readonly string[]) {
  if (keys.length === 0) return new Map<string, Entry>()
  if (list.pointer.overlay_version !== null) {
    return resolver.lookUpEntries(context, context.tx, list.pointer, keys)
  }
  const rows = await versionStore.listEntriesByKey(context.tx, getBase(list), keys)
  return new Map(rows.map((row) => [row.key, versionStore.parseEntry(row)]))
}

/** The field that names an entry, or its first text. */
function getTitle(entry: Entry, key: string): string {
  const members = entry as Readonly<Record<string, unknown>>
  for (const member of ['name', 'title', 'label', 'legal_name', 'description']) {
    const value = members[member]
    if (typeof value === 'string' && value !== '') return value.slice(0, 200)
  }
  const [first = key] = iterateTexts(entry)
  return first.slice(0, 200)
}

function toHit({ pointer, title }: ListInForce, key: string, entry: Entry, text: string): SearchHit {
  const name = getTitle(entry, key)
  const matched: Match = key.toLowerCase() === text.toLowerCase() ? 'key' : (matchName(name, text) ?? 'words')
  return {
    id: key,
    list_key: pointer.list_key,
    version: pointer.version,
    title: name,
    subtitle: `Entry of ${title}, key ${key}`,
    matched,
  }
}

export const entrySource: SearchSource = {
  kind: 'entry',
  title: 'List entries',
  operation: 'listDatasetEntries',
  find: async (context) => {
    const { terms, count } = context
    const { text } = terms
    const entryTerms = {
      words: terms.has_words ? parseQueryWords(text) : [],
      spellings: [...new Set([text, text.toUpperCase(), text.toLowerCase()])],
    }
    const lists = await listInForce(context)
    const candidates = await Promise.all(
      lists.map((list) =>
        omitIfCorrupt(findCandidates(context, list, entryTerms), { list, keys: [], is_complete: false }),
      ),
    )
    let left = MAX_ENTRIES
    const read = candidates.map(async ({ list, keys }) => {
      const some = keys.slice(0, Math.max(0, left))
      left -= some.length
      const found = await omitIfCorrupt(readEntries(context, list, some), new Map())
      return [...found].map(([key, entry]) => toHit(list, key, entry, text))
    })
    const hits = (await Promise.all(read)).flat()
    const is_complete = left > 0 && candidates.every((candidate) => candidate.is_complete)
    return { hits: rankHits(hits, count), is_complete }
  },
}
