/** Restrictions that the user may see, newest first. */
import { Badge, Button, Group, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { formatCount } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { RestrictedObjects } from '#console/ui/restriction/restricted-objects.tsx'
import type { Restriction } from '#console/ui/restriction/restriction-queries.ts'
import { NewRestriction } from './new-restriction.tsx'
import { getRestrictionName } from './restriction-name.ts'

const states = ['in_force', 'not_in_force'] as const

export default function RestrictionsPage() {
  const may = usePermission()
  const [isCreating, creating] = useDisclosure(false)
  const state = useFilter('state', states)
  const list = usePages<Restriction>(['restrictions', 'list', state], (cursor, signal) =>
    probity.GET('/api/restrictions', {
      params: { query: { ...cursor, limit: 50, ...(state !== undefined && { is_in_force: state === 'in_force' }) } },
      signal,
    }),
  )
  const create = may('createRestriction') && <Button onClick={creating.open}>Restrict access</Button>
  return (
    <Page
      title="Restrictions"
      about="Only people on the access list of a restriction and the MLRO can see what belongs to it. This page lists the restrictions that you have access to."
      actions={
        <>
          {may('listMlroDesignations') && (
            <ButtonLink to="/mlro" variant="default">
              MLRO
            </ButtonLink>
          )}
          {create}
        </>
      }
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <Filter name="state" label="State" values={states} everything="Any state" />
      </Group>
      <ListTable
        label="Restrictions"
        list={list}
        empty={{
          title: 'No restrictions that you have access to',
          about:
            'A restriction hides an investigation and everything that belongs to it from colleagues who are not on its access list.',
          filters: ['state'],
          action: create,
        }}
        head={[
          { name: 'Restriction' },
          { name: 'State' },
          { name: 'People', from: 'sm' },
          { name: 'Created by', from: 'md' },
          { name: 'Created', from: 'sm' },
        ]}
        row={(restriction) => <RestrictionRow key={restriction.restriction_id} restriction={restriction} />}
      />
      {isCreating && <NewRestriction onClose={creating.close} />}
    </Page>
  )
}

function RestrictionRow({ restriction }: { readonly restriction: Restriction }) {
  const { restriction_id, people } = restriction
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to={`/restrictions/${restriction_id}`} fw={500} size="sm">
          {getRestrictionName(restriction_id)}
        </PageLink>
        <RestrictionMark restriction_id={restriction.is_in_force ? restriction_id : null} />
        <Text size="sm" lineClamp={2}>
          {restriction.purpose}
        </Text>
        <RestrictedObjects restriction_id={restriction_id} />
      </Table.Td>
      <Table.Td>
        <ForceBadge restriction={restriction} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {formatCount(people.granted, 'person', 'people')}
        {people.excluded > 0 && `, ${people.excluded} excluded`}
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Principal of={restriction.created_by} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={restriction.created_at} />
      </Table.Td>
    </Table.Tr>
  )
}

export function ForceBadge({ restriction }: { readonly restriction: Restriction }) {
  const text = restriction.is_in_force ? 'in force' : restriction.lifted_at === null ? 'prepared' : 'lifted'
  return (
    <Badge variant="light" tt="none" miw="max-content" color={restriction.is_in_force ? 'orange' : 'gray'}>
      {text}
    </Badge>
  )
}
