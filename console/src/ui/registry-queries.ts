/** Queries about lists and types that several areas use. */
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { type Origin, type OwnedVersion, toDiffParams, toOriginParams } from './origin.ts'
import { readFile } from './read-file.ts'

export type Dataset = Schemas['Dataset']
export type DatasetType = Schemas['DatasetType']
/** One entry of a list, described by its type. */
export type Entry = Readonly<Record<string, unknown>>

const MAX_LISTS = 2000

/** All lists the tenant can see. There are tens of them, which are searched in the browser. */
export const datasetsQuery = queryOptions({
  queryKey: ['datasets', 'all'],
  queryFn: async ({ signal }) => {
    const datasets: Dataset[] = []
    const query = { limit: 200 }
    for await (const dataset of probity.paginate('/api/reference-data/datasets', { params: { query }, signal })) {
      if (datasets.push(dataset) >= MAX_LISTS) break
    }
    return datasets
  },
})

/** Without an owner, the list in force is returned if there is one. */
export const datasetQuery = (list_key: string, origin?: Origin) =>
  queryOptions({
    queryKey: ['datasets', 'one', list_key, origin],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/datasets/{list_key}', {
        params: { path: { list_key }, query: toOriginParams(origin) },
        signal,
      }),
  })

/** The version in force under a key, of either owner. */
export const getActiveListVersion = ({ active, origin }: Pick<Dataset, 'active' | 'origin'>): OwnedVersion | null =>
  active && { version: active.version, origin }

export const typeQuery = (type_key: string) =>
  queryOptions({
    queryKey: ['types', 'one', type_key],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/types/{type_key}', { params: { path: { type_key } }, signal }),
    staleTime: 300_000,
  })

const typesQuery = queryOptions({
  queryKey: ['types', 'all'],
  queryFn: async ({ signal }) => {
    const types: DatasetType[] = []
    const query = { limit: 100 }
    for await (const type of probity.paginate('/api/reference-data/types', { params: { query }, signal }))
      types.push(type)
    return types
  },
  staleTime: 300_000,
  throwOnError: false,
})

/** Titles of types by key; of two types with one key, that of the tenant. */
export function useTypeTitles(): ReadonlyMap<string, string> {
  const { data = [] } = useQuery(typesQuery)
  const ownLast = data.toSorted((one, other) => Number(one.origin === 'own') - Number(other.origin === 'own'))
  return new Map(ownLast.map(({ type_key, title }) => [type_key, title]))
}

/** The difference between two versions: its counts and its first entries. */
export const differenceQuery = (list_key: string, from: OwnedVersion, to: OwnedVersion) =>
  queryOptions({
    queryKey: ['datasets', 'difference', list_key, from, to],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/datasets/{list_key}/diff', {
        params: { path: { list_key }, query: { ...toDiffParams(from, to), limit: 5 } },
        signal,
      }),
    // Versions never change, so neither does a difference whose summary is complete.
    staleTime: ({ state }) => (state.data?.summary_state === 'complete' ? Number.POSITIVE_INFINITY : 0),
  })

export const exportFormats = ['json', 'ndjson', 'csv', 'xlsx'] as const
export type ExportFormat = (typeof exportFormats)[number]

export const readExport = (list_key: string, { version, origin }: OwnedVersion, format: ExportFormat): Promise<Blob> =>
  readFile(
    probity.raw.GET('/api/reference-data/datasets/{list_key}/versions/{version}/export', {
      params: { path: { list_key, version: String(version) }, query: { origin, format } },
      headers: { accept: '*/*' },
      parseAs: 'blob',
    }),
  )
