/** Why the server ended the session, above the form to begin a new one. */
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
