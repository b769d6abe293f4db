/** The account menu: user, tenant, absence and sign-out. */
import { Button, Menu, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { OperationId } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { meQuery } from '#console/session/queries.ts'
import { signOut, useToken } from '#console/session/session.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { toWords } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { ButtonLink } from '#console/ui/link.tsx'
import { OwnAbsence } from './own-absence.tsx'

/** What the dialog reads and changes. */
const ofAbsence: readonly OperationId[] = ['getUserAvailability', 'updateUserAvailability']

export function AccountMenu() {
  const token = useToken()
  const navigate = useNavigate()
  const { data: me } = useQuery({ ...meQuery, enabled: token !== '', throwOnError: false })
  const [isAbsenceOpen, absence] = useDisclosure(false)
  // A key is never away.
  const [, user_id] = /^user:(.+)$/.exec(me?.principal ?? '') ?? []
  const canBeAway = user_id !== undefined && ofAbsence.every((operation) => me?.operations.includes(operation))
  const name = me?.name ?? me?.principal ?? 'user'
  if (token === '') {
    return (
      <ButtonLink to="/sign-in" variant="light" size="xs">
        Sign in
      </ButtonLink>
    )
  }
  return (
    <>
      <Menu position="bottom-end" width={260} transitionProps={{ duration: 100 }}>
        <Menu.Target>
          <Button
            variant="subtle"
            size="xs"
            leftSection={<Icon name="person" size={16} />}
            className="account"
            aria-label={`Account of ${name}`}
          >
            <Text span size="sm" truncate visibleFrom="sm">
              {name}
            </Text>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {me && (
            <>
              <Menu.Label>
                <Text size="sm" c="var(--mantine-color-text)" fw={600}>
                  {me.name ?? me.principal}
                </Text>
                {me.tenant.name}
                <br />
                {me.roles.map(toWords).join(', ') || 'no roles'}
                <br />
                Signed in until <RelativeTime at={me.expires_at} />
              </Menu.Label>
              <Menu.Divider />
            </>
          )}
          {canBeAway && <Menu.Item onClick={absence.open}>Absence</Menu.Item>}
          <Menu.Item onClick={() => navigate({ to: '/guide' })}>Guided start</Menu.Item>
          <Menu.Item
            onClick={() => {
              signOut()
              navigate({ to: '/' })
            }}
          >
            Sign out
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {canBeAway && isAbsenceOpen && <OwnAbsence user_id={user_id} onClose={absence.close} />}
    </>
  )
}
