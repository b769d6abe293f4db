/** How many alerts a part of the inbox holds, counted up to a limit. */
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { REFETCH_MS } from '#console/ui/work/work-queries.ts'

const MAX_COUNTED = 100

export interface AlertCount {
  readonly count: number
  /** There are more than were counted. */
  readonly hasMore: boolean
}

/** Undefined until it is known. */
export function useAlertCount(part: 'open' | 'proposed'): AlertCount | undefined {
  const { data } = useQuery({
    queryKey: ['alerts', 'count', part],
    queryFn: ({ signal }) =>
      probity.GET('/api/alerts', {
        params: {
          query: { limit: MAX_COUNTED, sort: 'urgent', ...(part === 'proposed' && { dismissal: 'proposed' as const }) },
        },
        signal,
      }),
    refetchInterval: REFETCH_MS,
    throwOnError: false,
  })
  return data && { count: data.items.length, hasMore: data.next_cursor !== null }
}
