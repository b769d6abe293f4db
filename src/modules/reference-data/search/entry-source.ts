/** Finds entries of the lists in force by their key and by words of any of their fields. */

import { Problem } from '#kernel/problem.ts'
import { type Match, rankHits, type SearchContext, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { definitionSearch, resolver, versionStore } from '#modules/definitions/index.ts'
import type { Entry } from '#registry/adapter.ts'
import { MIN_TREE_ENTRIES } from '#registry/content/stored-tree.ts'
import { matchName } from '#registry/search/match-name.ts'
import { parseQueryWords } from '#registry/search/search-words.ts'
import { entryWords, findEntriesByWords, getEntryTitle, type ListVersion, readEntryWords } from './entry-words.ts'
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

/** An entry that may match. Without a title its content is read. */
interface EntryCandidate {
  readonly key: string
  readonly title?: string
}

async function findInShortList(
  { tx, caches }: SearchContext,
  version: ListVersion,
  hash: string,
  { words, spellings }: EntryTerms,
): Promise<EntryCandidate[]> {
  const cache = caches.get(entryWords)
  const cacheKey = `${version.tenant_id}:${version.dataset_id}:${version.version}:${hash}`
  let known = cache.get(cacheKey)
  if (!known) {
    known = await readEntryWords(tx, version)
    cache.set(cacheKey, known)
  }
  const { keys, titles } = known
  const exact = spellings.map((spelling) => keys.indexOf(spelling)).filter((entry) => entry >= 0)
  const found = new Set([...exact, ...findEntriesByWords(known, words, RANKED_PER_LIST)])
  return [...found].map((entry) => ({ key: keys[entry] as string, title: titles[entry] as string }))
}

/** Undefined: the list cannot be searched by words yet, because its index is being built. */
async function findInLongList(
  { tx }: SearchContext,
  version: ListVersion,
  { words }: EntryTerms,
): Promise<EntryCandidate[] | undefined> {
  if (words.length === 0) return []
  const [indexed, row] = await Promise.all([
    findIndexedVersion(tx, version),
    versionStore.findVersion(tx, version, version.version),
  ])
  if (!row || indexed < version.version) return undefined
  const search = { version: row, words, key_prefix: '', after: '', count: RANKED_PER_LIST }
  return (await searchEntries(tx, search)).rows.map(({ key }) => ({ key }))
}

/** Entries that may match, of the version in force and of the tenant's overlay of it. */
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
  const found = new Map([...overlaid, ...(base ?? [])].map((candidate) => [candidate.key, candidate]))
  // The key itself is looked up in a list that is not in memory.
  const looked = isLong ? terms.spellings.filter((key) => !found.has(key)).map((key) => ({ key })) : []
  const candidates: EntryCandidate[] = [...looked, ...found.values()]
  return { list, candidates, is_complete: base !== undefined && found.size < RANKED_PER_LIST }
}

/**
 * Titles by key, as the tenant sees the entries. Titles of short lists are known. Only an overlay needs the resolver, which caches whole
 * lists for decisions.
 */
async function readTitles(context: SearchContext, list: ListInForce, candidates: readonly EntryCandidate[]) {
  const toTitles = (entries: Iterable<readonly [string, Entry]>) =>
    new Map(Array.from(entries, ([key, entry]) => [key, getEntryTitle(entry, key)]))
  const keys = candidates.map(({ key }) => key)
  if (keys.length > 0 && list.pointer.overlay_version !== null) {
    return toTitles(await resolver.lookUpEntries(context, context.tx, list.pointer, keys))
  }
  if (candidates.every(({ title }) => title !== undefined)) {
    return new Map(candidates.map(({ key, title }) => [key, title ?? key]))
  }
  const rows = await versionStore.listEntriesByKey(context.tx, getBase(list), keys)
  return toTitles(rows.map((row) => [row.key, versionStore.parseEntry(row)] as const))
}

function toHit({ pointer, title }: ListInForce, key: string, name: string, text: string): SearchHit {
  const matched: Match = key.toLowerCase() === text.toLowerCase() ? 'key' : (matchName(name, text) ?? 'words')
  return {
    id: key,
    list_key: pointer.list_key,
    version: pointer.version,
    title: name,
    subtitle: `Entry of ${title}, key ${key}`,
    matched,
    restriction_id: null,
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
    const searched = await Promise.all(
      lists.map((list) =>
        omitIfCorrupt(findCandidates(context, list, entryTerms), {
          list,
          candidates: [],
          is_complete: false,
        }),
      ),
    )
    let left = MAX_ENTRIES
    const read = searched.map(async ({ list, candidates }) => {
      const some = candidates.slice(0, Math.max(0, left))
      left -= some.length
      const titles = await omitIfCorrupt(readTitles(context, list, some), new Map<string, string>())
      return [...titles].map(([key, title]) => toHit(list, key, title, text))
    })
    const hits = (await Promise.all(read)).flat()
    const is_complete = left > 0 && searched.every((one) => one.is_complete)
    return { hits: rankHits(hits, count), is_complete }
  },
}
