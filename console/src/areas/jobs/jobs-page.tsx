/** The jobs of the tenant that the user may see, newest first. */

import { Group, Table } from '@mantine/core'
import { probity } from '#console/session/client.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { formatDuration, RelativeTime } from '#console/ui/date-time.tsx'
import { formatJobKind, formatProgress } from '#console/ui/event-texts.ts'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { omitUndefined } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'

const states = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const

export default function JobsPage() {
  const state = useFilter('state', states)
  const list = usePages(
    ['jobs', 'list', state],
    (cursor, signal) =>
      probity.GET('/api/jobs', { params: { query: { ...cursor, ...omitUndefined({ state }), limit: 50 } }, signal }),
    { refetch_ms: 5000 },
  )
  return (
    <Page title="Jobs" about="Background jobs of this tenant: imports, exports, verifications, maintenance.">
      <Group gap="xs" mb="sm" align="flex-end">
        <Filter name="state" label="State" values={states} everything="Any state" />
      </Group>
      <ListTable
        label="Jobs"
        list={list}
        empty={{
          title: 'No jobs yet',
          about:
            'Imports, batches, exports and analyses run as jobs. Each one appears here with its progress and result.',
          filters: ['state'],
        }}
        head={[
          { name: 'Kind' },
          { name: 'State' },
          { name: 'Progress', from: 'sm' },
          { name: 'Started by', from: 'md' },
          { name: 'Created' },
          { name: 'Duration', from: 'md' },
        ]}
        row={(job) => (
          <Table.Tr key={job.job_id}>
            <Table.Td>
              <PageLink to={`/jobs/${job.job_id}`} fw={500} size="sm">
                {formatJobKind(job.kind)}
              </PageLink>
              <RestrictionMark restriction_id={job.restriction_id} />
            </Table.Td>
            <Table.Td>
              <StateBadge state={job.state} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              {job.progress.done > 0 || job.progress.total !== null ? formatProgress(job.progress) : ''}
            </Table.Td>
            <Table.Td visibleFrom="md">
              <Principal of={job.created_by} />
            </Table.Td>
            <Table.Td>
              <RelativeTime at={job.created_at} />
            </Table.Td>
            <Table.Td visibleFrom="md">
              {job.started_at && job.finished_at ? formatDuration(job.started_at, job.finished_at) : ''}
            </Table.Td>
          </Table.Tr>
        )}
      />
    </Page>
  )
}
