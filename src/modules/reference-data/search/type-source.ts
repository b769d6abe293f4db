/** Finds types by key and words of the title. */
import { MAX_NAMED_OBJECTS, nothingFound, rankHits, type SearchSource } from '#kernel/search/source.ts'
import { definitionSearch } from '#modules/definitions/index.ts'

export const typeSource: SearchSource = {
  kind: 'type',
  title: 'Types',
  operation: 'getDatasetType',
  find: async ({ tx, terms: { text }, count, findNamedObjects }) => {
    const named = await findNamedObjects('type')
    if (named.length === 0) return nothingFound
    const rows = await definitionSearch.listFoundTypes(tx, named)
    const hits = rows.map(({ type_key, title, type_version, origin }) => ({
      id: type_key,
      title,
      subtitle: `Type of list entries, key ${type_key}, version ${type_version}${origin === 'shared' ? ', shared' : ''}`,
      matched: definitionSearch.matchTitled(type_key, title, text),
      restriction_id: null,
    }))
    return { hits: rankHits(hits, count), is_complete: named.length < MAX_NAMED_OBJECTS }
  },
}
