/** A case by its number, with a link. Lists name cases by id only. */
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { PageLink } from '../link.tsx'
import { RestrictionMark } from '../restriction/padlock.tsx'

interface CaseRef {
  readonly investigation_id: string
  /** The cases of the subject are read; without it the newest ones. */
  readonly subject_id?: string | null
}

/** From a list, because a read of one restricted case is recorded. Undefined while it is loaded, and where it is not found. */
export function useCase({ investigation_id, subject_id = null }: CaseRef): Schemas['InvestigationSummary'] | undefined {
  const may = usePermission()
  const { data } = useQuery({
    queryKey: ['investigations', 'names', subject_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/investigations', {
        params: { query: { limit: 200, ...(subject_id !== null && { subject_id }) } },
        signal,
      }),
    enabled: may('listInvestigations'),
    staleTime: 60_000,
    throwOnError: false,
  })
  return data?.items.find((one) => one.investigation_id === investigation_id)
}

export function CaseName(of: CaseRef) {
  const may = usePermission()
  const found = useCase(of)
  if (!may('getInvestigation')) return found?.reference ?? 'A case'
  return (
    <>
      <PageLink to={`/investigations/${of.investigation_id}`} inherit>
        {found?.reference ?? 'Open the case'}
      </PageLink>
      <RestrictionMark restriction_id={found?.is_restricted ? found.restriction_id : null} />
    </>
  )
}
