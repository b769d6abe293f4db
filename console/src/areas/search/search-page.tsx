/** All results of a search, with a filter by kind. */

import { Chip, Group, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { isProblem } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { readAddressText } from '#console/ui/address-text.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { toSearch, toSearchUpdate } from '#console/ui/search-link.tsx'
import { addRecent, type FoundObject, MAX_QUERY_CHARS, searchQuery, toFoundObject } from '#console/ui/search-results.ts'
import { Section } from '#console/ui/section.tsx'

const DEBOUNCE_MS = 200
const PER_GROUP = 50
const PER_GROUP_OF_ALL = 10

export default function SearchPage() {
  const { q, kind } = useSearch({ strict: false }) as { q?: unknown; kind?: string }
  const query = useLocation({ select: ({ searchStr }) => searchStr })
  const asked = readAddressText(q, query, 'q').slice(0, MAX_QUERY_CHARS).trim()
  const [text, setText] = useTypedText(asked)
  const search = useQuery(searchQuery(asked, kind ? PER_GROUP : PER_GROUP_OF_ALL, kind))
  return (
    <Page title="Search" about="Subjects, lists and their entries, decisions and everything else you may read.">
      <Stack gap="md">
        <TextInput
          type="search"
          label="Search for"
          placeholder="A name, an external id, a key or an id"
          description="Names are found by the beginning of their words."
          maw={480}
          maxLength={MAX_QUERY_CHARS}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          leftSection={<Icon name="search" />}
        />
        {search.data && <KindFilter kinds={search.data.kinds} chosen={kind} />}
        {search.error ? (
          <ProblemNote problem={isProblem(search.error) ? search.error : null} />
        ) : (
          <Results key={asked} asked={asked} data={search.data} />
        )}
      </Stack>
    </Page>
  )
}

/** What is typed goes into the address after a pause, and the address comes back when a link changes it. */
function useTypedText(asked: string): [string, (text: string) => void] {
  const navigate = useNavigate()
  const [text, setText] = useState(asked)
  const [typed] = useDebouncedValue(text, DEBOUNCE_MS)
  useEffect(() => setText((now) => (now.trim() === asked ? now : asked)), [asked])
  useEffect(() => {
    navigate({ to: '.', search: toSearchUpdate((now) => ({ ...now, q: typed.trim() || undefined })), replace: true })
  }, [typed, navigate])
  return [text, setText]
}

interface KindFilterProps {
  readonly kinds: readonly { readonly kind: string; readonly title: string }[]
  readonly chosen: string | undefined
}

function KindFilter({ kinds, chosen }: KindFilterProps) {
  const navigate = useNavigate()
  const choose = (kind: string) =>
    navigate({
      to: '.',
      search: toSearchUpdate((now) => ({ ...now, kind: kind === '' ? undefined : kind })),
      replace: true,
    })
  return (
    <Chip.Group value={chosen ?? ''} onChange={(kind) => choose(String(kind))}>
      <Group gap={6} role="group" aria-label="Kind">
        <Chip size="xs" value="">
          Everything
        </Chip>
        {kinds.map(({ kind, title }) => (
          <Chip key={kind} size="xs" value={kind}>
            {title}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  )
}

const OLD_VERSIONS =
  'Of lists, only the entries in force are searched: to look into an older version, open the list and choose the version.'

interface ResultsProps {
  readonly asked: string
  readonly data: Awaited<ReturnType<NonNullable<ReturnType<typeof searchQuery>['queryFn']>>> | undefined
}

function Results({ asked, data }: ResultsProps) {
  if (asked === '')
    return <EmptyState title="Find anything of this tenant" about="Type a name, an external id, a key or an id." />
  if (data === undefined) return <ListSkeleton />
  if (data.groups.length === 0) {
    return (
      <EmptyState
        title={`Nothing found for “${asked}”`}
        about={`${
          data.searched_names
            ? 'Names are compared word by word from their beginning; try fewer or shorter words.'
            : 'Type at least two letters to search names. Shorter texts find exact keys and ids only.'
        } ${OLD_VERSIONS}`}
      />
    )
  }
  return data.groups.map(({ kind, title, items, has_more }) => (
    <Section key={kind} title={title}>
      <Stack gap={0} component="ul" className="results">
        {items.map((item) => {
          const found = toFoundObject(kind, item)
          return found ? <ResultRow key={found.key} found={found} /> : null
        })}
      </Stack>
      {has_more && (
        <Text size="xs" c="dimmed" mt={6} role="status">
          There are more. Add a word to narrow the search.
        </Text>
      )}
    </Section>
  ))
}

function ResultRow({ found }: { readonly found: FoundObject }) {
  return (
    <li>
      <Link to={found.target.to} search={toSearch(found.target.search ?? {})} onClick={() => addRecent(found)}>
        <Icon name={found.icon} />
        <span className="finder-title">{found.title}</span>
        <span className="quiet">{found.about}</span>
        <RestrictionMark restriction_id={found.restriction_id} />
      </Link>
    </li>
  )
}
