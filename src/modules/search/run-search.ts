/** Runs the sources that the caller may read, all in one transaction, and groups what they find. */
import type { Role } from '#kernel/auth/roles.ts'
import type { Module } from '#kernel/module.ts'
import type { Route } from '#kernel/route.ts'
import { matches, type SearchContext, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { batchQueries } from './batched-queries.ts'
import { createNameSearch } from './named-objects.ts'
import { configureSearch } from './queries.ts'

/** The longest that one statement of a search may run; a search gives up rather than slow others down. */
const STATEMENT_TIMEOUT_MS = 1000

/** The sources whose read operation one of the roles may call; what the business is about comes before users and jobs. */
export function listReadableSources(
  { modules, routes }: { readonly modules: readonly Module[]; readonly routes: readonly Route[] },
  held: readonly Role[],
): SearchSource[] {
  const isCallable = ({ operation }: SearchSource): boolean =>
    routes.find(({ id }) => id === operation)?.roles.some((role) => held.includes(role)) ?? false
  const domainFirst = [...modules].sort((a, b) => Number(b.tier === 'domain') - Number(a.tier === 'domain'))
  return domainFirst.flatMap(({ search }) => search?.sources ?? []).filter(isCallable)
}

export interface SearchGroup {
  readonly kind: string
  readonly title: string
  readonly items: readonly SearchHit[]
  readonly has_more: boolean
}

const getBestRank = ({ items }: SearchGroup): number => matches.indexOf(items[0]?.matched ?? 'words')

/** The group with the best match comes first; groups without a hit are left out. */
export async function runSearch(
  sources: readonly SearchSource[],
  request: Omit<SearchContext, 'findNamedObjects'>,
): Promise<SearchGroup[]> {
  const { text } = request.terms
  if (text === '' || sources.length === 0) return []
  const tx = batchQueries(request.tx)
  const context: SearchContext = { ...request, tx, findNamedObjects: createNameSearch(tx, text) }
  const [, ...findings] = await Promise.all([
    configureSearch(tx, STATEMENT_TIMEOUT_MS),
    ...sources.map((source) => source.find(context)),
  ])
  const groups = sources.flatMap(({ kind, title }, n) => {
    const { hits: found, is_complete } = findings[n] as Awaited<ReturnType<SearchSource['find']>>
    const hits = context.terms.has_words ? found : found.filter(({ matched }) => matched === 'id' || matched === 'key')
    if (hits.length === 0) return []
    return [{ kind, title, items: hits.slice(0, context.count), has_more: hits.length > context.count || !is_complete }]
  })
  return groups.sort((a, b) => getBestRank(a) - getBestRank(b))
}
