/** Follows an evaluation that asks providers first, and opens the decision. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { DateTime } from '#console/ui/date-time.tsx'
import { isUnfinished, jobQuery, useJobUpdates } from '#console/ui/follow-job.ts'
import { JobProgress } from '#console/ui/job-progress.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Section } from '#console/ui/section.tsx'

type Job = Schemas['Job']

interface AskedProvidersProps {
  readonly started: Job
  /** Back to the form. */
  readonly onClose: () => void
}

export function AskedProviders({ started, onClose }: AskedProvidersProps) {
  const { data: job = started } = useQuery({ ...jobQuery(started.job_id), throwOnError: false })
  return <FollowedEvaluation job={job} onClose={onClose} />
}

function FollowedEvaluation({ job, onClose }: { readonly job: Job; readonly onClose: () => void }) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  useJobUpdates(job)
  const evaluation_id = job.state === 'succeeded' ? job.result?.['evaluation_id'] : undefined
  useEffect(() => {
    if (typeof evaluation_id !== 'string') return
    for (const name of ['evaluations', 'subjects', 'provider-calls']) queries.invalidateQueries({ queryKey: [name] })
    navigate({ to: `/evaluations/${evaluation_id}` })
  }, [navigate, queries, evaluation_id])
  const isDeferred = job.state === 'queued' && job.deferred_since !== null
  return (
    <Section title="Asking the providers">
      <Stack gap="sm">
        <JobProgress job={job} />
        {isUnfinished(job) && (
          <Text size="sm" role="status">
            {isDeferred ? (
              <>
                A provider cannot be asked now. The work continues at <DateTime at={job.run_at} />; you may leave this
                page.
              </>
            ) : (
              'The decision opens as soon as the answers are there. You may leave this page: the work continues.'
            )}
          </Text>
        )}
        {!isUnfinished(job) && job.problem && <EvaluationProblem problem={job.problem} />}
        <Group gap="xs">
          {!isUnfinished(job) && (
            <Button size="xs" variant="default" onClick={onClose}>
              Back to the form
            </Button>
          )}
          <PageLink to={`/jobs/${job.job_id}`} size="sm">
            Open the job
          </PageLink>
        </Group>
      </Stack>
    </Section>
  )
}

function EvaluationProblem({ problem }: { readonly problem: NonNullable<Job['problem']> }) {
  const call_id = problem['call_id']
  return (
    <Alert color="red" role="alert" title={String(problem['title'] ?? 'Nothing was decided')}>
      <Text size="sm">{String(problem['detail'] ?? '')}</Text>
      {typeof call_id === 'string' && (
        <PageLink to={`/providers/calls/${call_id}`} size="sm">
          Open the call
        </PageLink>
      )}
    </Alert>
  )
}
