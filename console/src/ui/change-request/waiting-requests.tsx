/** In a dialog that archives something: the open change requests about it, which nobody could approve afterwards. */
import { List, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { PageLink } from '../link.tsx'
import { useChangeText } from './use-target-name.ts'

type ChangeRequest = Schemas['ChangeRequest']

/** Open requests are few; more than these are not searched. */
const MAX_REQUESTS = 500

/** Archiving voids these; another change of an archived object is refused only when it is executed. */
const VOIDED_ACTIONS = ['activation', 'rollback']

interface WaitingRequestsProps {
  /** The parameter of the requests that names the object. */
  readonly param: string
  readonly name: string
}

export function WaitingRequests({ param, name }: WaitingRequestsProps) {
  const may = usePermission()
  const { data = [] } = useQuery({
    queryKey: ['change-requests', 'waiting-for', param, name],
    queryFn: async ({ signal }) => {
      const found: ChangeRequest[] = []
      let read = 0
      const query = { state: 'open', limit: 100 } as const
      for await (const request of probity.paginate('/api/change-requests', { params: { query }, signal })) {
        if ('operation' in request && VOIDED_ACTIONS.includes(request.action) && request.params[param] === name)
          found.push(request)
        if (++read >= MAX_REQUESTS) break
      }
      return found
    },
    enabled: may('listChangeRequests'),
    staleTime: 0,
    throwOnError: false,
  })
  if (data.length === 0) return null
  return (
    <>
      <Text size="sm" mt="sm" fw={600}>
        {data.length === 1
          ? 'A change request waits for approval. Once this is archived, it can only be rejected or withdrawn:'
          : `${data.length} change requests wait for approval. Once this is archived, they can only be rejected or withdrawn:`}
      </Text>
      <List size="sm" aria-label="Change requests that wait">
        {data.map((request) => (
          <List.Item key={request.cr_id}>
            <RequestLink request={request} />
          </List.Item>
        ))}
      </List>
    </>
  )
}

function RequestLink({ request }: { readonly request: ChangeRequest }) {
  return (
    <PageLink to={`/change-requests/${request.cr_id}`} size="sm">
      {useChangeText(request)}
    </PageLink>
  )
}
