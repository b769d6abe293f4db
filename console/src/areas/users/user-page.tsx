/** One user: profile, roles, absence and access. */
import { Alert, Button, SimpleGrid, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { AvailabilityForm } from '#console/ui/availability-form.tsx'
import { ConflictMark, RoleBadges, StateBadge } from '#console/ui/badges.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { ConfirmDialog } from '#console/ui/dialog.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { ProfileForm } from './profile-form.tsx'
import { RolesForm } from './roles-form.tsx'

type User = Schemas['User']

const userQuery = (user_id: string) =>
  queryOptions({
    queryKey: ['users', user_id],
    queryFn: ({ signal }) => probity.GET('/api/users/{user_id}', { params: { path: { user_id } }, signal }),
  })

export default function UserPage() {
  const { user_id = '' } = useParams({ strict: false }) as { user_id?: string }
  const { data: user, refetch } = useSuspenseQuery(userQuery(user_id))
  const may = usePermission()
  // A form keeps its initial values, so it is remounted when the user changes.
  const version = `${user.user_id}:${user.revision}`
  return (
    <Page
      title={user.name}
      mark={<StateBadge state={user.state} />}
      about={user.email ?? user.subject}
      trail={
        <PageLink to="/users" inherit>
          Users
        </PageLink>
      }
      actions={<Access user={user} />}
    >
      {user.state === 'inactive' && (
        <Alert color="gray" mb="md" role="status">
          This user is deactivated. Tokens are refused; the history is kept.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Stack gap="md">
          {may('updateUserRoles') ? (
            <RolesForm key={version} user={user} onReload={refetch} />
          ) : (
            <Section title="Roles" actions={<ConflictMark conflicts={user.conflicts} />}>
              <RoleBadges roles={user.roles} />
            </Section>
          )}
        </Stack>
        <Stack gap="md">
          {may('updateUser') && <ProfileForm key={version} user={user} onReload={refetch} />}
          {may('updateUserAvailability') && (
            <Section title="Out of office">
              <AvailabilityForm key={`away:${version}`} user={user} onReload={refetch} />
            </Section>
          )}
          <Section title="Details">
            <Facts
              of={[
                ['User id', <CopyValue key="id" value={user.user_id} name="the user id" />],
                !may('updateUser') && ['Team', user.team],
                ['Source', user.origin === 'external' ? user.issuer : 'this server'],
                ['Last seen', <RelativeTime key="seen" at={user.last_seen_at} />],
                !may('updateUserAvailability') &&
                  user.away_until !== null && ['Away until', <DateTime key="away" at={user.away_until} />],
                ['Created', <DateTime key="created" at={user.created_at} />],
                ['Created by', <Principal key="by" of={user.created_by} />],
                ['Changed', <DateTime key="changed" at={user.updated_at} />],
                ['Revision', user.revision],
              ]}
            />
          </Section>
        </Stack>
      </SimpleGrid>
    </Page>
  )
}

function Access({ user }: { readonly user: User }) {
  const may = usePermission()
  const [isAsking, asking] = useDisclosure(false)
  const params = { path: { user_id: user.user_id } }
  const deactivate = useApiMutation(() => probity.POST('/api/users/{user_id}/deactivate', { params }), {
    invalidates: ['users'],
    successMessage: `${user.name} deactivated`,
    onDone: asking.close,
  })
  const reactivate = useApiMutation(() => probity.POST('/api/users/{user_id}/reactivate', { params }), {
    invalidates: ['users'],
    successMessage: `${user.name} reactivated`,
  })
  if (!may('deactivateUser')) return null
  if (user.state === 'inactive') {
    return (
      <>
        <ProblemNote problem={reactivate.problem} />
        <ApprovalNote request={reactivate.waiting} />
        <Button
          loading={reactivate.isRunning}
          disabled={reactivate.waiting !== null}
          onClick={() => reactivate.run(undefined)}
        >
          Reactivate
        </Button>
      </>
    )
  }
  return (
    <>
      <Button variant="default" onClick={asking.open}>
        Deactivate
      </Button>
      <ConfirmDialog
        title={`Deactivate ${user.name}?`}
        isOpen={isAsking}
        onClose={() => {
          deactivate.reset()
          asking.close()
        }}
        onConfirm={() => deactivate.run(undefined)}
        confirm="Deactivate"
        change={deactivate}
        isDangerous
      >
        Access ends everywhere within five seconds. The audit record of this user is kept, and the user can be
        reactivated.
      </ConfirmDialog>
    </>
  )
}
