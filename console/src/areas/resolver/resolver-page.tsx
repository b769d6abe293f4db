/** The resolver: which version of a list is in force at a valid time, as known at a time, and its entry for a key. */
import { Button, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { pickListPerKey } from '#console/ui/list-choices.ts'
import { toLocalInput } from '#console/ui/local-time.ts'
import { Page } from '#console/ui/page.tsx'
import { datasetsQuery } from '#console/ui/registry-queries.ts'
import { Section } from '#console/ui/section.tsx'
import { ResolverAnswer } from './resolver-answer.tsx'

const queryNames = ['list', 'key', 'valid_at', 'known_at'] as const
type ResolverQuery = Readonly<Partial<Record<(typeof queryNames)[number], string>>>

function useResolverQuery(): ResolverQuery {
  const search = useSearch({ strict: false }) as Record<string, unknown>
  const given = queryNames
    .filter((name) => search[name] !== undefined)
    .map((name) => [name, String(search[name])] as const)
  return Object.fromEntries(given)
}

export default function ResolverPage() {
  const query = useResolverQuery()
  return (
    <Page
      title="Resolver"
      about="Find the version of a list that was in force at a given time, as known at a given time, and look up an entry in it."
    >
      <Stack gap="md" maw={980}>
        <ResolverForm key={JSON.stringify(query)} query={query} />
        {query.list === undefined ? (
          <EmptyState
            title="No list chosen yet"
            about="The resolver shows which version of a list was in force at a time, and why. Choose a list above and select Resolve."
          />
        ) : (
          <ResolverAnswer
            list_key={query.list}
            of={query.key || null}
            valid_at={query.valid_at || null}
            known_at={query.known_at || null}
          />
        )}
      </Stack>
    </Page>
  )
}

function ResolverForm({ query }: { readonly query: ResolverQuery }) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { data: datasets } = useSuspenseQuery(datasetsQuery)
  const [typed, setTyped] = useState({
    list: query.list ?? '',
    key: query.key ?? '',
    valid_at: query.valid_at ?? '',
    known_at: query.known_at ?? '',
  })
  const field = (name: 'key' | 'valid_at' | 'known_at') => ({
    value: typed[name],
    onChange: (event: { currentTarget: HTMLInputElement }) => setTyped({ ...typed, [name]: event.currentTarget.value }),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    const given = Object.fromEntries(queryNames.map((name) => [name, typed[name].trim() || undefined]))
    navigate({ to: '.', search: given })
    // Submitting the same query again repeats it.
    queries.invalidateQueries({ queryKey: ['resolver'] })
  }
  const now = () => setTyped({ ...typed, valid_at: '', known_at: '' })
  const latest = toLocalInput(new Date().toISOString())
  return (
    <Section title="Query">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
            <Select
              label="List"
              required
              searchable
              value={typed.list || null}
              data={pickListPerKey(datasets).map(({ list_key, title }) => ({
                value: list_key,
                label: `${title} (${list_key})`,
              }))}
              onChange={(list) => setTyped({ ...typed, list: list ?? '' })}
            />
            <TextInput label="Key" description="Optional: look up this entry" maxLength={500} {...field('key')} />
            <TextInput
              label="Valid at"
              description="Time of the event; default: now"
              type="datetime-local"
              {...field('valid_at')}
            />
            <TextInput
              label="Known at"
              description="State of knowledge; default: now"
              type="datetime-local"
              max={latest}
              {...field('known_at')}
            />
          </SimpleGrid>
          <Group>
            <Button type="submit">Resolve</Button>
            {(typed.valid_at || typed.known_at) && (
              <Button variant="default" onClick={now}>
                Reset times
              </Button>
            )}
            <Text size="xs" c="dimmed">
              The query is part of the page address and can be shared.
            </Text>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
