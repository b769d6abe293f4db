/** Finds types by key and words of the title. */
import { rankHits, type SearchSource } from '#kernel/search/source.ts'
import { definitionSearch } from '#modules/definitions/index.ts'

/** Rows from which the best are chosen. */
const RANKED = 30

export const typeSource: SearchSource = {
  kind: 'type',
  title: 'Types',
  operation: 'getDatasetType',
  find: async ({ tx, terms: { text }, count }) => {
    const rows = await definitionSearch.listTypesByName(tx, text, RANKED)
    const hits = rows.map(({ type_key, title, type_version, origin }) => ({
      id: type_key,
      title,
      subtitle: `Type of list entries, key ${type_key}, version ${type_version}${origin === 'shared' ? ', shared' : ''}`,
      matched: definitionSearch.matchTitled(type_key, title, text),
    }))
    return { hits: rankHits(hits, count), is_complete: rows.length < RANKED }
  },
}
