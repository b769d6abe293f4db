/** The audit events of the tenant, searchable by user, action, object and time. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { formatCount } from '#console/ui/format.ts'
import { usePages } from '#console/ui/list.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { AuditFrame } from './audit-frame.tsx'
import { EventFilters, toQuery, useEventSearch } from './event-filters.tsx'
import { EventTable } from './event-table.tsx'

export default function EventsPage() {
  const search = useEventSearch()
  const query = toQuery(search, new Date())
  const list = usePages(['audit', 'events', query], (cursor, signal) =>
    probity.GET('/api/audit/events', { params: { query: { ...cursor, ...query, limit: 50 } }, signal }),
  )
  return (
    <AuditFrame>
      <LastVerification />
      <EventFilters />
      <EventTable
        list={list}
        empty={{
          title: 'No events yet',
          about: 'Every change in this tenant is recorded here, with who made it and when.',
          filters: Object.keys(search),
        }}
      />
    </AuditFrame>
  )
}

/** Whether the record that the events are cited from is intact. */
function LastVerification() {
  const may = usePermission()
  const { data } = useQuery({
    queryKey: ['audit', 'last-verification'],
    queryFn: ({ signal }) => probity.GET('/api/audit/verifications', { params: { query: { limit: 1 } }, signal }),
    enabled: may('listAuditVerifications'),
    throwOnError: false,
  })
  const last = data?.items[0]
  if (!last || last.intact === null) return null
  return (
    <Text size="sm" mb="sm" c={last.intact ? 'dimmed' : 'red'} role="status">
      {last.intact ? 'Intact' : 'Altered'} at the last verification, <DateTime at={last.created_at} />,{' '}
      {formatCount(last.events ?? 0, 'event')}. Later events are checked by the next one.{' '}
      <SearchLink to="/audit/verify" search={{ run: last.verification_id }} inherit>
        Open the report
      </SearchLink>
    </Text>
  )
}
