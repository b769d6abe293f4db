/** How answers are kept and asked for again, and what is the same for every question: an ended session is noticed here. */
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
      // The client repeats what is worth repeating.
      retry: false,
      staleTime: 10_000,
      // A first failure becomes the page; a later one leaves what is known on the screen.
      throwOnError: (_error, query) => query.state.data === undefined,
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

// What one person saw must not be there for the next.
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

/** Whether this person may call an operation, by its operationId. */
export function usePermission(): (operation: OperationId) => boolean {
  const { operations } = useMe()
  return (operation) => operations.includes(operation)
}
