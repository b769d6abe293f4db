/** The progress of a job, as a bar if the total is known. */
import { Group, Progress, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { StateBadge } from './badges.tsx'
import { formatJobKind, formatProgress } from './event-texts.ts'
import { RestrictionMark } from './restriction/padlock.tsx'

export function JobProgress({ job }: { readonly job: Schemas['Job'] }) {
  const { done, total } = job.progress
  const percent = total ? Math.min(100, (100 * done) / total) : null
  const isRunning = job.state === 'running'
  return (
    <Group gap="sm" wrap="nowrap">
      <Progress.Root flex={1} size="sm">
        <Progress.Section
          value={percent ?? (isRunning ? 100 : 0)}
          animated={isRunning}
          striped={isRunning && percent === null}
          aria-label={`Progress: ${formatJobKind(job.kind)}`}
          {...(percent === null && { withAria: false })}
        />
      </Progress.Root>
      {done > 0 && (
        <Text span size="xs" c="dimmed" miw="max-content">
          {formatProgress(job.progress)}
        </Text>
      )}
      <StateBadge state={job.state} />
      <RestrictionMark restriction_id={job.restriction_id} />
    </Group>
  )
}
