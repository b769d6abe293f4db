/** Queries of source contracts beside those of every kind of definition. */
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'

export const activityQuery = queryOptions({
  queryKey: ['definitions', 'contract', 'activity'],
  queryFn: ({ signal }) => probity.GET('/api/source-contracts/activity', { signal }),
  refetchInterval: 30_000,
  throwOnError: false,
})

export const lineageQuery = (contract_key: string) =>
  queryOptions({
    queryKey: ['definitions', 'contract', 'lineage', contract_key],
    queryFn: ({ signal }) =>
      probity.GET('/api/source-contracts/{contract_key}/lineage', { params: { path: { contract_key } }, signal }),
  })

/** The first page, which also has the windows and the groups of violations. */
export const driftQuery = (contract_key: string) =>
  queryOptions({
    queryKey: ['definitions', 'contract', 'drift', contract_key],
    queryFn: ({ signal }) =>
      probity.GET('/api/source-contracts/{contract_key}/drift', {
        params: { path: { contract_key }, query: { limit: 200 } },
        signal,
      }),
  })

export const quarantineItemQuery = (payload_id: string) =>
  queryOptions({
    queryKey: ['quarantine', 'item', payload_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/source-contracts/quarantine/{payload_id}', { params: { path: { payload_id } }, signal }),
    // Opening a payload is recorded; it is not read again without need.
    staleTime: 60_000,
  })
