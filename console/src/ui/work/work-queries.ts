/** Queues and clocks of the user's work. */
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'

export type WorkQueue = Schemas['WorkQueue']
type WorkClock = Schemas['WorkClock']

export const REFETCH_MS = 15_000

export const queuesQuery = queryOptions({
  queryKey: ['work', 'queues'],
  queryFn: ({ signal }) => probity.GET('/api/work/queues', { signal }),
  refetchInterval: REFETCH_MS,
})

const unfinished = ['missed', 'running', 'paused'] as const

/** The clock that matters of each object: a missed one, otherwise the one that ends first. */
const clocksQuery = (object_kind: 'alert' | 'investigation') =>
  queryOptions({
    queryKey: ['work', 'clocks', object_kind],
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(
        unfinished.map((state) =>
          probity.GET('/api/work/clocks', { params: { query: { object_kind, state, limit: 200 } }, signal }),
        ),
      )
      const clocks = pages.flatMap(({ items }) => items).sort((one, other) => one.due_at.localeCompare(other.due_at))
      const byObject = new Map<string, WorkClock>()
      for (const clock of clocks) if (!byObject.has(clock.object_id)) byObject.set(clock.object_id, clock)
      return byObject
    },
    refetchInterval: REFETCH_MS,
  })

export function useWorkClocks(object_kind: 'alert' | 'investigation'): ReadonlyMap<string, WorkClock> {
  const may = usePermission()
  const { data } = useQuery({ ...clocksQuery(object_kind), enabled: may('listWorkClocks'), throwOnError: false })
  return data ?? new Map()
}
