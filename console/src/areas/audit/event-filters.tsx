/** The search form of the audit record: pickers of users, actions, objects and times. The search is kept in the page address. */

import { Button, Group, Select, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { formatEvent } from '#console/ui/event-texts.ts'
import { describeUnknown } from '#console/ui/filters.tsx'
import { omitUndefined } from '#console/ui/format.ts'
import { findUnknownTime, toInstant } from '#console/ui/local-time.ts'
import { formatObjectType } from './object-target.ts'
import { formatRange, TIME_RANGES, toRangeQuery } from './time-ranges.ts'

const filterNames = ['actor', 'operation', 'object_type', 'object_id', 'range', 'from_at', 'until_at'] as const
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

/** Times are entered in local time and sent in UTC; a named range counts from now. */
export const toQuery = ({ range, from_at, until_at, ...rest }: EventSearch, now = new Date()) => ({
  ...rest,
  ...toRangeQuery(range, now),
  ...omitUndefined({ from_at: toInstant(from_at ?? ''), until_at: toInstant(until_at ?? '') }),
})

const kinds: Readonly<Record<string, string>> = {
  key: 'API key',
  job: 'Job',
  seed: 'Set-up',
  operator: 'Operator',
  user: 'Person',
}

const formatActor = ({ actor, name }: Schemas['AuditFilters']['actors'][number]): string => {
  if (name !== null) return name
  const [kind = '', id = ''] = actor.split(/:(.*)/)
  return `${kinds[kind] ?? kind} ${id.slice(-8)}`
}

interface Choice {
  readonly value: string
  readonly label: string
}

/** People first, then keys and jobs. */
const toActorChoices = (actors: Schemas['AuditFilters']['actors']): Choice[] =>
  [...actors]
    .sort((a, b) => Number(a.name === null) - Number(b.name === null) || formatActor(a).localeCompare(formatActor(b)))
    .map((actor) => ({ value: actor.actor, label: formatActor(actor) }))

/** A value from the page address stays visible although the record does not name it. */
const withChosen = (choices: readonly Choice[], chosen: string | undefined): Choice[] =>
  chosen === undefined || choices.some(({ value }) => value === chosen)
    ? [...choices]
    : [...choices, { value: chosen, label: chosen }]

const isKnownRange = (range: string | undefined): boolean =>
  range === undefined || range === 'custom' || TIME_RANGES.some((one) => one === range)

const filtersQuery = {
  queryKey: ['audit', 'filters'],
  queryFn: ({ signal }: { signal: AbortSignal }) => probity.GET('/api/audit/filters', { signal }),
  staleTime: 60_000,
  throwOnError: false,
}

export function EventFilters() {
  const navigate = useNavigate()
  const search = useEventSearch()
  const { data } = useQuery(filtersQuery)
  const set = (part: Partial<Record<Name, string | undefined>>) =>
    navigate({ to: '.', search: { ...search, ...part }, replace: true })
  const picker = (name: 'actor' | 'operation' | 'object_type', label: string, choices: readonly Choice[]) => (
    <Select
      size="xs"
      label={label}
      placeholder="Any"
      searchable
      clearable
      nothingFoundMessage="Nothing found"
      limit={100}
      data={withChosen(choices, search[name])}
      value={search[name] ?? null}
      onChange={(chosen) => set({ [name]: chosen ?? undefined })}
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
    />
  )
  const unknownTimes = [search.from_at, search.until_at].filter((at) => findUnknownTime(at ?? '') !== undefined)
  const { actors = [], operations = [], object_types = [] } = data ?? {}
  return (
    <search className="event-filters" aria-label="Search the audit record">
      {picker('actor', 'User or key', toActorChoices(actors))}
      {picker(
        'operation',
        'Action',
        operations
          .map(({ operation }) => ({ value: operation, label: formatEvent(operation) }))
          .toSorted((one, other) => one.label.localeCompare(other.label)),
      )}
      {picker(
        'object_type',
        'Object type',
        object_types.map((value) => ({ value, label: formatObjectType(value) })),
      )}
      <ObjectId key={search.object_id} value={search.object_id ?? ''} onSearch={(object_id) => set({ object_id })} />
      <Select
        size="xs"
        label="Time"
        placeholder="Any time"
        clearable
        data={[
          ...TIME_RANGES.map((value) => ({ value, label: formatRange(value) })),
          { value: 'custom', label: 'From … until' },
        ]}
        value={search.range ?? null}
        error={describeUnknown(isKnownRange(search.range) ? undefined : search.range)}
        onChange={(range) => set({ range: range ?? undefined, from_at: undefined, until_at: undefined })}
        clearButtonProps={{ 'aria-label': 'Clear time' }}
      />
      {(search.range === 'custom' || unknownTimes.length > 0) && (
        <>
          <Instant label="From" value={search.from_at} onChange={(from_at) => set({ from_at })} />
          <Instant label="Until" value={search.until_at} onChange={(until_at) => set({ until_at })} />
        </>
      )}
      {Object.keys(search).length > 0 && (
        <Group gap="xs" wrap="nowrap" className="event-filters-buttons">
          <Button size="xs" variant="default" onClick={() => navigate({ to: '.', search: {}, replace: true })}>
            Clear
          </Button>
        </Group>
      )}
    </search>
  )
}

interface ObjectIdProps {
  readonly value: string
  readonly onSearch: (object_id: string | undefined) => void
}

/** Searched when the field is left or Enter is pressed: a part of an id finds nothing. */
function ObjectId({ value, onSearch }: ObjectIdProps) {
  const [typed, setTyped] = useState(value)
  const submit = () => typed.trim() !== value && onSearch(typed.trim() || undefined)
  return (
    <TextInput
      size="xs"
      label="Object id"
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={submit}
      onKeyDown={(event) => event.key === 'Enter' && submit()}
    />
  )
}

interface InstantProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

function Instant({ label, value, onChange }: InstantProps) {
  return (
    <TextInput
      size="xs"
      type="datetime-local"
      label={label}
      value={value ?? ''}
      error={describeUnknown(findUnknownTime(value ?? ''))}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  )
}
