/** One search over all kinds of objects that the caller may read. */
import { everyone } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { parseSearch } from './parse-query.ts'
import { listReadableSources, runSearch, type SearchGroup } from './run-search.ts'
import { SearchQuery, SearchResult } from './schema.ts'

const DEFAULT_COUNT = 5

export const searchRoutes = [
  tenantRoute('GET /search', {
    id: 'listSearchResults',
    summary: 'Find subjects, lists and their entries, decisions and other objects by id, key or name',
    description:
      'Searches each kind of object that the caller may read, and returns at most `limit` items of each, best match first. Change ' +
      'requests, batches and jobs are found by words among the newest hundred, older ones by id.',
    roles: everyone,
    tx: 'read',
    uses: ['modules', 'routes', 'caches'],
    query: SearchQuery,
    reply: [200, SearchResult],
  }).handle(async ({ tx, query, actor, kernel }) => {
    const { caches, routes } = kernel
    const terms = parseSearch(query.q)
    const readable = listReadableSources(kernel, actor.roles)
    const wanted = query.kinds?.split(',')
    const sources = readable.filter(({ kind }) => !wanted || wanted.includes(kind))
    const count = query.limit ?? DEFAULT_COUNT
    const groups = await runSearch(sources, { tx, terms, count, actor, caches, routes })
    return {
      searched_names: terms.has_words,
      kinds: readable.map(({ kind, title }) => ({ kind, title })),
      groups: groups.map(toGroupView),
    }
  }),
]

const toGroupView = ({ items, ...group }: SearchGroup) => ({ ...group, items: [...items] })
