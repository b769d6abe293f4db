/** Running jobs with their progress. */

import { Skeleton, Stack, Text } from '@mantine/core'
import { isProblem } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { formatJobKind } from '#console/ui/event-texts.ts'
import { JobProgress } from '#console/ui/job-progress.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { Section } from '#console/ui/section.tsx'

const interval_ms = 2000

async function unfinished(signal: AbortSignal) {
  const inState = (state: 'running' | 'queued') =>
    probity.GET('/api/jobs', { params: { query: { state, limit: 10 } }, signal })
  const [running, queued] = await Promise.all([inState('running'), inState('queued')])
  return [...running.items, ...queued.items]
}

export function RunningJobs() {
  const { data, error } = useQuery({
    queryKey: ['jobs', 'unfinished'],
    queryFn: ({ signal }) => unfinished(signal),
    refetchInterval: interval_ms,
    staleTime: 0,
    throwOnError: false,
  })
  return (
    <Section
      title="Running jobs"
      actions={
        <PageLink to="/jobs" size="sm">
          All jobs
        </PageLink>
      }
    >
      <ProblemNote problem={isProblem(error) ? error : null} />
      {data === undefined && error === null && <Skeleton height={60} />}
      {data?.length === 0 && (
        <Text size="sm" c="dimmed">
          No job is queued or running.
        </Text>
      )}
      <Stack gap="sm">
        {data?.map((job) => (
          <div key={job.job_id}>
            <PageLink to={`/jobs/${job.job_id}`} size="sm" fw={500}>
              {formatJobKind(job.kind)}
            </PageLink>
            <RestrictionMark restriction_id={job.restriction_id} />
            <JobProgress job={job} />
          </div>
        ))}
      </Stack>
    </Section>
  )
}
