/** Who read and changed what belongs to a restriction, from the audit record. */
import { Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { describeAccess } from './access-log-texts.ts'

type Entry = Schemas['AccessLogEntry']

export function AccessLog({ restriction_id }: { readonly restriction_id: string }) {
  const may = usePermission()
  const list = usePages<Entry>(['restrictions', 'log', restriction_id], (cursor, signal) =>
    probity.GET('/api/restrictions/{restriction_id}/access-log', {
      params: { path: { restriction_id }, query: { ...cursor, limit: 50 } },
      signal,
    }),
  )
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        Changes, and reads of one object while the restriction is in force. That an object was shown to a person with
        access in a list or a search is not recorded.
      </Text>
      <ListTable
        label="Access log"
        list={list}
        empty={{
          title: 'Nothing recorded yet',
          about: 'What somebody opens or changes while the restriction is in force appears here.',
        }}
        head={[{ name: 'When' }, { name: 'Who' }, { name: 'What' }, { name: 'Object', from: 'sm' }]}
        row={(entry) => (
          <Table.Tr key={entry.event_id}>
            <Table.Td className="nowrap">
              <DateTime at={entry.recorded_at} isExact />
            </Table.Td>
            <Table.Td>
              <Principal of={entry.actor} isAlwaysNamed />
            </Table.Td>
            <Table.Td>
              {may('getAuditEvent') ? (
                <PageLink to={`/audit/events/${entry.event_id}`} size="sm" fw={500}>
                  {describeAccess(entry.operation, entry.object_type)}
                </PageLink>
              ) : (
                describeAccess(entry.operation, entry.object_type)
              )}
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <LoggedObject of={entry} />
            </Table.Td>
          </Table.Tr>
        )}
      />
    </Stack>
  )
}

/** Pages of objects that can be restricted, by the name in the audit record. */
const pages: Readonly<Record<string, readonly [path: string, word: string]>> = {
  alerts: ['/inbox/alerts', 'Alert'],
  documents: ['/documents', 'Document'],
  investigations: ['/investigations', 'Case'],
  holds: ['/holds', 'Hold'],
  reports: ['/reports', 'Report'],
}

function LoggedObject({ of: { object_type, object_id } }: { readonly of: Entry }) {
  const [path, word] = pages[object_type] ?? [null, toSentence(object_type)]
  const name = (
    <>
      {word} <span className="mono">{object_id.slice(-8)}</span>
    </>
  )
  return path === null ? (
    <span title={object_id}>{name}</span>
  ) : (
    <PageLink to={`${path}/${object_id}`} size="sm">
      {name}
    </PageLink>
  )
}
