/** Progress and failure of a verification or export job. */
import { Alert, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { isUnfinished, jobQuery, useJobUpdates } from '#console/ui/follow-job.ts'
import { JobProgress } from '#console/ui/job-progress.tsx'

interface RunProgressProps {
  readonly job_id: string
  readonly doing: string
  readonly onEnd: () => void
  /** Renders the result of a successful job. */
  readonly children: (job: Schemas['Job']) => ReactNode
}

export function RunProgress({ job_id, doing, onEnd, children }: RunProgressProps) {
  const { data: job } = useSuspenseQuery(jobQuery(job_id))
  useJobUpdates(job)
  const ended = useRef(onEnd)
  ended.current = onEnd
  const isRunning = isUnfinished(job)
  useEffect(() => {
    if (!isRunning) ended.current()
  }, [isRunning])
  if (isRunning) {
    return (
      <div role="status">
        <Text size="sm" mb="xs">
          {doing}
        </Text>
        <JobProgress job={job} />
      </div>
    )
  }
  if (job.state === 'succeeded') return children(job)
  return (
    <Alert color="red" title={job.state === 'cancelled' ? 'Cancelled' : 'Failed'} role="alert">
      {String(job.problem?.['detail'] ?? 'Start it again.')}
    </Alert>
  )
}
