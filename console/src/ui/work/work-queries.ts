/** Queues of the user's work. */
import type { Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'

export type WorkQueue = Schemas['WorkQueue']

export const REFETCH_MS = 15_000

export const queuesQuery = queryOptions({
  queryKey: ['work', 'queues'],
  queryFn: ({ signal }) => probity.GET('/api/work/queues', { signal }),
  refetchInterval: REFETCH_MS,
})
