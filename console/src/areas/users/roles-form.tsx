/** The roles of a user. A change may need approval. */
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { type Role, RolePicker } from '#console/ui/role-picker.tsx'
import { Section } from '#console/ui/section.tsx'

interface RolesFormProps {
  readonly user: Schemas['User']
  readonly onReload: () => void
}

export function RolesForm({ user, onReload }: RolesFormProps) {
  const [roles, setRoles] = useState<readonly Role[]>(user.roles)
  const save = useApiMutation(
    (chosen: readonly Role[]) =>
      probity.PUT('/api/users/{user_id}/roles', {
        params: { path: { user_id: user.user_id } },
        body: { roles: [...chosen], expected_revision: user.revision },
      }),
    { invalidates: ['users'], successMessage: 'Roles saved' },
  )
  const isExternal = user.origin === 'external'
  const isSame = roles.length === user.roles.length && roles.every((role) => user.roles.includes(role))
  return (
    <Section title="Roles">
      <Stack gap="sm">
        {isExternal && <Text size="sm">Roles come from the identity provider and are changed there.</Text>}
        <RolePicker label="Roles of this user" value={roles} onChange={setRoles} isDisabled={isExternal} />
        <ProblemNote problem={save.problem} onReload={onReload} />
        <ApprovalNote request={save.waiting} />
        {!isExternal && (
          <Group>
            <Button variant="light" disabled={isSame} loading={save.isRunning} onClick={() => save.run(roles)}>
              Save roles
            </Button>
            <Text size="xs" c="dimmed">
              Tokens already issued keep their roles until they expire.
            </Text>
          </Group>
        )}
      </Stack>
    </Section>
  )
}
