/** Finds entries of the lists in force by their key and by words of any of their fields. */
import type { Tx } from '#kernel/database/tx.ts'
import {
  type Match,
  nothingFound,
  rankHits,
  type SearchContext,
  type SearchHit,
  type SearchSource,
} from '#kernel/search/source.ts'
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
  readonly pointer: resolver.VersionPointer
  readonly title: string
}

async function listInForce(tx: Tx): Promise<ListInForce[]> {
  const lists = await definitionSearch.listLiveListKeys(tx, MAX_LISTS)
  const pointers = await resolver.findPointersInForce(
    tx,
    lists.map(({ list_key }) => list_key),
    {},
  )
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

async function findInShortList(
  { tx, caches }: SearchContext,
  version: ListVersion,
  hash: string,
  words: readonly string[],
): Promise<string[]> {
  const cache = caches.get(entryWords)
  const key = `${version.tenant_id}:${version.dataset_id}:${version.version}:${hash}`
  const known = cache.get(key) ?? (await readEntryWords(tx, version))
  cache.set(key, known)
  return findKeys(known, words, RANKED_PER_LIST)
}

/** Undefined: the list cannot be searched yet, because its index is being built. */
async function findInLongList(
  { tx }: SearchContext,
  version: ListVersion,
  words: readonly string[],
): Promise<string[] | undefined> {
  if ((await findIndexedVersion(tx, version)) < version.version) return undefined
  const row = await versionStore.findVersion(tx, version, version.version)
  if (!row) return []
  const search = { version: row, words, key_prefix: '', after: '', count: RANKED_PER_LIST }
  return (await searchEntries(tx, search)).rows.map(({ key }) => key)
}

/** Keys that may match, of the version in force and of the tenant's overlay of it. */
async function findCandidates(context: SearchContext, list: ListInForce, words: readonly string[]) {
  const { pointer } = list
  const isLong = pointer.entry_count >= MIN_TREE_ENTRIES
  const isReadable = isLong || pointer.data_bytes <= MAX_SHORT_LIST_BYTES
  const overlay = pointer.overlay_version !== null && {
    tenant_id: context.tx.tenant_id,
    dataset_id: pointer.overlay_dataset_id as string,
    version: pointer.overlay_version,
  }
  const [base, overlaid] = await Promise.all([
    isLong
      ? findInLongList(context, getBase(list), words)
      : isReadable
        ? findInShortList(context, getBase(list), pointer.content_hash, words)
        : undefined,
    overlay ? findInShortList(context, overlay, pointer.overlay_hash ?? '', words) : [],
  ])
  const keys = [...new Set([...overlaid, ...(base ?? [])])]
  return { list, keys, is_complete: base !== undefined && keys.length < RANKED_PER_LIST }
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
    const { tx, terms, count } = context
    const lists = await listInForce(tx)
    const words = terms.has_words ? parseQueryWords(terms.text) : []
    const spellings = [...new Set([terms.text, terms.text.toUpperCase(), terms.text.toLowerCase()])]
    if (words.length === 0 && !terms.text) return nothingFound
    const candidates = await Promise.all(
      lists.map((list) =>
        words.length === 0 ? { list, keys: [], is_complete: true } : findCandidates(context, list, words),
      ),
    )
    let left = MAX_ENTRIES
    const read = candidates.map(async ({ list, keys }) => {
      const some = keys.slice(0, Math.max(0, left))
      left -= some.length
      const found = await resolver.lookUpEntries(context, tx, list.pointer, [...new Set([...spellings, ...some])])
      return [...found].map(([key, entry]) => toHit(list, key, entry, terms.text))
    })
    const hits = (await Promise.all(read)).flat()
    return { hits: rankHits(hits, count), is_complete: candidates.every(({ is_complete }) => is_complete) && left >= 0 }
  },
}
