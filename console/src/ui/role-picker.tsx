/** Role selection with a description of each role and a warning about conflicting roles. */
import { Alert, Checkbox, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { toSentence, toWords } from './format.ts'

export type Role = Schemas['User']['roles'][number]

export const rolesQuery = queryOptions({
  queryKey: ['roles'],
  queryFn: ({ signal }) => probity.GET('/api/roles', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

interface RolePickerProps {
  readonly label: string
  readonly value: readonly Role[]
  readonly onChange: (roles: Role[]) => void
  readonly isDisabled?: boolean
  /** API keys are exempt from the separation of duties. */
  readonly forMachine?: boolean
}

export function RolePicker({ label, value, onChange, isDisabled = false, forMachine = false }: RolePickerProps) {
  const { data: catalogue } = useSuspenseQuery(rolesQuery)
  const conflicts = forMachine
    ? []
    : catalogue.conflicts.filter(({ roles }) => roles.every((role) => value.includes(role)))
  return (
    <Stack gap="xs">
      <Checkbox.Group label={label} value={[...value]} onChange={(chosen) => onChange(chosen as Role[])}>
        <div className="role-grid">
          {catalogue.items.map(({ role, description }) => (
            <Checkbox
              key={role}
              value={role}
              label={toSentence(role)}
              description={description}
              disabled={isDisabled}
              size="sm"
            />
          ))}
        </div>
      </Checkbox.Group>
      {conflicts.length > 0 && (
        <Alert color="orange" title="Conflicting roles" role="status">
          {conflicts.map(({ roles, reason }) => (
            <Text size="sm" key={roles.join()}>
              {roles.map(toWords).join(' and ')}: {reason}
            </Text>
          ))}
        </Alert>
      )}
    </Stack>
  )
}

export const useRoleNames = (): readonly Role[] => useSuspenseQuery(rolesQuery).data.items.map(({ role }) => role)
