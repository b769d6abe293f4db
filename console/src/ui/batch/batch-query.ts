/** Reads one batch, again and again while it is decided. */
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { isOngoing } from './batch-state.ts'

export const batchQuery = (batch_id: string) =>
  queryOptions({
    queryKey: ['batches', 'one', batch_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/batch-evaluations/{batch_id}', { params: { path: { batch_id } }, signal }),
    refetchInterval: ({ state }) => (state.data && isOngoing(state.data) ? 1000 : false),
  })
