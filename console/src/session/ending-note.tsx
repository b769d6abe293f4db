/** Why the server ended the session, above the form to begin a new one. */
import { Alert } from '@mantine/core'
import { useEnding } from './session.ts'

export function EndingNote() {
  const ending = useEnding()
  if (ending === null) return null
  return (
    <Alert color="yellow" title={ending.title} role="status" mb="sm">
      {ending.detail}
    </Alert>
  )
}
