/** The users of the tenant. */
import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { ConflictMark, RoleBadges, StateBadge } from '#console/ui/badges.tsx'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { omitUndefined } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { useRoleNames } from '#console/ui/role-picker.tsx'
import { InviteDialog } from './invite-dialog.tsx'

const states = ['invited', 'active', 'inactive'] as const

export default function UsersPage() {
  const may = usePermission()
  const roles = useRoleNames()
  const [isInviting, inviting] = useDisclosure(false)
  const state = useFilter('state', states)
  const role = useFilter('role', roles)
  const list = usePages(['users', 'list', state, role], (cursor, signal) =>
    probity.GET('/api/users', {
      params: { query: { ...cursor, ...omitUndefined({ state, role }), limit: 50 } },
      signal,
    }),
  )
  return (
    <Page
      title="Users"
      about="Users of this tenant. Deactivated users keep their history."
      actions={may('createUser') && <Button onClick={inviting.open}>Invite a user</Button>}
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <Filter name="state" label="State" values={states} everything="Any state" />
        <Filter name="role" label="Role" values={roles} everything="Any role" />
      </Group>
      <ListTable
        label="Users"
        list={list}
        empty={{
          title: 'No users yet',
          about: 'Invite the people who work with this tenant, and give each the roles of their work.',
          filters: ['state', 'role'],
          action: may('createUser') && (
            <Button size="xs" onClick={inviting.open}>
              Invite the first user
            </Button>
          ),
        }}
        head={[
          { name: 'Name' },
          { name: 'Roles', from: 'sm' },
          { name: 'State' },
          { name: 'Team', from: 'md' },
          { name: 'Last seen', from: 'md' },
        ]}
        row={(user) => <UserRow key={user.user_id} user={user} />}
      />
      <InviteDialog isOpen={isInviting} onClose={inviting.close} />
    </Page>
  )
}

function UserRow({ user }: { readonly user: Schemas['User'] }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Stack gap={0}>
          <PageLink to={`/users/${user.user_id}`} fw={500} size="sm">
            {user.name}
          </PageLink>
          <Text size="xs" c="dimmed">
            {user.email ?? user.subject}
          </Text>
        </Stack>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Group gap={6}>
          <RoleBadges roles={user.roles} />
          <ConflictMark conflicts={user.conflicts} />
        </Group>
      </Table.Td>
      <Table.Td>
        <StateBadge state={user.state} />
      </Table.Td>
      <Table.Td visibleFrom="md">{user.team ?? ''}</Table.Td>
      <Table.Td visibleFrom="md">
        <RelativeTime at={user.last_seen_at} />
      </Table.Td>
    </Table.Tr>
  )
}
