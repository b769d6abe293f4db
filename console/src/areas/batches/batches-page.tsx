/** All batches, newest first. */
import { Table, Text } from '@mantine/core'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { type Batch, describeSource, formatCounts, getBatchTitle } from '#console/ui/batch/batch-state.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { getKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionName } from '#console/ui/decision/definition-name.tsx'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'

export default function BatchesPage() {
  const may = usePermission()
  const list = usePages<Batch>(
    ['batches', 'list'],
    (cursor, signal) => probity.GET('/api/batch-evaluations', { params: { query: { ...cursor, limit: 50 } }, signal }),
    { refetch_ms: 5000 },
  )
  return (
    <Page
      title="Batches"
      about="Bulk evaluations on one set of versions. Each item is decided and stored, or fails on its own with its errors."
      actions={
        <>
          {may('listBatchSchedules') && (
            <ButtonLink to="/batches/schedules" variant="default">
              Schedules
            </ButtonLink>
          )}
          {may('startBatchEvaluation') && <ButtonLink to="/batches/new">New batch</ButtonLink>}
        </>
      }
    >
      <ListTable<Batch>
        label="Batches"
        list={list}
        empty={{
          title: 'No batches yet',
          about: 'A batch rates many subjects on the same versions and shows how ratings move.',
          action: may('startBatchEvaluation') && (
            <ButtonLink to="/batches/new" size="xs">
              Start the first batch
            </ButtonLink>
          ),
        }}
        head={[
          { name: 'Batch' },
          { name: 'State' },
          { name: 'Items' },
          { name: 'Failed', from: 'sm' },
          { name: 'Decided by', from: 'md' },
          { name: 'By', from: 'lg' },
        ]}
        row={(one) => (
          <Table.Tr key={one.batch_id}>
            <Table.Td>
              <PageLink to={`/batches/${one.batch_id}`} size="sm" fw={500}>
                {getBatchTitle(one)}
              </PageLink>
              <Text size="xs" c="dimmed">
                <RelativeTime at={one.created_at} />
                {one.note && `, ${describeSource(one)}`}
              </Text>
              <Text size="xs" c="dimmed" hiddenFrom="md">
                <DefinitionName {...one} origin={one.definition_origin} />, version {one.definition_version}
              </Text>
            </Table.Td>
            <Table.Td>
              <StateBadge state={one.state} />
            </Table.Td>
            <Table.Td>{formatCounts(one)}</Table.Td>
            <Table.Td visibleFrom="sm">
              {one.counts.failed === 0 ? (
                0
              ) : (
                <SearchLink to={`/batches/${one.batch_id}`} search={{ state: 'failed' }} size="sm">
                  {one.counts.failed.toLocaleString('en')}
                  <span className="sr-only"> failed items</span>
                </SearchLink>
              )}
            </Table.Td>
            <Table.Td visibleFrom="md">
              <PageLink to={`${getKind(one.family).basePath}/${one.definition_key}`} size="sm">
                <DefinitionName {...one} origin={one.definition_origin} />
              </PageLink>
              , version {one.definition_version}
            </Table.Td>
            <Table.Td visibleFrom="lg">
              <Principal of={one.created_by} />
            </Table.Td>
          </Table.Tr>
        )}
      />
    </Page>
  )
}
