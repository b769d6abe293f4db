/** The two versions of a comparison, kept in the page address. */
import { ActionIcon, Group, Select, Tooltip } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { toVersionChoices } from './version-names.ts'

export interface Range {
  readonly from: number
  readonly to: number
}

interface VersionRangeProps extends Range {
  readonly versions: Parameters<typeof toVersionChoices>[0]
}

export function VersionRange({ versions, from, to }: VersionRangeProps) {
  const navigate = useNavigate()
  const go = (range: Range) =>
    navigate({ to: '.', search: (now: Record<string, unknown>) => ({ ...now, ...range }), replace: true })
  const choose = (label: string, side: keyof Range, chosen: number) => (
    <Select
      size="xs"
      w={190}
      aria-label={label}
      allowDeselect={false}
      value={String(chosen)}
      data={toVersionChoices(versions)}
      onChange={(version) => go({ from, to, [side]: Number(version) })}
    />
  )
  return (
    <Group gap={6}>
      {choose('From version', 'from', from)}
      <Tooltip label="Swap direction">
        <ActionIcon variant="default" aria-label="Swap direction" onClick={() => go({ from: to, to: from })}>
          ⇄
        </ActionIcon>
      </Tooltip>
      {choose('To version', 'to', to)}
    </Group>
  )
}
