/** The search form of the audit record. The search is kept in the page address. */
import { Autocomplete, Button, Group, TextInput } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { omitUndefined } from '#console/ui/format.ts'

const filterNames = ['actor', 'operation', 'object_type', 'object_id', 'from_at', 'until_at'] as const
type Name = (typeof filterNames)[number]
export type EventSearch = { readonly [N in Name]?: string }

/** The search parameters as text: the router parses numbers. */
export function useEventSearch(): EventSearch {
  const search = useSearch({ strict: false }) as Record<string, unknown>
  const given = (name: Name) => {
    const value = search[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }
  return omitUndefined(Object.fromEntries(filterNames.map((name) => [name, given(name)])))
}

/** Times are entered in local time and sent in UTC. */
export const toQuery = ({ from_at, until_at, ...rest }: EventSearch): EventSearch => ({
  ...rest,
  ...(from_at !== undefined && { from_at: toUtcInstant(from_at) }),
  ...(until_at !== undefined && { until_at: toUtcInstant(until_at) }),
})
const toUtcInstant = (local: string): string => {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? local : at.toISOString()
}

interface EventFiltersProps {
  /** Suggestions from the loaded events. */
  readonly actors: readonly string[]
  readonly operations: readonly string[]
}

export function EventFilters({ actors, operations }: EventFiltersProps) {
  const navigate = useNavigate()
  const searched = useEventSearch()
  const [typed, setTyped] = useState<EventSearch>(searched)
  const search = (values: EventSearch) => {
    const given = Object.fromEntries(filterNames.map((name) => [name, values[name]?.trim() || undefined]))
    navigate({ to: '.', search: given, replace: true })
  }
  const value = (name: Name) => ({
    size: 'xs' as const,
    value: typed[name] ?? '',
  })
  const text = (name: Name) => ({
    ...value(name),
    onChange: (event: { currentTarget: HTMLInputElement }) => setTyped({ ...typed, [name]: event.currentTarget.value }),
  })
  const choice = (name: Name, data: readonly string[]) => ({
    ...value(name),
    data: [...data],
    onChange: (chosen: string) => setTyped({ ...typed, [name]: chosen }),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    search(typed)
  }
  function clear() {
    setTyped({})
    search({})
  }
  return (
    <form onSubmit={submit} aria-label="Search the audit record" className="event-filters">
      <Autocomplete label="User or key" placeholder="user:…" {...choice('actor', actors)} />
      <Autocomplete label="Operation" placeholder="updateUserRoles" {...choice('operation', operations)} />
      <TextInput label="Object type" placeholder="users" {...text('object_type')} />
      <TextInput label="Object id" {...text('object_id')} />
      <TextInput label="From" type="datetime-local" {...text('from_at')} />
      <TextInput label="Until" type="datetime-local" {...text('until_at')} />
      <Group gap="xs" wrap="nowrap" className="event-filters-buttons">
        <Button type="submit" size="xs">
          Search
        </Button>
        {Object.keys(searched).length > 0 && (
          <Button size="xs" variant="default" onClick={clear}>
            Clear
          </Button>
        )}
      </Group>
    </form>
  )
}
