/** The audit events of the tenant, searchable by user, operation, object and time. */
import { probity } from '#console/session/client.ts'
import { usePages } from '#console/ui/list.tsx'
import { AuditFrame } from './audit-frame.tsx'
import { EventFilters, toQuery, useEventSearch } from './event-filters.tsx'
import { EventTable } from './event-table.tsx'

export default function EventsPage() {
  const search = useEventSearch()
  const list = usePages(['audit', 'events', search], (cursor, signal) =>
    probity.GET('/api/audit/events', { params: { query: { ...cursor, ...toQuery(search), limit: 50 } }, signal }),
  )
  const loaded = list.data?.pages.flatMap(({ items }) => items) ?? []
  const distinct = (values: readonly string[]) => [...new Set(values)].sort()
  return (
    <AuditFrame>
      <EventFilters
        actors={distinct(loaded.map(({ actor }) => actor))}
        operations={distinct(loaded.map(({ operation }) => operation))}
      />
      <EventTable list={list} empty={Object.keys(search).length > 0 ? 'No matching event.' : 'No events yet.'} />
    </AuditFrame>
  )
}
