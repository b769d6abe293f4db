/** A list that is loaded whole and searched in the browser: search field, filters, table, and the count of matching items. */
import { Group, Stack, Text, TextInput } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type EmptyContent, EmptyState } from './empty-state.tsx'
import { Filter, useFilter, useSetFilter } from './filters.tsx'
import { formatCount } from './format.ts'
import type { Column } from './list.tsx'
import type { Origin } from './origin.ts'
import { PlainTable } from './plain-table.tsx'

const origins = ['own', 'shared'] as const

interface MoreFilters<Item> {
  readonly names: readonly string[]
  readonly fields: ReactNode
  readonly matches: (item: Item) => boolean
}

interface SearchableListProps<Item> {
  readonly title: string
  readonly word: string
  readonly words: string
  readonly items: readonly Item[]
  /** What the search field looks at, in words. */
  readonly searchedBy: string
  readonly toTexts: (item: Item) => readonly (string | null)[]
  readonly more?: MoreFilters<Item>
  readonly head: readonly Column[]
  readonly empty: Omit<EmptyContent, 'filters'>
  readonly children: (item: Item) => ReactNode
}

export function SearchableList<Item extends { readonly origin: Origin }>({
  title,
  word,
  words,
  items,
  searchedBy,
  toTexts,
  more,
  head,
  empty,
  children,
}: SearchableListProps<Item>) {
  const { find = '' } = useSearch({ strict: false }) as { find?: string | number }
  const setFilter = useSetFilter()
  const origin = useFilter('origin', origins)
  const wanted = String(find).toLowerCase()
  const matching = items.filter(
    (item) =>
      (origin === undefined || item.origin === origin) &&
      (more?.matches(item) ?? true) &&
      toTexts(item).some((text) => text?.toLowerCase().includes(wanted)),
  )
  return (
    <>
      <Group gap="xs" mb="sm" align="flex-end">
        <TextInput
          size="xs"
          w={240}
          type="search"
          label={`Search ${words}`}
          placeholder={`Search by ${searchedBy}`}
          value={String(find)}
          onChange={(event) => setFilter('find', event.currentTarget.value || null)}
        />
        <Filter name="origin" label="Owner" values={origins} everything="Own and shared" />
        {more?.fields}
      </Group>
      {matching.length === 0 ? (
        <EmptyState {...empty} filters={['find', 'origin', ...(more?.names ?? [])]} />
      ) : (
        <Stack gap="xs">
          <PlainTable label={title} empty={null} head={head}>
            {matching.map(children)}
          </PlainTable>
          <Text size="xs" c="dimmed" role="status">
            {formatCount(matching.length, word, words)} of {items.length}
          </Text>
        </Stack>
      )}
    </>
  )
}
