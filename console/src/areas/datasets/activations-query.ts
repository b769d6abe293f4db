/** The timeline of a list: what was said about it, and what governed between which instants. */
import { queryOptions } from '@tanstack/react-query'
import { probity } from '../../session/client.ts'

export type Scope = 'own' | 'shared'

export const activationsQuery = (list_key: string, scope: Scope) =>
  queryOptions({
    queryKey: ['datasets', 'activations', list_key, scope],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/datasets/{list_key}/activations', {
        params: { path: { list_key }, query: { scope, limit: 200 } },
        signal,
      }),
  })
