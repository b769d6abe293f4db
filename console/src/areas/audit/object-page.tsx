/** The audit events of one object, newest first. */
import { useParams } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { PageLink } from '#console/ui/link.tsx'
import { usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { EventTable } from './event-table.tsx'
import { formatObjectType } from './object-target.ts'

export default function ObjectPage() {
  const params = useParams({ strict: false }) as { object_type?: string; object_id?: string }
  const { object_type = '', object_id = '' } = params
  const list = usePages(['audit', 'objects', object_type, object_id], (cursor, signal) =>
    probity.GET('/api/audit/objects/{object_type}/{object_id}', {
      params: { path: { object_type, object_id }, query: { ...cursor, limit: 50 } },
      signal,
    }),
  )
  return (
    <Page
      title={`History: ${formatObjectType(object_type)}`}
      about={<span className="mono">{object_id}</span>}
      trail={
        <PageLink to="/audit" inherit>
          Audit record
        </PageLink>
      }
    >
      <EventTable
        list={list}
        empty={{
          title: 'No events for this object',
          about: 'It has not been changed since the record began, or it belongs to another tenant.',
        }}
        hasObjects={false}
      />
    </Page>
  )
}
