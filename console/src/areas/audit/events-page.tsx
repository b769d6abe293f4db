/** The audit events of the tenant, searchable by user, action, object and time. */
import { probity } from '#console/session/client.ts'
import { usePages } from '#console/ui/list.tsx'
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
