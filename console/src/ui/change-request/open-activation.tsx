/** The open change request that would put a version in force, shown instead of the offer to request it again. */
import { Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { PageLink } from '../link.tsx'
import { findOpenActivation, type VersionTarget } from './describe-change.ts'
import { useApprovalGates } from './use-approval-gates.ts'

type ChangeRequest = Schemas['ChangeRequest']

/** Open requests are few; more than these are not searched. */
const MAX_REQUESTS = 500

const openActivationsQuery = queryOptions({
  queryKey: ['change-requests', 'open-activations'],
  queryFn: async ({ signal }) => {
    const requests: ChangeRequest[] = []
    const query = { state: 'open', action: 'activation', limit: 100 } as const
    for await (const request of probity.paginate('/api/change-requests', { params: { query }, signal })) {
      if ('operation' in request && requests.push(request) >= MAX_REQUESTS) break
    }
    return requests
  },
  refetchInterval: 15_000,
  throwOnError: false,
})

/** Null where there is none that can still be approved. */
export function useOpenActivation(target: VersionTarget): ChangeRequest | null {
  const may = usePermission()
  const { data } = useQuery({ ...openActivationsQuery, enabled: may('listChangeRequests') })
  const request = findOpenActivation(data ?? [], target)
  const { isVoid } = useApprovalGates(request)
  return isVoid ? null : request
}

export function OpenActivationNote({
  request,
  version,
}: {
  readonly request: ChangeRequest
  readonly version: number
}) {
  return (
    <Text size="sm" role="status">
      Activation requested,{' '}
      <PageLink to={`/change-requests/${request.cr_id}`} inherit>
        waiting for approval<span className="sr-only"> of version {version}</span>
      </PageLink>
    </Text>
  )
}
