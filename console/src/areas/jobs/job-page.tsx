/** One job: progress, result or error, cancel and restart. */

import { Alert, Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, formatDuration } from '#console/ui/date-time.tsx'
import { ConfirmDialog } from '#console/ui/dialog.tsx'
import { formatJobKind } from '#console/ui/event-texts.ts'
import { isUnfinished, jobQuery, useJobUpdates } from '#console/ui/follow-job.ts'
import { JobProgress } from '#console/ui/job-progress.tsx'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { JobFailure } from '#console/ui/provider/job-failure.tsx'
import { Facts, Section } from '#console/ui/section.tsx'

type Job = Schemas['Job']

export default function JobPage() {
  const { job_id = '' } = useParams({ strict: false }) as { job_id?: string }
  const { data: job } = useSuspenseQuery(jobQuery(job_id))
  useJobUpdates(job)
  return (
    <Page
      title={formatJobKind(job.kind)}
      mark={<StateBadge state={job.state} />}
      trail={
        <PageLink to="/jobs" inherit>
          Jobs
        </PageLink>
      }
      actions={<Actions job={job} />}
      restriction_id={job.restriction_id}
      width="text"
    >
      <Stack gap="md">
        {isUnfinished(job) && <JobProgress job={job} />}
        {job.cancel_requested && isUnfinished(job) && (
          <Alert color="yellow" role="status">
            Cancellation requested: the job stops at its next step.
          </Alert>
        )}
        {job.problem && (
          <Alert color={job.state === 'failed' ? 'red' : 'yellow'} title={String(job.problem['title'] ?? 'Error')}>
            <Text size="sm">
              <JobFailure reason={String(job.problem['detail'] ?? '')} />
            </Text>
          </Alert>
        )}
        <Section title="Details">
          <Facts
            of={[
              ['Job', <CopyValue key="id" value={job.job_id} name="the job id" />],
              ['Started by', <Principal key="by" of={job.created_by} />],
              ['Created', <DateTime key="created" at={job.created_at} />],
              job.started_at !== null && ['Started', <DateTime key="started" at={job.started_at} />],
              job.finished_at !== null && ['Finished', <DateTime key="finished" at={job.finished_at} />],
              job.started_at !== null &&
                job.finished_at !== null && ['Duration', formatDuration(job.started_at, job.finished_at)],
              ['Attempts', `${job.attempts} of ${job.max_attempts}`],
              job.state === 'queued' &&
                job.deferred_since !== null && ['Continues', <DateTime key="continues" at={job.run_at} />],
              ['Resource', job.resource && <span className="mono">{job.resource}</span>],
            ]}
          />
        </Section>
        {job.result && (
          <Section title="Result">
            <JsonBlock value={job.result} name="Result as JSON" />
          </Section>
        )}
      </Stack>
    </Page>
  )
}

function Actions({ job }: { readonly job: Job }) {
  const may = usePermission()
  const [isAsking, asking] = useDisclosure(false)
  const params = { path: { job_id: job.job_id } }
  const cancel = useApiMutation(() => probity.POST('/api/jobs/{job_id}/cancel', { params }), {
    invalidates: ['jobs'],
    successMessage: 'Job cancellation requested',
    onDone: asking.close,
  })
  const retry = useApiMutation(() => probity.POST('/api/jobs/{job_id}/retry', { params }), {
    invalidates: ['jobs'],
    successMessage: 'Job restarted',
  })
  const canRetry = job.state === 'failed' || job.state === 'cancelled'
  return (
    <>
      {isUnfinished(job) && !job.cancel_requested && may('cancelJob') && (
        <Button variant="default" onClick={asking.open}>
          Cancel job
        </Button>
      )}
      {canRetry && may('retryJob') && (
        <Button loading={retry.isRunning} onClick={() => retry.run(undefined)}>
          Restart
        </Button>
      )}
      <ProblemNote problem={retry.problem} />
      <ConfirmDialog
        title="Cancel this job?"
        isOpen={isAsking}
        onClose={asking.close}
        onConfirm={() => cancel.run(undefined)}
        confirm="Cancel job"
        change={cancel}
        isDangerous
      >
        Completed work is kept. The job can be restarted later and continues from its last checkpoint.
      </ConfirmDialog>
    </>
  )
}
