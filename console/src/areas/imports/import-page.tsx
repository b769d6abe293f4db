/** One import: progress, counts, rejected rows, blocking gates and result. */
import { Alert, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, formatDuration } from '#console/ui/date-time.tsx'
import { DifferenceCounts } from '#console/ui/difference-counts.tsx'
import { formatSize } from '#console/ui/file-drop.tsx'
import { isUnfinished, jobQuery, useJobUpdates } from '#console/ui/follow-job.ts'
import { formatCount } from '#console/ui/format.ts'
import { Gates } from '#console/ui/gates.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { JobProgress } from '#console/ui/job-progress.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { datasetQuery, differenceQuery } from '#console/ui/registry-queries.ts'
import { SearchButton } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { DeltaSentence } from './delta-counts.tsx'
import { GuardOverride } from './guard-override.tsx'
import { ImportRejects } from './import-rejects.tsx'
import { ImportState } from './import-state.tsx'
import { PutInForce } from './put-in-force.tsx'
import { SourceFiles } from './source-files.tsx'

type Import = Schemas['Import']

const importQuery = (import_id: string) =>
  queryOptions({
    queryKey: ['imports', 'one', import_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/imports/{import_id}', { params: { path: { import_id } }, signal }),
    refetchInterval: ({ state }) => (state.data && isOngoing(state.data) ? 3000 : false),
  })
const isOngoing = ({ state }: Pick<Import, 'state'>): boolean => state === 'queued' || state === 'running'

export default function ImportPage() {
  const { import_id = '' } = useParams({ strict: false }) as { import_id?: string }
  const { data: one } = useSuspenseQuery(importQuery(import_id))
  const { data: dataset } = useQuery({ ...datasetQuery(one.list_key), throwOnError: false })
  const may = usePermission()
  return (
    <Page
      title={`Import into ${dataset?.title ?? one.list_key}`}
      mark={<ImportState one={one} />}
      about={one.source.file_name}
      trail={
        <PageLink to="/imports" inherit>
          Imports
        </PageLink>
      }
      actions={<Actions one={one} />}
    >
      <Stack gap="md">
        {one.job_id !== null && isOngoing(one) && <Progress one={one} job_id={one.job_id} />}
        <Outcome one={one} />
        <Gates gates={one.gates} />
        {one.state === 'blocked' && may('startImport') && <GuardOverride one={one} />}
        {one.rejects.length > 0 && may('listImportRejects') && <ImportRejects one={one} />}
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Counts one={one} />
          <ImportRecord one={one} />
        </SimpleGrid>
      </Stack>
    </Page>
  )
}

function Progress({ one, job_id }: { readonly one: Import; readonly job_id: string }) {
  const queries = useQueryClient()
  const { data: job } = useSuspenseQuery(jobQuery(job_id))
  useJobUpdates(job)
  const hasEnded = !isUnfinished(job)
  useEffect(() => {
    if (!hasEnded) return
    queries.invalidateQueries({ queryKey: importQuery(one.import_id).queryKey })
    queries.invalidateQueries({ queryKey: ['datasets'] })
  }, [queries, hasEnded, one.import_id])
  return (
    <div role="status">
      <Text size="sm" mb="xs">
        The file is being read. You can leave this page.
      </Text>
      <JobProgress job={job} />
    </div>
  )
}

function Actions({ one }: { readonly one: Import }) {
  const may = usePermission()
  const cancel = useApiMutation(
    () =>
      probity.POST('/api/reference-data/imports/{import_id}/cancel', {
        params: { path: { import_id: one.import_id } },
      }),
    { invalidates: ['imports', 'jobs'], successMessage: 'Import cancellation requested' },
  )
  return (
    <>
      <ProblemNote problem={cancel.problem} />
      {isOngoing(one) && may('cancelImport') && (
        <Button variant="default" loading={cancel.isRunning} onClick={() => cancel.run(undefined)}>
          Cancel import
        </Button>
      )}
      {!isOngoing(one) && may('startImport') && (
        <SearchButton to="/imports/new" search={{ list: one.list_key }} variant="default">
          {one.state === 'rejected' ? 'Import corrected file' : 'Import another file'}
        </SearchButton>
      )}
    </>
  )
}

function Outcome({ one }: { readonly one: Import }) {
  if (one.state === 'published') return <PublishedNote one={one} />
  if (one.state === 'rejected') {
    const { rejected, rows } = one.counts ?? { rejected: 0, rows: 0 }
    const looks_like = one.warnings.find(({ code }) => code === 'looks_like')
    return (
      <Alert color="red" icon={<Icon name="warning" />} title="No version created" role="status">
        {rows > 0
          ? `${rejected.toLocaleString('en')} of ${formatCount(rows, 'row')} were rejected. Correct the file and import it again; nothing was stored.`
          : 'Rows were rejected. Correct the file and import it again; nothing was stored.'}
        {looks_like && ` ${looks_like.message}`}
      </Alert>
    )
  }
  if (one.state === 'unchanged') {
    return (
      <Alert color="gray" title="No changes" role="status">
        The file has the same content as the newest version, so no version was created.
      </Alert>
    )
  }
  if (one.state === 'blocked') {
    return (
      <Alert color="orange" icon={<Icon name="warning" />} title="Stopped by a guard" role="status">
        The new version would violate the guards of the list. Check the source file first.
      </Alert>
    )
  }
  if (one.state === 'failed') {
    return (
      <Alert color="red" title={String(one.problem?.['title'] ?? 'Import failed')} role="alert">
        {String(one.problem?.['detail'] ?? 'Start it again.')}
      </Alert>
    )
  }
  return null
}

function PublishedNote({ one }: { readonly one: Import }) {
  const { data: dataset } = useQuery({ ...datasetQuery(one.list_key, 'own'), staleTime: 0 })
  const active = dataset?.active?.version ?? null
  const to = one.version ?? 0
  const { data: difference } = useQuery({
    ...differenceQuery(one.list_key, { version: active ?? 1, origin: 'own' }, { version: to, origin: 'own' }),
    enabled: active !== null && active !== to,
  })
  const isInForce = active === to
  return (
    <Alert color="teal" icon={<Icon name="check" />} title={`Version ${to} published`} role="status">
      <Stack gap="xs">
        <Text size="sm">
          {isInForce
            ? 'It is in force.'
            : active === null
              ? 'It is not in force yet. No version of this list is in force.'
              : `It is not in force yet. Version ${active} is in force.`}
        </Text>
        {difference?.summary && <DifferenceCounts of={difference.summary} />}
        <Group gap="xs">
          {dataset && !isInForce && <PutInForce dataset={dataset} version={to} />}
          {active !== null && !isInForce && (
            <SearchButton size="xs" to={`/datasets/${one.list_key}/diff`} search={{ from: active, to, origin: 'own' }}>
              Compare with version in force
            </SearchButton>
          )}
          <SearchButton
            size="xs"
            variant="default"
            to={`/datasets/${one.list_key}`}
            search={{ tab: 'versions', origin: 'own' }}
          >
            Open list
          </SearchButton>
        </Group>
      </Stack>
    </Alert>
  )
}

/** Counts and warnings. */
function Counts({ one: { counts, delta, warnings } }: { readonly one: Import }) {
  if (counts === null && warnings.length === 0) return null
  return (
    <Section title="Counts">
      {counts && (
        <Facts
          of={[
            ['Rows read', counts.rows.toLocaleString('en')],
            ['Accepted', counts.accepted.toLocaleString('en')],
            ['Rejected', counts.rejected.toLocaleString('en')],
            ['Content', formatSize(counts.data_bytes)],
          ]}
        />
      )}
      {delta && <DeltaSentence counts={delta} />}
      {warnings.length > 0 && (
        <Alert
          color="orange"
          icon={<Icon name="warning" />}
          title={formatCount(warnings.length, 'warning')}
          mt={counts ? 'sm' : 0}
        >
          <ul className="plain-list">
            {warnings.map(({ code, message }) => (
              <li key={`${code} ${message}`}>{message}</li>
            ))}
          </ul>
        </Alert>
      )}
    </Section>
  )
}

function ImportRecord({ one }: { readonly one: Import }) {
  return (
    <Section title="Details">
      <Facts
        of={[
          ['File', one.source.file_name],
          ['Size', formatSize(one.source.size_bytes)],
          one.source.fingerprint === undefined
            ? ['SHA-256', one.source.sha256 && <CopyValue value={one.source.sha256} name="the file hash" />]
            : ['File fingerprint', <CopyValue key="file" value={one.source.fingerprint} name="the file fingerprint" />],
          ['Adapter', `${one.adapter_key}, version ${one.adapter_version}`],
          one.files.length > 0 && ['Files read', <SourceFiles key="files" files={one.files} />],
          ['Started by', <Principal key="by" of={one.created_by} />],
          ['Started', <DateTime key="at" at={one.created_at} />],
          one.finished_at !== null && ['Duration', formatDuration(one.created_at, one.finished_at)],
          one.job_id !== null && [
            'Job',
            <PageLink key="job" to={`/jobs/${one.job_id}`} size="sm">
              Open job
            </PageLink>,
          ],
        ]}
      />
    </Section>
  )
}
