/** Offboards a subject: its record is kept, and it can no longer be evaluated. */
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
    { invalidates: ['subjects'], successMessage: `${subject.name} offboarded`, onDone: onClose },
  )
  return (
    <FormDialog
      title={`Offboard ${subject.name}?`}
      isOpen
      onClose={onClose}
      onSubmit={() => end.run(undefined)}
      submit="Offboard"
      change={end}
    >
      <Text size="sm">
        The record, its ratings and its decisions are kept. The subject can no longer be changed or evaluated.
      </Text>
      <ReasonField isFirst label="Reason" value={reason} onChange={setReason} />
    </FormDialog>
  )
}
