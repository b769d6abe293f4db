/** Calls of providers as rows, newest first. */
import { Group, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { probity } from '#console/session/client.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import type { EmptyContent } from '#console/ui/empty-state.tsx'
import { formatCount, omitUndefined } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { CallStateBadge, TestBadge } from '#console/ui/provider/badges.tsx'
import { type CallState, describeFault } from '#console/ui/provider/provider-texts.ts'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SubjectName } from '#console/ui/subject-name.tsx'

export type Call = Schemas['ProviderCallItem']

export interface CallFilters {
  readonly provider_key?: string | undefined
  readonly capability?: string | undefined
  readonly state?: CallState | undefined
  readonly subject_id?: string | undefined
  readonly from?: string | undefined
}

interface CallTableProps {
  readonly filters: CallFilters
  /** Whether every row is of the same provider. */
  readonly hidesProvider?: boolean
  readonly empty: EmptyContent
}

const REFETCH_MS = 10_000

export function CallTable({ filters, hidesProvider = false, empty }: CallTableProps) {
  const list = usePages<Call>(
    ['provider-calls', 'list', filters],
    (cursor, signal) =>
      probity.GET('/api/providers/calls', {
        params: { query: { ...cursor, ...omitUndefined(filters), limit: 50 } },
        signal,
      }),
    { refetch_ms: REFETCH_MS },
  )
  return (
    <ListTable
      label="Calls"
      list={list}
      head={[
        { name: hidesProvider ? 'Capability' : 'Call' },
        { name: 'State' },
        { name: 'About', from: 'sm' },
        { name: 'Attempts', from: 'md' },
        { name: 'Mode', from: 'lg' },
        { name: 'Made', from: 'sm' },
      ]}
      row={(call) => <CallRow key={call.call_id} call={call} hidesProvider={hidesProvider} />}
      empty={empty}
    />
  )
}

function CallRow({ call, hidesProvider }: { readonly call: Call; readonly hidesProvider: boolean }) {
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to={`/providers/calls/${call.call_id}`} size="sm" fw={500}>
          {call.capability}
        </PageLink>
        <RestrictionMark restriction_id={call.restriction_id} />
        {!hidesProvider && (
          <Text size="xs" c="dimmed" className="mono">
            {call.provider_key}
          </Text>
        )}
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          <RelativeTime at={call.created_at} />
        </Text>
      </Table.Td>
      <Table.Td>
        <Group gap={6}>
          <CallStateBadge state={call.state} />
          <TestBadge mode={call.mode} />
        </Group>
        {call.fault !== null && (
          <Text size="xs" c="dimmed" maw={260}>
            {describeFault(call.fault)}
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <SubjectName subject_id={call.subject_id} />
      </Table.Td>
      <Table.Td visibleFrom="md">{call.attempts === 0 ? '' : formatCount(call.attempts, 'attempt')}</Table.Td>
      <Table.Td visibleFrom="lg">{call.mode}</Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={call.created_at} />
      </Table.Td>
    </Table.Tr>
  )
}
