/** Says that whoever works on something loses it with the restriction that is about to be imposed. */
import { Text } from '@mantine/core'
import { useMe } from '#console/session/queries.ts'
import { Principal } from '../principal.tsx'

interface LosesWorkProps {
  readonly assignee: string | null
  /** Ids of those who are given access with it. */
  readonly people?: readonly string[]
}

export function LosesWork({ assignee, people = [] }: LosesWorkProps) {
  const { principal } = useMe()
  if (assignee === null || assignee === principal || people.some((user_id) => assignee === `user:${user_id}`))
    return null
  return (
    <Text size="sm" role="status" component="div">
      <Principal of={assignee} isAlwaysNamed /> works on it and, unless designated as the MLRO, loses it: the work
      returns to its queue.
    </Text>
  )
}
