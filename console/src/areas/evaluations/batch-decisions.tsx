/** The decisions of one batch on the page of all decisions, with the same filters as on the page of the batch. */
import { Group, Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { BatchItems } from '#console/ui/batch/batch-items.tsx'
import { type Batch, describeSource, isOngoing, noItemFilters } from '#console/ui/batch/batch-state.ts'
import { formatDateTime } from '#console/ui/date-format.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { useSetFilters } from '#console/ui/filters.tsx'
import { ButtonLink } from '#console/ui/link.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'

const MAX_BATCHES = 200

const describeBatch = (batch: Batch): string =>
  `${batch.definition_key} version ${batch.definition_version}: ${describeSource(batch)}, ${formatDateTime(batch.created_at)}`

export function BatchDecisions({ batch_id }: { readonly batch_id: string | null }) {
  const set = useSetFilters()
  const { data: batches } = useQuery({
    queryKey: ['batches', 'newest'],
    queryFn: ({ signal }) =>
      probity.GET('/api/batch-evaluations', { params: { query: { limit: MAX_BATCHES } }, signal }),
  })
  if (!batches) return <ListSkeleton />
  const chosen = batch_id ?? batches.items[0]?.batch_id ?? null
  if (chosen === null)
    return (
      <EmptyState
        title="No batch has been run yet"
        about="A batch rates many subjects at once, from a file or by a filter. Its decisions are listed here."
      />
    )
  return (
    <Stack gap="sm">
      <Group gap="xs" align="flex-end">
        <Select
          size="xs"
          w={460}
          maw="100%"
          label="Batch"
          searchable
          allowDeselect={false}
          data={batches.items.map((batch) => ({ value: batch.batch_id, label: describeBatch(batch) }))}
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
