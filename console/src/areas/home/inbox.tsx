/** Change requests waiting for the approval of the user. */
import { Skeleton, Text } from '@mantine/core'
import { isProblem } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { formatOperation } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'

const MAX_SHOWN = 5

export function Inbox() {
  const { data, error } = useQuery({
    queryKey: ['change-requests', 'home'],
    queryFn: ({ signal }) =>
      probity.GET('/api/change-requests/inbox', { params: { query: { limit: MAX_SHOWN } }, signal }),
    refetchInterval: 15_000,
    throwOnError: false,
  })
  return (
    <Section
      title="Waiting for your approval"
      actions={
        <PageLink to="/change-requests" size="sm">
          All change requests
        </PageLink>
      }
    >
      <ProblemNote problem={isProblem(error) ? error : null} />
      {data === undefined && error === null && <Skeleton height={60} />}
      {data?.items.length === 0 && (
        <Text size="sm" c="dimmed">
          No change request is waiting for you.
        </Text>
      )}
      <ul className="rows">
        {data?.items.map((request) => (
          <li key={request.cr_id}>
            <PageLink to={`/change-requests/${request.cr_id}`} size="sm" fw={500} flex={1}>
              {formatOperation(request.operation)}
            </PageLink>
            <Text span size="sm" c="dimmed">
              <Principal of={request.created_by} />, <RelativeTime at={request.created_at} />
            </Text>
          </li>
        ))}
      </ul>
      {data?.next_cursor && (
        <Text size="sm" c="dimmed" mt="xs">
          and more
        </Text>
      )}
    </Section>
  )
}
