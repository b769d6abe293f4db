/** The progress and result of a subject upload, with every rejected row. */
import { Alert, Badge, SimpleGrid, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { Figure } from '#console/ui/decision/impact-view.tsx'
import { formatSize } from '#console/ui/file-drop.tsx'
import { isUnfinished, jobQuery, useJobUpdates } from '#console/ui/follow-job.ts'
import { formatCount } from '#console/ui/format.ts'
import { JobProgress } from '#console/ui/job-progress.tsx'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RejectRow, rejectHead } from '#console/ui/reject-table.tsx'
import { Facts, Section } from '#console/ui/section.tsx'

type SubjectUpload = Schemas['SubjectBulk']
type Rejected = Schemas['SubjectBulkRejectPage']['items'][number]

const bulkQuery = (bulk_id: string) =>
  queryOptions({
    queryKey: ['subjects', 'bulk', bulk_id],
    queryFn: ({ signal }) => probity.GET('/api/subjects/bulk/{bulk_id}', { params: { path: { bulk_id } }, signal }),
  })

export default function UploadPage() {
  const { bulk_id = '' } = useParams({ strict: false }) as { bulk_id?: string }
  const { data: bulk } = useSuspenseQuery(bulkQuery(bulk_id))
  const may = usePermission()
  const { source, counts } = bulk
  return (
    <Page
      title={`Upload: ${source.file_name ?? 'a file'}`}
      mark={<ResultBadge bulk={bulk} />}
      trail={
        <PageLink to="/subjects" inherit>
          Subjects
        </PageLink>
      }
      actions={
        may('startSubjectBulk') && (
          <>
            {counts.created + counts.changed > 0 && !isUnfinished(bulk) && may('startBatchEvaluation') && (
              <ButtonLink to="/batches/new">Rate them in a batch</ButtonLink>
            )}
            <ButtonLink to="/subjects/upload" variant="default">
              Upload another file
            </ButtonLink>
          </>
        )
      }
    >
      <Stack gap="md">
        {isUnfinished(bulk) && <Progress bulk={bulk} />}
        <FailureNote bulk={bulk} />
        {!isUnfinished(bulk) && <Counts counts={counts} />}
        {counts.rejected > 0 && may('listSubjectBulkRejects') && <Rejects bulk_id={bulk_id} />}
        <Section title="Details">
          <Facts
            of={[
              ['File', `${source.file_name ?? 'an upload'}, ${formatSize(source.size_bytes)}, ${bulk.format}`],
              source.sha256 !== null && ['SHA-256', <CopyValue key="sha" value={source.sha256} name="its SHA-256" />],
              [
                'Started',
                <span key="ordered">
                  <DateTime at={bulk.created_at} />, by <Principal of={bulk.created_by} />
                </span>,
              ],
            ]}
          />
        </Section>
      </Stack>
    </Page>
  )
}

/** A job that stored nothing has succeeded as a job only. */
function ResultBadge({ bulk: { state, counts } }: { readonly bulk: SubjectUpload }) {
  if (state !== 'succeeded' || counts.rejected === 0) return <StateBadge state={state} />
  const isNone = counts.rejected === counts.rows
  return (
    <Badge variant="light" tt="none" miw="max-content" color={isNone ? 'red' : 'orange'}>
      {isNone ? 'nothing stored' : 'stored in part'}
    </Badge>
  )
}

function Progress({ bulk }: { readonly bulk: SubjectUpload }) {
  const queries = useQueryClient()
  const { data: job } = useSuspenseQuery(jobQuery(bulk.job_id))
  useJobUpdates(job)
  const hasEnded = !isUnfinished(job)
  useEffect(() => {
    if (hasEnded) queries.invalidateQueries({ queryKey: ['subjects'] })
  }, [queries, hasEnded])
  return (
    <div role="status">
      <Text size="sm" mb="xs">
        The file is being processed. You can leave this page.
      </Text>
      <JobProgress job={job} />
    </div>
  )
}

function FailureNote({ bulk }: { readonly bulk: SubjectUpload }) {
  if (isUnfinished(bulk) || bulk.problem === null) return null
  const { title = 'Upload failed', detail = '' } = bulk.problem as { title?: string; detail?: string }
  return (
    <Alert color="red" title={title} role="alert">
      <Text size="sm">{detail}</Text>
    </Alert>
  )
}

function Counts({ counts }: { readonly counts: SubjectUpload['counts'] }) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, md: 5 }} spacing="sm" role="status" aria-label="Result of the upload">
      <Figure name="rows" value={counts.rows} />
      <Figure name="created" value={counts.created} />
      <Figure name="updated" value={counts.changed} />
      <Figure name="unchanged" value={counts.unchanged} />
      <Figure name="rejected" value={counts.rejected} isLoud />
    </SimpleGrid>
  )
}

function Rejects({ bulk_id }: { readonly bulk_id: string }) {
  const list = usePages<Rejected>(['subjects', 'bulk-rejects', bulk_id], (cursor, signal) =>
    probity.GET('/api/subjects/bulk/{bulk_id}/rejects', {
      params: { path: { bulk_id }, query: { ...cursor, limit: 50 } },
      signal,
    }),
  )
  const page = list.data?.pages[0] as Schemas['SubjectBulkRejectPage'] | undefined
  return (
    <Section title={formatCount(page?.faults ?? 0, 'reason for rejection', 'reasons for rejection')}>
      {page?.truncated && (
        <Text size="sm" c="dimmed" mb="xs">
          Not all rejected rows are stored.
        </Text>
      )}
      {(page?.groups.length ?? 0) > 0 && <RejectGroups groups={page?.groups ?? []} />}
      <ListTable<Rejected>
        label="Rejected rows"
        list={list}
        empty={{
          title: 'No rejected rows',
          about: 'Rows that could not be stored appear here with the reason.',
        }}
        head={rejectHead}
        row={(reject) => <RejectRow key={reject.seq} reject={reject} />}
      />
    </Section>
  )
}

/** A column that is named otherwise is one mistake, however many rows there are. */
function RejectGroups({ groups }: { readonly groups: Schemas['SubjectBulkRejectPage']['groups'] }) {
  return (
    <Alert color="orange" variant="light" title="In several rows" mb="sm">
      {groups.map(({ code, pointer, message, rows, first_row }) => (
        <Text size="sm" key={`${code} ${pointer} ${message}`}>
          {message} <span className="quiet">{`${formatCount(rows, 'row')}, the first is row ${first_row}`}</span>
        </Text>
      ))}
    </Alert>
  )
}
