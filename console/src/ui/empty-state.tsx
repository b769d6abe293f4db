/** Says what a list is for, why it is empty and what to do: nothing there yet, or filters that match nothing. */
import { Button, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

export interface EmptyContent {
  /** What is missing: "No imports yet". */
  readonly title: string
  /** What it is, and what to do. */
  readonly about: ReactNode
  /** The button that does it, if the user may. */
  readonly action?: ReactNode
  /** The search parameters that filter the list. With one of them set, the filters are the reason that it is empty. */
  readonly filters?: readonly string[]
}

export function EmptyState({ title, about, action, filters = [] }: EmptyContent) {
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>
  const set = filters.filter((name) => search[name] !== undefined)
  if (set.length > 0) return <NoMatch filters={set} />
  return (
    <Stack className="empty" role="status" gap="xs" align="center" justify="center" p="md" ta="center">
      <Text fw={600}>{title}</Text>
      <Text size="sm" c="dimmed" component="div" maw={560}>
        {about}
      </Text>
      {action}
    </Stack>
  )
}

function NoMatch({ filters }: { readonly filters: readonly string[] }) {
  const navigate = useNavigate()
  const clear = () =>
    navigate({
      to: '.',
      search: (now: Record<string, unknown>) => ({
        ...now,
        ...Object.fromEntries(filters.map((name) => [name, undefined])),
      }),
      replace: true,
    })
  return (
    <Stack className="empty" role="status" gap="xs" align="center" justify="center" p="md" ta="center">
      <Text fw={600}>Nothing matches these filters</Text>
      <Text size="sm" c="dimmed">
        Change a filter, or show all.
      </Text>
      <Button size="xs" variant="default" onClick={clear}>
        Show all
      </Button>
    </Stack>
  )
}
