/** Investigations whose outcome somebody else proposed, for whoever may close them. */
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { keepOthersProposals } from './second-person.ts'
import { REFETCH_MS } from './work-queries.ts'

type InvestigationSummary = Schemas['InvestigationSummary']

const MAX_PROPOSED = 50

export function useProposedCases(isWanted = true): {
  readonly cases: readonly InvestigationSummary[]
  readonly isLoading: boolean
} {
  const { principal } = useMe()
  const may = usePermission()
  const { data, isLoading } = useQuery({
    queryKey: ['investigations', 'proposed'],
    queryFn: ({ signal }) =>
      probity.GET('/api/investigations', { params: { query: { state: 'proposed', limit: MAX_PROPOSED } }, signal }),
    enabled: isWanted && may('closeInvestigation'),
    refetchInterval: REFETCH_MS,
    throwOnError: false,
  })
  return { cases: keepOthersProposals(data?.items ?? [], principal), isLoading }
}
