/** One audit event: user, operation, object, changes and position in the chain. */

import { SimpleGrid, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { formatEvent } from '#console/ui/event-texts.ts'
import { toSentence } from '#console/ui/format.ts'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { escapeText } from '#console/ui/tool/escape-text.ts'
import { formatClient, getToolOrigin, type ToolOrigin } from '#console/ui/tool/tool-texts.ts'
import { ChainPosition, OutcomeBadge, OutcomeMark, objectPath } from './event-table.tsx'
import { findObjectTarget, formatObjectType } from './object-target.ts'

type Event = Schemas['AuditEvent']
interface Difference {
  readonly member: string
  readonly before: unknown
  readonly after: unknown
}

const eventQuery = (event_id: string) =>
  queryOptions({
    queryKey: ['audit', 'event', event_id],
    queryFn: ({ signal }) => probity.GET('/api/audit/events/{event_id}', { params: { path: { event_id } }, signal }),
    // An event joins the chain within about a second.
    refetchInterval: ({ state }) => (state.data && state.data.seal === null ? 1000 : false),
  })

export default function EventPage() {
  const { event_id = '' } = useParams({ strict: false }) as { event_id?: string }
  const { data: event } = useSuspenseQuery(eventQuery(event_id))
  const { tenant } = useMe()
  const may = usePermission()
  const target = findObjectTarget(event, tenant.tenant_id)
  const { diff, ...rest } = event.detail
  const origin = getToolOrigin(event.detail)
  return (
    <Page
      title={formatEvent(event.operation)}
      about={<DateTime at={event.recorded_at} isExact />}
      trail={
        <PageLink to="/audit" inherit>
          Audit record
        </PageLink>
      }
      restriction_id={event.restriction_id}
      actions={
        <>
          {target !== null && may(target.needs) && (
            <ButtonLink to={target.to} variant="default">
              {target.label}
            </ButtonLink>
          )}
          <ButtonLink to={objectPath(event.object_type, event.object_id)} variant="default">
            History of this object
          </ButtonLink>
        </>
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Stack gap="md">
          <Section title="Details">
            <Facts
              of={[
                ['User or key', <Principal key="who" of={event.actor} />],
                ['Recorded name', <CopyValue key="actor" value={event.actor} name="the actor" />],
                [
                  'Operation',
                  <span key="what" className="mono">
                    {event.operation}
                  </span>,
                ],
                [
                  'Outcome',
                  <div key="outcome">
                    <OutcomeBadge event={event} />
                    <OutcomeMark event={event} />
                  </div>,
                ],
                origin !== null && ['Came by', <CameByTool key="tool" of={origin} call_id={event.event_id} />],
                [
                  'Object type',
                  <span key="type" title={event.object_type}>
                    {formatObjectType(event.object_type)}
                  </span>,
                ],
                ['Object id', <CopyValue key="object" value={event.object_id} name="the object id" />],
                ['Request', event.request_id && <CopyValue value={event.request_id} name="the request id" />],
                ['Event', <CopyValue key="event" value={event.event_id} name="the event id" />],
              ]}
            />
          </Section>
          <ChainSection event={event} />
        </Stack>
        <Stack gap="md">
          {Array.isArray(diff) && <Differences of={diff as Difference[]} isProposed={event.outcome === 'proposed'} />}
          <Section title={Array.isArray(diff) ? 'Further details' : 'Recorded details'}>
            {Object.keys(rest).length > 0 ? (
              <JsonBlock value={rest} name="Detail" />
            ) : (
              <Text size="sm" c="dimmed">
                No further details were recorded.
              </Text>
            )}
            {'after_hash' in rest && (
              <Text size="xs" c="dimmed" mt="xs">
                The states before and after are stored as keyed hashes, which show whether two states are equal but not
                their content.
              </Text>
            )}
          </Section>
        </Stack>
      </SimpleGrid>
    </Page>
  )
}

/** The event of a tool call has the id of the call. */
function CameByTool({ of: { tool, client }, call_id }: { readonly of: ToolOrigin; readonly call_id: string }) {
  const may = usePermission()
  const words = tool === null ? 'a resource of the tool protocol' : `the tool ${escapeText(tool)}`
  return (
    <span>
      {tool !== null && may('getToolCall') ? (
        <PageLink to={`/tools/calls/${call_id}`} inherit>
          {words}
        </PageLink>
      ) : (
        words
      )}
      {client !== null && `, with ${formatClient(client)}`}
    </span>
  )
}

function ChainSection({ event: { seal } }: { readonly event: Event }) {
  return (
    <Section title="Position in the chain">
      <Facts
        of={[
          ['Number', <ChainPosition key="seq" seal={seal} />],
          ['Hash', seal && <CopyValue value={seal.hash} name="the hash" />],
          ['Previous hash', seal && <CopyValue value={seal.prev_hash} name="the previous hash" />],
        ]}
      />
    </Section>
  )
}

interface DifferencesProps {
  readonly of: readonly Difference[]
  readonly isProposed: boolean
}

function Differences({ of, isProposed }: DifferencesProps) {
  if (of.length === 0) return null
  const title = isProposed ? 'Requested changes' : 'Changes'
  return (
    <Section title={title}>
      <Table aria-label={title} verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Field</Table.Th>
            <Table.Th>Before</Table.Th>
            <Table.Th>After</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {of.map(({ member, before, after }) => (
            <Table.Tr key={member}>
              <Table.Td>{toSentence(member)}</Table.Td>
              <Table.Td className="mono">{formatValue(before)}</Table.Td>
              <Table.Td className="mono">{formatValue(after)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  )
}

const formatValue = (value: unknown): string =>
  value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value)
