/** Questions about lists and their types that several areas ask. */
import { problemFromResponse, type Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { type Origin, type OwnedVersion, toDiffParams, toOriginParams } from './origin.ts'

export type Dataset = Schemas['Dataset']
export type DatasetType = Schemas['DatasetType']
/** One entry of a list; its type says what is in it. */
export type Entry = Readonly<Record<string, unknown>>

const MAX_LISTS = 2000

/** All lists the tenant can see. There are tens of them, so they are read once and searched on the screen. */
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

/** Without an owner, the one in force where there is one. */
export const datasetQuery = (list_key: string, origin?: Origin) =>
  queryOptions({
    queryKey: ['datasets', 'one', list_key, origin],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/datasets/{list_key}', {
        params: { path: { list_key }, query: toOriginParams(origin) },
        signal,
      }),
  })

/** What governs now under a key, whoever it is of. */
export const getActiveListVersion = ({ active, origin }: Pick<Dataset, 'active' | 'origin'>): OwnedVersion | null =>
  active && { version: active.version, origin }

export const typeQuery = (type_key: string) =>
  queryOptions({
    queryKey: ['types', 'one', type_key],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/types/{type_key}', { params: { path: { type_key } }, signal }),
    staleTime: 300_000,
  })

/** The difference between two versions: its counts and its first entries. */
export const differenceQuery = (list_key: string, from: OwnedVersion, to: OwnedVersion) =>
  queryOptions({
    queryKey: ['datasets', 'difference', list_key, from, to],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/datasets/{list_key}/diff', {
        params: { path: { list_key }, query: { ...toDiffParams(from, to), limit: 5 } },
        signal,
      }),
    // Versions never change, so neither does what lies between two of them once all of it is counted.
    staleTime: ({ state }) => (state.data?.summary_state === 'complete' ? Number.POSITIVE_INFINITY : 0),
  })

export const exportFormats = ['json', 'ndjson', 'csv', 'xlsx'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** A download needs the token, which a plain link does not send. */
export async function readExport(
  list_key: string,
  { version, origin }: OwnedVersion,
  format: ExportFormat,
): Promise<Blob> {
  const { data, error, response } = await probity.raw.GET(
    '/api/reference-data/datasets/{list_key}/versions/{version}/export',
    {
      params: { path: { list_key, version: String(version) }, query: { origin, format } },
      headers: { accept: '*/*' },
      parseAs: 'blob',
    },
  )
  if (data === undefined) throw problemFromResponse(response, error)
  return data as unknown as Blob
}
