/** Ending a relationship: the record then stays as it was, and nothing is decided about the subject any more. */
import { Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'

interface OffboardDialogProps {
  readonly subject: Schemas['Subject']
  readonly onClose: () => void
}

export function OffboardDialog({ subject, onClose }: OffboardDialogProps) {
  const [reason, setReason] = useState('')
  const end = useApiMutation(
    () =>
      probity.POST('/api/subjects/{subject_id}/offboard', {
        params: { path: { subject_id: subject.subject_id } },
        body: { reason, expected_revision: subject.revision },
      }),
    { invalidates: ['subjects'], successMessage: `${subject.name} is offboarded`, onDone: onClose },
  )
  return (
    <FormDialog
      title={`Offboard ${subject.name}?`}
      isOpen
      onClose={onClose}
      onSubmit={() => end.run(undefined)}
      submit="End the relationship"
      change={end}
    >
      <Text size="sm">
        The record stays as it is, with every rating and decision. It cannot be changed or decided about again.
      </Text>
      <ReasonField isFirst label="Why it ends" value={reason} onChange={setReason} />
    </FormDialog>
  )
}
