/** Legal holds, newest first. */
import { Badge, Button, Group, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { omitUndefined } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { HeldObject } from './held-object.tsx'
import { getHoldName } from './hold-name.ts'
import { PlaceHold } from './place-hold.tsx'

type Hold = Schemas['Hold']
const states = ['active', 'released'] as const

export default function HoldsPage() {
  const may = usePermission()
  const { object_kind, object_id } = useSearch({ strict: false }) as { object_kind?: string; object_id?: string }
  // A link from the page of an object opens the dialog.
  const [isPlacing, placing] = useDisclosure(object_id !== undefined)
  const state = useFilter('state', states)
  const list = usePages<Hold>(['holds', 'list', state], (cursor, signal) =>
    probity.GET('/api/holds', { params: { query: { ...cursor, ...omitUndefined({ state }), limit: 50 } }, signal }),
  )
  const place = may('createHold') && <Button onClick={placing.open}>Place a hold</Button>
  return (
    <Page
      title="Legal holds"
      about="While a hold is active, nobody can delete or erase anything that belongs to its object. The person who placed a hold cannot release it."
      actions={place}
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <Filter name="state" label="State" values={states} everything="Any state" />
      </Group>
      <ListTable
        label="Legal holds"
        list={list}
        empty={{
          title: 'No legal holds',
          about: 'Place a hold when an authority or a court asks to keep what is stored about a customer.',
          filters: ['state'],
          action: place,
        }}
        head={[
          { name: 'Hold' },
          { name: 'Object' },
          { name: 'State' },
          { name: 'Placed', from: 'sm' },
          { name: 'Reference', from: 'md' },
        ]}
        row={(hold) => <HoldRow key={hold.hold_id} hold={hold} />}
      />
      {isPlacing && <PlaceHold object={omitUndefined({ object_kind, object_id })} onClose={placing.close} />}
    </Page>
  )
}

function HoldRow({ hold }: { readonly hold: Hold }) {
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to={`/holds/${hold.hold_id}`} fw={500} size="sm">
          {getHoldName(hold.hold_id)}
        </PageLink>
        <RestrictionMark restriction_id={hold.restriction_id} />
        <Text size="xs" c="dimmed" lineClamp={2}>
          {hold.reason}
        </Text>
      </Table.Td>
      <Table.Td>
        <HeldObject hold={hold} />
      </Table.Td>
      <Table.Td>
        <HoldStateBadge state={hold.state} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={hold.placed_at} />, by <Principal of={hold.placed_by} />
      </Table.Td>
      <Table.Td visibleFrom="md">{hold.authority_reference ?? ''}</Table.Td>
    </Table.Tr>
  )
}

export function HoldStateBadge({ state }: { readonly state: Hold['state'] }) {
  return (
    <Badge variant="light" tt="none" miw="max-content" color={state === 'active' ? 'orange' : 'gray'}>
      {state}
    </Badge>
  )
}
