/** Hides an alert, with its past, from everybody who is not given access. */
import { Text } from '@mantine/core'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { LosesWork } from '#console/ui/restriction/loses-work.tsx'
import { type Alert, touched } from './alert-queries.ts'

interface RestrictDialogProps {
  readonly alert: Alert
  readonly onClose: () => void
}

export function RestrictDialog({ alert: { restriction_id, assignee }, onClose }: RestrictDialogProps) {
  const impose = useApiMutation(
    // Compliance officers, who alone are offered this, always see it.
    () =>
      probity.POST('/api/restrictions/{restriction_id}/impose', {
        params: { path: { restriction_id: restriction_id ?? '' } },
      }),
    {
      invalidates: [...touched, 'restrictions'],
      successMessage: 'Restricted. Use “Who has access” to add people',
      onDone: onClose,
    },
  )
  return (
    <FormDialog
      title="Restrict the alert"
      isOpen
      onClose={onClose}
      onSubmit={() => impose.run(undefined)}
      submit="Restrict"
      change={impose}
    >
      <Text size="sm">
        Only you and the MLRO see it from now on, with its history, clocks and events. You can then give access to
        others by name.
      </Text>
      <LosesWork assignee={assignee} />
    </FormDialog>
  )
}
