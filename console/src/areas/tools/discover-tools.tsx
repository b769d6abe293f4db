/** Asks a tool server which tools it offers, and follows the job until the list is known. */
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { isUnfinished, jobQuery, useJobUpdates } from '#console/ui/follow-job.ts'
import { JobProgress } from '#console/ui/job-progress.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { describeServerFault } from '#console/ui/tool/tool-texts.ts'

export function DiscoverTools({ server_key }: { readonly server_key: string }) {
  const [job_id, setJobId] = useState<string | null>(null)
  const { data: job } = useQuery({ ...jobQuery(job_id ?? ''), enabled: job_id !== null, throwOnError: false })
  const discover = useApiMutation(
    () => probity.POST('/api/mcp/servers/{server_key}/discover', { params: { path: { server_key } } }),
    { invalidates: [], onDone: (started) => setJobId(started.job_id) },
  )
  const isRunning = discover.isRunning || (job !== undefined && isUnfinished(job))
  return (
    <Stack gap="xs" align="flex-end">
      <Group gap="sm">
        {job && <FollowedDiscovery job={job} />}
        <Button size="xs" variant="default" loading={isRunning} onClick={() => discover.run(undefined)}>
          List the tools now
        </Button>
      </Group>
      <ProblemNote problem={discover.problem} />
    </Stack>
  )
}

function getFailure({ problem }: Schemas['Job']): string {
  const fault = problem?.['fault']
  return typeof fault === 'string' ? describeServerFault(fault) : 'The tools could not be listed.'
}

function FollowedDiscovery({ job }: { readonly job: Schemas['Job'] }) {
  const queries = useQueryClient()
  useJobUpdates(job)
  const isDone = !isUnfinished(job)
  useEffect(() => {
    if (isDone) queries.invalidateQueries({ queryKey: ['tool-servers'] })
  }, [queries, isDone])
  if (!isDone) return <JobProgress job={job} />
  return (
    <Text size="sm" role="status">
      {job.state === 'succeeded' ? 'Listed just now.' : getFailure(job)}
    </Text>
  )
}
