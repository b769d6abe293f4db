/** Badges for states and roles. Colour only repeats the text. */
import { Badge, Group, Tooltip } from '@mantine/core'
import { formatCount, toWords } from './format.ts'
import { Icon } from './icons.tsx'

const colors: Readonly<Record<string, string>> = {
  active: 'teal',
  ready: 'teal',
  ok: 'teal',
  succeeded: 'teal',
  approved: 'teal',
  running: 'cyan',
  open: 'cyan',
  queued: 'gray',
  invited: 'indigo',
  failed: 'red',
  rejected: 'red',
  not_ready: 'red',
}

export function StateBadge({ state }: { readonly state: string }) {
  return (
    <Badge variant="light" tt="none" miw="max-content" color={colors[state] ?? 'gray'}>
      {toWords(state)}
    </Badge>
  )
}

export function RoleBadges({ roles }: { readonly roles: readonly string[] }) {
  if (roles.length === 0) return <span className="quiet">no roles</span>
  return (
    <Group gap={4} component="ul" className="plain-list" aria-label="Roles">
      {roles.map((role) => (
        <li key={role}>
          <Badge variant="default" tt="none" fw={500}>
            {toWords(role)}
          </Badge>
        </li>
      ))}
    </Group>
  )
}

/** Roles of one user that violate the separation of duties. */
export function ConflictMark({ conflicts }: { readonly conflicts: readonly string[] }) {
  if (conflicts.length === 0) return null
  return (
    <Tooltip
      label={conflicts.join('\n')}
      multiline
      style={{ whiteSpace: 'pre-line' }}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Badge
        variant="light"
        color="orange"
        tt="none"
        leftSection={<Icon name="warning" size={12} />}
        tabIndex={0}
        role="note"
        aria-label={`${formatCount(conflicts.length, 'role conflict')}: ${conflicts.join(' ')}`}
      >
        {formatCount(conflicts.length, 'conflict')}
      </Badge>
    </Tooltip>
  )
}
