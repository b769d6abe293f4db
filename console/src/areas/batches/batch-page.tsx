/** One batch: progress, distribution, migration between bands, items and failures. */
import '../../ui/decision/decision.css'
import { Alert, Button, Group, Menu, Progress, SimpleGrid, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { BatchItems } from '#console/ui/batch/batch-items.tsx'
import { batchQuery } from '#console/ui/batch/batch-query.ts'
import {
  type Batch,
  describeSource,
  formatCounts,
  getBatchTitle,
  isOngoing,
  noItemFilters,
} from '#console/ui/batch/batch-state.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, formatDuration } from '#console/ui/date-time.tsx'
import { getKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionName } from '#console/ui/decision/definition-name.tsx'
import { HeatMap } from '#console/ui/decision/heat-map.tsx'
import { Figure } from '#console/ui/decision/impact-view.tsx'
import { useSetFilters } from '#console/ui/filters.tsx'
import { toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { readFile } from '#console/ui/read-file.ts'
import { saveFile } from '#console/ui/save-file.ts'
import { SearchButton, SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { Distribution, toBarFilter } from './distribution.tsx'

type Summary = Schemas['BatchSummary']

export default function BatchPage() {
  const { batch_id = '' } = useParams({ strict: false }) as { batch_id?: string }
  const { data: batch } = useSuspenseQuery(batchQuery(batch_id))
  const may = usePermission()
  const { data: summary } = useQuery({
    queryKey: ['batches', 'summary', batch_id, batch.state, batch.counts.done, batch.counts.failed],
    queryFn: ({ signal }) =>
      probity.GET('/api/batch-evaluations/{batch_id}/summary', { params: { path: { batch_id } }, signal }),
    enabled: !isOngoing(batch) && may('getBatchSummary'),
  })
  return (
    <Page
      title={`Batch: ${getBatchTitle(batch)}`}
      mark={<StateBadge state={batch.state} />}
      about={batch.note ? toSentence(describeSource(batch)) : undefined}
      trail={
        <PageLink to="/batches" inherit>
          Batches
        </PageLink>
      }
      actions={<Actions batch={batch} />}
    >
      <Stack gap="md">
        {isOngoing(batch) && <Running batch={batch} />}
        <FailureNote batch={batch} />
        {summary && <SummaryView summary={summary} />}
        <div id={ITEMS}>
          <BatchItems batch={batch} summary={summary} />
        </div>
        <BatchRecord batch={batch} />
      </Stack>
    </Page>
  )
}

function Running({ batch }: { readonly batch: Batch }) {
  const { total, done, failed } = batch.counts
  return (
    <div role="status">
      <Text size="sm" mb={6}>
        {formatCounts(batch)} decided{failed > 0 && `, ${failed} failed`}. You can leave this page.
      </Text>
      <Progress
        value={total ? (100 * (done + failed)) / total : 100}
        animated
        striped={total === null}
        aria-label="Progress of the batch"
      />
    </div>
  )
}

function FailureNote({ batch }: { readonly batch: Batch }) {
  if (batch.state !== 'failed' || batch.problem === null) return null
  const { title = 'Batch failed', detail = '' } = batch.problem as { title?: string; detail?: string }
  return (
    <Alert color="red" title={title} role="alert">
      <Text size="sm">{detail}</Text>
    </Alert>
  )
}

function Actions({ batch }: { readonly batch: Batch }) {
  const may = usePermission()
  const path = { batch_id: batch.batch_id }
  const touches = ['batches', 'jobs']
  const cancel = useApiMutation(() => probity.POST('/api/batch-evaluations/{batch_id}/cancel', { params: { path } }), {
    invalidates: touches,
    successMessage: 'Batch cancellation requested',
  })
  const resume = useApiMutation(() => probity.POST('/api/batch-evaluations/{batch_id}/resume', { params: { path } }), {
    invalidates: touches,
    successMessage: 'Batch resumed',
  })
  const retry = useApiMutation(
    () => probity.POST('/api/batch-evaluations/{batch_id}/retry-failed', { params: { path } }),
    {
      invalidates: touches,
      successMessage: 'Retrying failed items',
    },
  )
  const save = useApiMutation(
    async (format: 'csv' | 'ndjson') => {
      const request = probity.raw.GET('/api/batch-evaluations/{batch_id}/content', {
        params: { path, query: { format } },
        headers: { accept: '*/*' },
        parseAs: 'blob',
      })
      return { format, content: await readFile(request) }
    },
    { invalidates: [], onDone: ({ format, content }) => saveFile(`batch-${batch.batch_id}.${format}`, content) },
  )
  const isStopped = batch.state === 'failed' || batch.state === 'cancelled'
  return (
    <Group gap="xs">
      <ProblemNote problem={cancel.problem ?? resume.problem ?? retry.problem ?? save.problem} />
      {isOngoing(batch) && may('cancelBatchEvaluation') && (
        <Button variant="default" loading={cancel.isRunning} onClick={() => cancel.run(undefined)}>
          Cancel
        </Button>
      )}
      {isStopped && may('resumeBatchEvaluation') && (
        <Button loading={resume.isRunning} onClick={() => resume.run(undefined)}>
          Resume
        </Button>
      )}
      {batch.state === 'succeeded' && batch.counts.failed > 0 && may('retryBatchItems') && (
        <Button variant="default" loading={retry.isRunning} onClick={() => retry.run(undefined)}>
          Retry failed items
        </Button>
      )}
      {may('listEvaluations') && (
        <SearchButton to="/evaluations" search={{ batch: batch.batch_id }} variant="default">
          Show in evaluations
        </SearchButton>
      )}
      {!isOngoing(batch) && may('diffBatchEvaluations') && (
        <SearchButton to="/batches/compare" search={{ second: batch.batch_id }} variant="default">
          Compare
        </SearchButton>
      )}
      {!isOngoing(batch) && may('getBatchContent') && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" loading={save.isRunning}>
              Download
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => save.run('csv')}>As CSV</Menu.Item>
            <Menu.Item onClick={() => save.run('ndjson')}>As NDJSON</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </Group>
  )
}

/** The bar whose items are shown. */
function useOpenedBar(): string | null {
  const { band, hit, state } = useSearch({ strict: false }) as Record<string, string | undefined>
  if (band !== undefined) return band
  if (hit !== undefined) return hit.replace('_', ' ')
  return state === 'failed' ? 'failed' : null
}

const ITEMS = 'items'

function SummaryView({ summary }: { readonly summary: Summary }) {
  const open = useSetFilters()
  const opened = useOpenedBar()
  const { changes } = summary
  const show = (filter: Readonly<Record<string, string>>) => {
    open({ ...noItemFilters, ...filter })
    document.getElementById(ITEMS)?.scrollIntoView({ block: 'start' })
  }
  const counted = (Object.entries(changes) as [string, number][]).filter(([, count]) => count > 0)
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
        <Figure name="items" value={summary.items} onOpen={() => show({})} />
        <Figure name="decided" value={summary.done} onOpen={() => show({ state: 'done' })} />
        <Figure name="failed" value={summary.failed} isLoud onOpen={() => show({ state: 'failed' })} />
        {summary.hits ? (
          <Figure name="hits" value={summary.hits.hit} isLoud onOpen={() => show({ hit: 'hit' })} />
        ) : (
          <Figure
            name="rated higher than before"
            value={changes.raised}
            isLoud
            onOpen={() => show({ change: 'raised' })}
          />
        )}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Section title="Distribution">
          <Distribution summary={summary} opened={opened} onOpen={({ name }) => open(toBarFilter(name, opened))} />
          <Text size="xs" c="dimmed" mt="xs">
            A bar shows its items below.
          </Text>
        </Section>
        {summary.migration.length > 0 && (
          <Section title="Migration from previous ratings">
            <HeatMap
              label="Migration between bands"
              moves={summary.migration}
              nothing={{ from: 'not rated', to: 'not rated' }}
              onOpen={({ from, to }) =>
                open({
                  band: to ?? undefined,
                  previous: from ?? undefined,
                  change: from === null ? 'first' : undefined,
                })
              }
            />
            <Text size="xs" c="dimmed" mt="xs">
              {counted.map(([change, count]) => `${change}: ${count.toLocaleString('en')}`).join(', ')}
            </Text>
          </Section>
        )}
      </SimpleGrid>
    </>
  )
}

function BatchRecord({ batch }: { readonly batch: Batch }) {
  const kind = getKind(batch.family)
  return (
    <Section title="Inputs and versions">
      <Facts
        of={[
          [
            'Decided by',
            <SearchLink
              key="by"
              to={`${kind.basePath}/${batch.definition_key}`}
              search={{ version: batch.definition_version, origin: batch.definition_origin }}
              size="sm"
            >
              <DefinitionName {...batch} origin={batch.definition_origin} />, version {batch.definition_version}
            </SearchLink>,
          ],
          ['Receipt', <CopyValue key="receipt" value={batch.receipt_id} name="the receipt id" />],
          ['Valid at', <DateTime key="valid" at={batch.valid_at} />],
          ['Source', describeSource(batch)],
          batch.source.sha256 !== null && [
            'SHA-256 of the file',
            <CopyValue key="sha" value={batch.source.sha256} name="the SHA-256 of the file" />,
          ],
          [
            'Started',
            <span key="ordered">
              <DateTime at={batch.created_at} />, by <Principal of={batch.created_by} />
            </span>,
          ],
          batch.finished_at !== null && ['Duration', formatDuration(batch.created_at, batch.finished_at)],
        ]}
      />
    </Section>
  )
}
