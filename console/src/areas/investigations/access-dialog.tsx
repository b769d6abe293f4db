/** Restricts a case to named people, or lifts that. Who has access is changed on the page of its restriction. */
import { Alert, Text } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { type Investigation, touchedByEvidence } from './investigation-queries.ts'

interface AccessDialogProps {
  readonly investigation: Investigation
  readonly onClose: () => void
}

export function AccessDialog({ investigation, onClose }: AccessDialogProps) {
  const { investigation_id, revision, is_restricted } = investigation
  const [reason, setReason] = useState('')
  const change = useApiMutation(
    () =>
      probity.PUT('/api/investigations/{investigation_id}/access', {
        params: { path: { investigation_id } },
        body: { is_restricted: !is_restricted, reason, expected_revision: revision },
      }),
    {
      invalidates: [...touchedByEvidence, 'restrictions'],
      successMessage: is_restricted ? 'The restriction is lifted' : 'The case is restricted',
      onDone: onClose,
    },
  )
  return (
    <FormDialog
      title={is_restricted ? 'Lift the restriction' : 'Restrict the case'}
      isOpen
      onClose={onClose}
      onSubmit={() => change.run(undefined)}
      submit={is_restricted ? 'Lift' : 'Restrict'}
      change={change}
    >
      {is_restricted ? (
        <Text size="sm">Everybody whose role allows it sees the case and what belongs to it again.</Text>
      ) : (
        <Alert color="orange" title="Do not discuss with the customer" role="note">
          From now on only you, the MLRO and people whom you give access see the case and what belongs to it.
        </Alert>
      )}
      <ReasonField isFirst value={reason} onChange={setReason} />
    </FormDialog>
  )
}
