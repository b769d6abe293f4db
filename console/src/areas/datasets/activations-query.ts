/** Queries for the activations of a list and the versions in force over time. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useNow } from '#console/ui/date-time.tsx'
import { isPinned } from '#console/ui/pin.tsx'
import type { Dataset } from '#console/ui/registry-queries.ts'
import { isInForce } from '#console/ui/version-names.ts'

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

/** The pin of this tenant and the version the operator has in force. Disabled while nothing is pinned. */
export function usePin(dataset: Dataset) {
  const { list_key } = dataset
  const enabled = isPinned(dataset)
  const now_ms = useNow()
  const { data: own } = useQuery({ ...activationsQuery(list_key, 'own'), enabled })
  const { data: shared } = useQuery({ ...activationsQuery(list_key, 'shared'), enabled })
  // Cached data of a pin that has ended must not be used.
  if (!enabled || !shared) return { own, followed: undefined }
  return { own, followed: shared.in_force.find((span) => isInForce(span, now_ms))?.version ?? null }
}
