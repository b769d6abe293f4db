/** Makes the files of a report again and says whether they are identical. */
import { Alert, Badge, Button, List, Text } from '@mantine/core'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Suspense, useEffect, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { isUnfinished, jobQuery, useJobUpdates } from '#console/ui/follow-job.ts'
import { JobProgress } from '#console/ui/job-progress.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'
import { isGone, type Report } from './report-queries.ts'

interface VerifiedFile {
  readonly format: string
  readonly is_identical: boolean
  readonly differs: readonly string[]
}

const differenceTexts: Readonly<Record<string, string>> = {
  engine: 'another version of the engine',
  fonts: 'other fonts',
  template: 'another layout',
  snapshot: 'the stored snapshot was altered',
  request: 'what is stored about the request was altered',
  manifest: 'the stored manifest was altered',
  content: 'the stored file was altered',
  missing: 'it cannot be made here',
  unexplained: 'no difference of the installation explains it',
}

export function VerifiedMark({ report: { verified_at, is_identical } }: { readonly report: Report }) {
  if (verified_at === null) return <span className="quiet">not yet</span>
  return (
    <>
      <Badge variant="light" tt="none" color={is_identical ? 'teal' : 'red'}>
        {is_identical ? 'identical' : 'differs'}
      </Badge>
      <Text size="xs" c="dimmed" component="div">
        <RelativeTime at={verified_at} />
      </Text>
    </>
  )
}

/** From the list: waits until the files are made again, and says what came out. */
export function VerifyButton({ report, name }: { readonly report: Report; readonly name: string }) {
  const { report_id } = report
  const may = usePermission()
  const verify = useApiMutation(
    async () => {
      const { job_id } = await probity.POST('/api/reports/{report_id}/verify', { params: { path: { report_id } } })
      const { result } = await probity.jobs.wait(job_id)
      return result as { is_identical: boolean }
    },
    {
      invalidates: ['reports'],
      successMessage: ({ is_identical }) =>
        is_identical ? 'Identical: the same bytes were made again' : 'Not identical: open the report to see why',
    },
  )
  if (!may('verifyReport') || report.snapshot_sha256 === null || isGone(report)) return null
  return (
    <>
      <Button
        size="xs"
        variant="default"
        loading={verify.isRunning}
        aria-label={`Verify ${name}`}
        onClick={() => verify.run(undefined)}
      >
        Verify
      </Button>
      <ProblemNote problem={verify.problem} />
    </>
  )
}

export function ReportVerification({ report }: { readonly report: Report }) {
  const { report_id, verified_at, is_identical } = report
  const may = usePermission()
  const [job_id, setJob] = useState<string | null>(null)
  const verify = useApiMutation(
    () => probity.POST('/api/reports/{report_id}/verify', { params: { path: { report_id } } }),
    { invalidates: [], onDone: (job) => setJob(job.job_id) },
  )
  return (
    <Section title="Verification">
      <Text size="sm" mb="sm">
        {verified_at === null ? (
          'Not verified since it was made.'
        ) : (
          <>
            Last made again <DateTime at={verified_at} />: {is_identical ? 'identical' : 'not identical'}.
          </>
        )}
      </Text>
      {may('verifyReport') && (
        <Button
          variant="default"
          mb="sm"
          style={{ alignSelf: 'flex-start' }}
          loading={verify.isRunning}
          onClick={() => verify.run(undefined)}
        >
          Verify
        </Button>
      )}
      <ProblemNote problem={verify.problem} />
      {job_id !== null && (
        <Suspense fallback={<Text size="sm">The files are made again…</Text>}>
          <VerificationResult key={job_id} job_id={job_id} />
        </Suspense>
      )}
    </Section>
  )
}

function VerificationResult({ job_id }: { readonly job_id: string }) {
  const queries = useQueryClient()
  const { data: job } = useSuspenseQuery(jobQuery(job_id))
  useJobUpdates(job)
  const isRunning = isUnfinished(job)
  useEffect(() => {
    if (!isRunning) void queries.invalidateQueries({ queryKey: ['reports', 'one'] })
  }, [queries, isRunning])
  if (isRunning) return <JobProgress job={job} />
  if (job.state !== 'succeeded')
    return (
      <Alert color="red" title="Not verified" role="alert">
        {String(job.problem?.['detail'] ?? 'Start it again.')}
      </Alert>
    )
  const { is_identical, files } = job.result as { is_identical: boolean; files: readonly VerifiedFile[] }
  return (
    <Alert
      color={is_identical ? 'teal' : 'red'}
      title={is_identical ? 'Identical: the same bytes were made again' : 'Not identical'}
      role="status"
    >
      <List size="sm">
        {files.map((file) => (
          <List.Item key={file.format}>
            {file.format.toUpperCase()}: {file.is_identical ? 'identical' : 'differs'}
            {file.differs.length > 0 && ` (${file.differs.map((one) => differenceTexts[one] ?? one).join(', ')})`}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
