/** The gates of an open change request: what must hold before it can be approved, and whether it does. */
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'

type GatedRequest = Pick<Schemas['ChangeRequest'], 'cr_id' | 'revision' | 'impact_run_id' | 'state'>

/** Closed for good: the object was archived, or executing the request would be refused. */
const FINAL = ['frozen', 'execution']

/**
 * `isVoid`: it can no longer be approved, because what it is based on has changed since it was requested; where it was archived or its
 * execution would be refused, `refusal` says so. `isBlocked`: something else has to be put right first. An impact that is missing does not
 * count, since the answer to an approval asks for it. Undefined gates: not read yet, or not readable.
 */
export function useApprovalGates(request: GatedRequest | null) {
  const may = usePermission()
  const isRead = request?.state === 'open' && may('listChangeRequestGates')
  const { data } = useQuery({
    queryKey: ['change-requests', 'gates', request?.cr_id, request?.revision, request?.impact_run_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/change-requests/{cr_id}/gates', { params: { path: { cr_id: request?.cr_id ?? '' } }, signal }),
    enabled: isRead,
    refetchInterval: 15_000,
    throwOnError: false,
  })
  const closed = data?.items.filter(({ holds }) => !holds) ?? []
  const refusal = closed.find(({ gate }) => FINAL.includes(gate))?.detail ?? null
  const isVoid = refusal !== null || closed.some(({ gate }) => gate === 'unchanged')
  const isBlocked = closed.some(({ gate }) => gate !== 'impact')
  return { isRead, gates: data, isVoid, isBlocked, refusal }
}
