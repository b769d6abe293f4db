/** Step 5: replays the newest decision with the versions it used. */
import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { DateTime } from '#console/ui/date-time.tsx'
import { Replay } from '#console/ui/decision/replay.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { latestDecisionQuery } from './tenant-facts.ts'

export function ReplayStep({ onReplayed }: { readonly onReplayed: () => void }) {
  const { data: decision } = useQuery({ ...latestDecisionQuery, throwOnError: false })
  if (!decision) return null
  return (
    <Stack gap="sm">
      <Text size="sm">
        The decision of <DateTime at={decision.decided_at} />:{' '}
        <PageLink to={`/evaluations/${decision.evaluation_id}`} inherit>
          open it with its reasons and versions
        </PageLink>
      </Text>
      <Text size="sm" c="dimmed">
        A replay stores nothing, so this mark is kept in this browser only.
      </Text>
      <Replay evaluation_id={decision.evaluation_id} onReplayed={onReplayed} />
    </Stack>
  )
}
