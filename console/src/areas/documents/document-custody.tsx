/** Who stored, read, verified, held and deleted a document, from the audit record. */
import { Table } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { Section } from '#console/ui/section.tsx'

type Entry = Schemas['CustodyEntry']

export function DocumentCustody({ document_id }: { readonly document_id: string }) {
  const may = usePermission()
  const list = usePages<Entry>(['documents', 'custody', document_id], (cursor, signal) =>
    probity.GET('/api/documents/{document_id}/custody', {
      params: { path: { document_id }, query: { ...cursor, limit: 50 } },
      signal,
    }),
  )
  return (
    <Section title="Custody">
      <ListTable
        label="Custody"
        list={list}
        empty={{ title: 'Nothing recorded yet', about: 'Everything that is done with the document appears here.' }}
        head={[{ name: 'When' }, { name: 'Act' }, { name: 'Who' }]}
        row={(entry) => (
          <Table.Tr key={entry.event_id}>
            <Table.Td className="nowrap">
              <DateTime at={entry.recorded_at} />
            </Table.Td>
            <Table.Td>
              {may('getAuditEvent') ? (
                <PageLink to={`/audit/events/${entry.event_id}`} size="sm" fw={500}>
                  {toSentence(entry.act)}
                </PageLink>
              ) : (
                toSentence(entry.act)
              )}
            </Table.Td>
            <Table.Td>
              <Principal of={entry.actor} isAlwaysNamed />
            </Table.Td>
          </Table.Tr>
        )}
      />
    </Section>
  )
}
