/** One event: who did what to which object, what differs, and its place in the chain. */
import { SimpleGrid, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { formatOperation, toSentence } from '#console/ui/format.ts'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { ChainPosition, OutcomeMark, objectPath } from './event-table.tsx'

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
    // It is sealed within about a second.
    refetchInterval: ({ state }) => (state.data && state.data.seal === null ? 1000 : false),
  })

export default function EventPage() {
  const { event_id = '' } = useParams({ strict: false }) as { event_id?: string }
  const { data: event } = useSuspenseQuery(eventQuery(event_id))
  const { diff, ...rest } = event.detail
  return (
    <Page
      title={formatOperation(event.operation)}
      about={<DateTime at={event.recorded_at} />}
      trail={
        <PageLink to="/audit" inherit>
          Audit record
        </PageLink>
      }
      actions={
        <ButtonLink to={objectPath(event.object_type, event.object_id)} variant="default">
          History of this object
        </ButtonLink>
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Stack gap="md">
          <Section title="Record">
            <Facts
              of={[
                ['Who', <Principal key="who" of={event.actor} />],
                ['Recorded as', <CopyValue key="actor" value={event.actor} name="the actor" />],
                [
                  'What',
                  <span key="what" className="mono">
                    {event.operation}
                  </span>,
                ],
                event.outcome !== 'done' && ['Outcome', <OutcomeMark key="outcome" event={event} />],
                ['Kind of object', event.object_type],
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
          <Section title={Array.isArray(diff) ? 'Also recorded' : 'What was recorded'}>
            {Object.keys(rest).length > 0 ? (
              <JsonBlock value={rest} name="Detail" />
            ) : (
              <Text size="sm" c="dimmed">
                Only that it was done.
              </Text>
            )}
            {'after_hash' in rest && (
              <Text size="xs" c="dimmed" mt="xs">
                What was before and after is kept as keyed hashes: they show whether two states are the same, not what
                they say.
              </Text>
            )}
          </Section>
        </Stack>
      </SimpleGrid>
    </Page>
  )
}

function ChainSection({ event: { seal } }: { readonly event: Event }) {
  return (
    <Section title="Place in the chain">
      <Facts
        of={[
          ['Number', <ChainPosition key="seq" seal={seal} />],
          ['Hash', seal && <CopyValue value={seal.hash} name="the hash" />],
          ['Follows', seal && <CopyValue value={seal.prev_hash} name="the hash before" />],
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
  const title = isProposed ? 'What would change' : 'What differs'
  return (
    <Section title={title}>
      <Table aria-label={title} verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Member</Table.Th>
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
