/** The decisions of one batch on the page of all decisions, with the same filters as on the page of the batch. */
import { Group, Pill, Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { BatchItems } from '#console/ui/batch/batch-items.tsx'
import { type Batch, getBatchTitle, isOngoing, noItemFilters } from '#console/ui/batch/batch-state.ts'
import { formatDateTime } from '#console/ui/date-format.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { describeUnknown, useSetFilters } from '#console/ui/filters.tsx'
import { ButtonLink } from '#console/ui/link.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { findUnknownTime, toInstant } from '#console/ui/local-time.ts'

const MAX_BATCHES = 200

const describeBatch = (batch: Batch): string =>
  `${batch.definition_key} version ${batch.definition_version}: ${getBatchTitle(batch)}, ${formatDateTime(batch.created_at)}`

/** The filters of the page that choose among batches; the others filter the decisions of one. */
interface BatchSearch {
  readonly family?: string
  readonly definition?: string
  readonly batch?: string
  readonly from?: string
  readonly until?: string
}

const batchFilters = { family: undefined, definition: undefined, from: undefined, until: undefined } as const

function isMatch(batch: Batch, { family, definition, from, until }: BatchSearch): boolean {
  const [from_at, until_at] = [toInstant(from ?? ''), toInstant(until ?? '')]
  return (
    (!family || batch.family === family) &&
    (!definition || batch.definition_key === definition) &&
    (from_at === undefined || Date.parse(batch.created_at) >= Date.parse(from_at)) &&
    (until_at === undefined || Date.parse(batch.created_at) < Date.parse(until_at))
  )
}

/** Empty: every batch is offered. */
function describeBatchFilters({ family, definition, from, until }: BatchSearch): string {
  const [from_at, until_at] = [toInstant(from ?? ''), toInstant(until ?? '')]
  const times = [from_at && `from ${formatDateTime(from_at)}`, until_at && `until ${formatDateTime(until_at)}`]
  const words = [definition || (family && `any ${family}`), ...times].filter(Boolean)
  return words.length === 0 ? '' : `Only batches: ${words.join(', ')}`
}

export function BatchDecisions({ search }: { readonly search: BatchSearch }) {
  const set = useSetFilters()
  const { data: batches } = useQuery({
    queryKey: ['batches', 'newest'],
    queryFn: ({ signal }) =>
      probity.GET('/api/batch-evaluations', { params: { query: { limit: MAX_BATCHES } }, signal }),
  })
  if (!batches) return <ListSkeleton />
  const described = describeBatchFilters(search)
  const offered = batches.items.filter((one) => one.batch_id === search.batch || isMatch(one, search))
  const chosen = search.batch ?? offered[0]?.batch_id ?? null
  const unknown = [search.from, search.until].flatMap((time) => describeUnknown(findUnknownTime(time ?? '')) || [])
  const filters = (
    <>
      {unknown.map((text) => (
        <Text key={text} size="sm" c="red">
          {text}
        </Text>
      ))}
      {described !== '' && <BatchFilters described={described} />}
    </>
  )
  if (chosen === null && batches.items.length > 0)
    return (
      <Stack gap="sm">
        {filters}
        <Text size="sm">No batch among the newest {batches.items.length.toLocaleString('en')} fits this filter.</Text>
      </Stack>
    )
  if (chosen === null)
    return (
      <Stack gap="sm">
        {filters}
        <EmptyState
          title="No batch has been run yet"
          about="A batch rates many subjects at once, from a file or by a filter. Its decisions are listed here."
        />
      </Stack>
    )
  return (
    <Stack gap="sm">
      {filters}
      <Group gap="xs" align="flex-end">
        <Select
          size="xs"
          w={460}
          maw="100%"
          label="Batch"
          searchable
          allowDeselect={false}
          data={offered.map((batch) => ({ value: batch.batch_id, label: describeBatch(batch) }))}
          value={chosen}
          onChange={(value) => value && set({ batch: value, ...noItemFilters })}
        />
        <ButtonLink to={`/batches/${chosen}`} size="xs" variant="default">
          Open the batch
        </ButtonLink>
      </Group>
      <ChosenBatch key={chosen} batch_id={chosen} />
    </Stack>
  )
}

function BatchFilters({ described }: { readonly described: string }) {
  const set = useSetFilters()
  return (
    <Pill
      size="md"
      w="fit-content"
      withRemoveButton
      onRemove={() => set(batchFilters)}
      removeButtonProps={{ 'aria-label': 'Show all batches', 'aria-hidden': false, tabIndex: 0 }}
    >
      {described}
    </Pill>
  )
}

function ChosenBatch({ batch_id }: { readonly batch_id: string }) {
  const { data: batch } = useQuery({
    queryKey: ['batches', 'one', batch_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/batch-evaluations/{batch_id}', { params: { path: { batch_id } }, signal }),
    throwOnError: false,
  })
  const { data: summary } = useQuery({
    queryKey: ['batches', 'summary', batch_id, batch?.state, batch?.counts.done, batch?.counts.failed],
    queryFn: ({ signal }) =>
      probity.GET('/api/batch-evaluations/{batch_id}/summary', { params: { path: { batch_id } }, signal }),
    enabled: batch !== undefined && !isOngoing(batch),
  })
  if (!batch) return <Text size="sm">This batch cannot be read.</Text>
  return <BatchItems batch={batch} summary={summary} title="Batch decisions" />
}
