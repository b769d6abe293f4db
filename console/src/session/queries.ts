/** The query client: caching, retries, and ending the session when a request is unauthorized. */
import { isProblem, type OperationId } from '@probity/client'
import { MutationCache, QueryCache, QueryClient, queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { probity } from './client.ts'
import { endSession, onUserChange } from './session.ts'

function endOnUnauthorized(error: unknown): void {
  if (isProblem(error) && error.status === 401) endSession(error)
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: endOnUnauthorized }),
  mutationCache: new MutationCache({ onError: endOnUnauthorized }),
  defaultOptions: {
    queries: {
      // The API client retries.
      retry: false,
      staleTime: 10_000,
      // A failed first load shows the error page; a failed refresh keeps the data on the screen.
      throwOnError: (_error, query) => query.state.data === undefined,
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

// Cached data of one user must not be visible to the next.
onUserChange(() => queries.clear())

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => probity.GET('/api/auth/me', { signal }),
  staleTime: 60_000,
})

export function useMe() {
  const { data } = useSuspenseQuery(meQuery)
  return data
}

/** Whether the user may call an operation. */
export function usePermission(): (operation: OperationId) => boolean {
  const { operations } = useMe()
  return (operation) => operations.includes(operation)
}
