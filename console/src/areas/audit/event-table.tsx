/** Audit events as rows, newest first. */

import { Badge, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useMe } from '#console/session/queries.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import type { EmptyContent } from '#console/ui/empty-state.tsx'
import { formatEvent } from '#console/ui/event-texts.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, type usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { formatClient, getToolOrigin } from '#console/ui/tool/tool-texts.ts'
import { formatObjectType } from './object-target.ts'

type Event = Schemas['AuditEvent']

export const objectPath = (object_type: string, object_id: string): string =>
  `/audit/objects/${encodeURIComponent(object_type)}/${encodeURIComponent(object_id)}`

interface EventTableProps {
  readonly list: ReturnType<typeof usePages<Event>>
  readonly empty: EmptyContent
  /** Hidden if all events concern one object. */
  readonly hasObjects?: boolean
}

export function EventTable({ list, empty, hasObjects = true }: EventTableProps) {
  return (
    <ListTable
      label="Audit events"
      list={list}
      empty={empty}
      head={[
        { name: 'When' },
        { name: 'Action' },
        { name: 'User or key' },
        { name: 'Outcome', from: 'sm' },
        ...(hasObjects ? [{ name: 'Object', from: 'sm' } as const] : []),
        { name: 'Position in the chain', from: 'md' },
      ]}
      row={(event) => (
        <Table.Tr key={event.event_id}>
          <Table.Td className="nowrap">
            <DateTime at={event.recorded_at} isExact />
          </Table.Td>
          <Table.Td>
            <PageLink to={`/audit/events/${event.event_id}`} fw={500} size="sm">
              {formatEvent(event.operation)}
            </PageLink>
            <RestrictionMark restriction_id={event.restriction_id} />
            <OutcomeMark event={event} />
          </Table.Td>
          <Table.Td>
            <Principal of={event.actor} isAlwaysNamed />
            <ToolMark event={event} />
          </Table.Td>
          <Table.Td visibleFrom="sm">
            <OutcomeBadge event={event} />
          </Table.Td>
          {hasObjects && (
            <Table.Td visibleFrom="sm">
              <PageLink to={objectPath(event.object_type, event.object_id)} size="sm">
                <ObjectName event={event} />
              </PageLink>
            </Table.Td>
          )}
          <Table.Td visibleFrom="md">
            <ChainPosition seal={event.seal} />
          </Table.Td>
        </Table.Tr>
      )}
    />
  )
}

/** Says that an assistant acted in the name of the user or key. */
function ToolMark({ event }: { readonly event: Event }) {
  const origin = getToolOrigin(event.detail)
  if (origin === null) return null
  return (
    <Text size="xs" c="dimmed">
      by an AI assistant{origin.client !== null && `: ${formatClient(origin.client)}`}
    </Text>
  )
}

const outcomes = {
  proposed: { badge: 'Proposed', color: 'yellow', text: 'Nothing changed yet: it waits for approval, see the' },
  executed: { badge: 'Done after approval', color: 'teal', text: 'Executed from the' },
  done: { badge: 'Done', color: 'gray', text: '' },
} as const

export function OutcomeBadge({ event: { outcome } }: { readonly event: Pick<Event, 'outcome'> }) {
  const { badge, color } = outcomes[outcome]
  return (
    <Badge variant={outcome === 'done' ? 'default' : 'light'} tt="none" fw={500} miw="max-content" color={color}>
      {badge}
    </Badge>
  )
}

/** What became of a proposal, with its approvers. A change that needed no approval has no such text. */
export function OutcomeMark({ event }: { readonly event: Event }) {
  if (event.outcome === 'done' || event.cr_id === null) return null
  return (
    <Text size="xs" c="dimmed" component="div" mt={6}>
      {outcomes[event.outcome].text}{' '}
      <PageLink to={`/change-requests/${event.cr_id}`} inherit>
        change request
      </PageLink>
      {event.approved_by.length > 0 && (
        <>
          , approved by{' '}
          {event.approved_by.map((approver, index) => (
            <span key={approver}>
              {index > 0 && ', '}
              <Principal of={approver} isAlwaysNamed />
            </span>
          ))}
        </>
      )}
    </Text>
  )
}

/** A change that concerns no single object is recorded for the tenant, whose id says nothing. */
function ObjectName({ event: { object_type, object_id } }: { readonly event: Event }) {
  const { tenant } = useMe()
  if (object_id === tenant.tenant_id || object_type === 'auth') return formatObjectType(object_type)
  return (
    <>
      {formatObjectType(object_type)}{' '}
      <span className="mono nowrap" title={object_id}>
        {shortenId(object_id)}
      </span>
    </>
  )
}

const shortenId = (id: string): string => (/^[0-9a-f-]{36}$/.test(id) ? id.slice(-8) : id)

export function ChainPosition({ seal }: { readonly seal: Event['seal'] }) {
  if (seal === null)
    return (
      <Text span size="sm" c="dimmed">
        being added to the chain
      </Text>
    )
  return <span>{seal.seq.toLocaleString('en')}</span>
}
