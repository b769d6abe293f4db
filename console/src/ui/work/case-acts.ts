/** What people wrote with the acts on a case as a whole: a proposal, its return, opening it again. */
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { findEarlierWorker, findLastAct } from './last-act.ts'

type CaseRevision = Pick<Schemas['InvestigationSummary'], 'investigation_id' | 'revision'>

type LastAct = Schemas['InvestigationEvent'] & {
  /** Who worked on the case before it, as far as the latest acts say. */
  readonly worker: string | null
}

const MAX_ACTS = 50

/** Every act has a revision of its own, so the answer stays true for the revision. */
export const lastActQuery = ({ investigation_id, revision }: CaseRevision) =>
  queryOptions({
    queryKey: ['investigations', 'last-act', investigation_id, revision],
    queryFn: async ({ signal }): Promise<LastAct | null> => {
      const { items } = await probity.GET('/api/investigations/{investigation_id}/timeline', {
        params: { path: { investigation_id }, query: { category: 'person', limit: MAX_ACTS } },
        signal,
      })
      const act = findLastAct(items)
      return act === undefined ? null : { ...act, worker: findEarlierWorker(items) }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The last of these acts; null while it is loaded, and where there was none. */
export function useLastAct(of: CaseRevision, isWanted: boolean): LastAct | null {
  const may = usePermission()
  const { data } = useQuery({
    ...lastActQuery(of),
    enabled: isWanted && may('listInvestigationTimeline'),
    throwOnError: false,
  })
  return data ?? null
}
