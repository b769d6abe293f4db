/** The reason why the session ended, shown above the sign-in form. */
import { Alert } from '@mantine/core'
import { useSessionEnd } from './session.ts'

export function SessionEndNote() {
  const ending = useSessionEnd()
  if (ending === null) return null
  return (
    <Alert color="yellow" title={ending.title} role="status" mb="sm">
      {ending.detail}
    </Alert>
  )
}
