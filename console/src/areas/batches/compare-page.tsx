/** Compares two batches: changed versions, migration of results, and the cause of each changed decision. */

import { Badge, Group, Select, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Suspense } from 'react'
import { probity } from '#console/session/client.ts'
import { type Batch, getBatchTitle, isOngoing } from '#console/ui/batch/batch-state.ts'
import { formatDateTime } from '#console/ui/date-format.ts'
import { HeatMap } from '#console/ui/decision/heat-map.tsx'
import { Figure } from '#console/ui/decision/impact-view.tsx'
import { formatResult, ResultMark } from '#console/ui/decision/outcome.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { ListSkeleton, ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { toSearch } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { Distribution, toBarFilter, toResultBars } from './distribution.tsx'

type Comparison = Schemas['BatchComparison']
type Item = Comparison['items'][number]
type Side = Item['before']

export default function CompareBatchesPage() {
  const { first, second } = useSearch({ strict: false }) as { first?: string; second?: string }
  return (
    <Page
      title="Compare two batches"
      about="Items are matched by subject or external id. Each changed decision is traced to the version or inputs that caused it."
      trail={
        <PageLink to="/batches" inherit>
          Batches
        </PageLink>
      }
    >
      <Stack gap="md">
        <BatchChoice first={first ?? null} second={second ?? null} />
        {first && second && (
          <Suspense fallback={<ListSkeleton />}>
            <ComparisonView key={`${first} ${second}`} first={first} second={second} />
          </Suspense>
        )}
      </Stack>
    </Page>
  )
}

interface ChoiceProps {
  readonly first: string | null
  readonly second: string | null
}

function BatchChoice({ first, second }: ChoiceProps) {
  const set = useSetFilter()
  const { data } = useSuspenseQuery({
    queryKey: ['batches', 'to-compare'],
    queryFn: ({ signal }) => probity.GET('/api/batch-evaluations', { params: { query: { limit: 100 } }, signal }),
  })
  const ended = data.items.filter((batch) => !isOngoing(batch))
  const choices = (without: string | null) =>
    ended
      .filter(({ batch_id }) => batch_id !== without)
      .map((batch) => ({ value: batch.batch_id, label: describeBatch(batch) }))
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
      <Select
        label="From"
        placeholder="Choose a batch"
        searchable
        data={choices(second)}
        value={first}
        onChange={(chosen) => set('first', chosen)}
      />
      <Select
        label="To"
        placeholder="Choose another batch"
        searchable
        data={choices(first)}
        value={second}
        onChange={(chosen) => set('second', chosen)}
      />
    </SimpleGrid>
  )
}

const describeBatch = (batch: Batch): string =>
  `${batch.definition_key} version ${batch.definition_version}: ${getBatchTitle(batch)}, ${formatDateTime(batch.created_at)}`

const summaryQuery = (batch_id: string) => ({
  queryKey: ['batches', 'summary', batch_id],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    probity.GET('/api/batch-evaluations/{batch_id}/summary', { params: { path: { batch_id } }, signal }),
  throwOnError: false,
})

/** The results of both batches on one scale; a bar opens its items. */
function Distributions({ first, second }: { readonly first: string; readonly second: string }) {
  const navigate = useNavigate()
  const summaries = [useQuery(summaryQuery(first)).data, useQuery(summaryQuery(second)).data]
  const most = Math.max(0, ...summaries.flatMap((one) => (one ? toResultBars(one) : [])).map(({ count }) => count))
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      {[first, second].map((batch_id, place) => {
        const summary = summaries[place]
        return (
          <Section key={batch_id} title={place === 0 ? 'Results of the first batch' : 'Results of the second batch'}>
            {summary ? (
              <Distribution
                summary={summary}
                most={most}
                onOpen={({ name }) =>
                  navigate({ to: `/batches/${batch_id}`, search: toSearch(toBarFilter(name, null)) })
                }
              />
            ) : (
              <ListSkeleton />
            )}
          </Section>
        )
      })}
    </SimpleGrid>
  )
}

function ComparisonView({ first, second }: { readonly first: string; readonly second: string }) {
  const list = usePages<Item>(['batches', 'comparison', first, second], (cursor, signal) =>
    probity.GET('/api/batch-evaluations/{batch_id}/compare/{other_batch_id}', {
      params: { path: { batch_id: first, other_batch_id: second }, query: { ...cursor, limit: 50 } },
      signal,
    }),
  )
  const whole = list.data?.pages[0] as Comparison | undefined
  if (!whole) return <ListSkeleton />
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 5 }} spacing="sm" role="status" aria-label="Items of the two batches">
        <Figure name="in both" value={whole.common} />
        <Figure name="changed" value={whole.different} isLoud />
        <Figure name="unchanged" value={whole.same} />
        <Figure name="only in the first" value={whole.only_first} />
        <Figure name="only in the second" value={whole.only_second} />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Section title="Changed versions">
          <Versions versions={whole.versions} />
        </Section>
        {whole.common > 0 && (
          <Section title="Migration of results">
            <HeatMap
              label="Migration between the batches"
              moves={countMoves(whole)}
              nothing={{ from: 'failed', to: 'failed' }}
            />
          </Section>
        )}
      </SimpleGrid>
      <Distributions first={first} second={second} />
      <Section title="Changed decisions">
        <ListTable<Item>
          label="Changed decisions"
          list={list}
          empty={{
            title: 'No decision changed',
            about: 'Both batches decided every common item alike.',
          }}
          head={[{ name: 'Item' }, { name: 'From' }, { name: 'To' }, { name: 'Cause' }]}
          row={(item) => <ItemRow key={`${item.seq} ${item.other_seq}`} item={item} />}
        />
      </Section>
    </>
  )
}

/** Migration between bands, or between hit and no hit for a rule; null for a failed item. */
function countMoves({ migration, hit_migration }: Comparison) {
  const words = (hit: boolean | null) => (hit === null ? null : formatResult({ band: null, hit }))
  if (hit_migration.length === 0) return migration
  return hit_migration.map(({ from, to, count }) => ({ from: words(from), to: words(to), count }))
}

function Versions({ versions }: { readonly versions: Comparison['versions'] }) {
  if (versions.length === 0) return <Text size="sm">None: both batches used the same versions.</Text>
  const words = (version: number | null, owner: string | null, overlay: number | null) =>
    version === null
      ? 'not used'
      : `${version}${owner === null ? '' : ` (${owner})`}${overlay === null ? '' : ` with overlay ${overlay}`}`
  const isMixed = versions.some((one) => one.from_origin !== one.to_origin)
  return (
    <PlainTable
      label="Changed versions"
      empty={null}
      head={[{ name: 'Matrix, rule or list' }, { name: 'From' }, { name: 'To' }]}
    >
      {versions.map(({ family, key, ...sides }) => (
        <Table.Tr key={`${family} ${key}`}>
          <Table.Td>
            {family} <span className="mono">{key}</span>
          </Table.Td>
          <Table.Td>{words(sides.from_version, isMixed ? sides.from_origin : null, sides.from_overlay)}</Table.Td>
          <Table.Td>{words(sides.to_version, isMixed ? sides.to_origin : null, sides.to_overlay)}</Table.Td>
        </Table.Tr>
      ))}
    </PlainTable>
  )
}

function ItemRow({ item }: { readonly item: Item }) {
  return (
    <Table.Tr>
      <Table.Td>
        {item.subject_id === null ? (
          <span className="mono">{item.external_id ?? `item ${item.seq}`}</span>
        ) : (
          <PageLink to={`/subjects/${item.subject_id}`} size="sm" className="mono">
            {item.external_id ?? item.subject_id.slice(-8)}
          </PageLink>
        )}
      </Table.Td>
      <Table.Td>
        <Result of={item.before} />
      </Table.Td>
      <Table.Td>
        <Result of={item.after} />
      </Table.Td>
      <Table.Td>
        {item.because.length === 0 ? (
          <span className="quiet">{isFailed(item) ? 'one item failed' : 'several causes'}</span>
        ) : (
          item.because.map((cause) => (
            <Badge key={cause} variant="default" tt="none" fw={500} mr={4}>
              {cause}
            </Badge>
          ))
        )}
      </Table.Td>
    </Table.Tr>
  )
}

const isFailed = ({ before, after }: Item): boolean => before.state === 'failed' || after.state === 'failed'

function Result({ of }: { readonly of: Side }) {
  if (of.state === 'failed')
    return (
      <Badge variant="light" color="gray" tt="none" miw="max-content">
        failed
      </Badge>
    )
  return (
    <Group gap={6} wrap="nowrap">
      <ResultMark of={of} />
      {of.score_bps !== null && <span className="number quiet">{of.score_bps.toLocaleString('en')}</span>}
    </Group>
  )
}
