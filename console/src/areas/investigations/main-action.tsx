/** The one act that brings a case forward, for this user. */
import { Button } from '@mantine/core'
import type { Investigation } from './investigation-queries.ts'

interface MainActionProps {
  readonly investigation: Investigation
  readonly onGoTo: (pointer: string) => void
}

export function MainAction({ investigation: { main_action, next_actions } }: MainActionProps) {
  const next = next_actions.find(({ action }) => action === main_action)
  if (next === undefined) return null
  return <Button disabled={!next.is_permitted}>{next.action}</Button>
}
