/** Hides a document, with its past, from everybody who is not given access. */
import { Text } from '@mantine/core'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'

interface RestrictDocumentProps {
  readonly document_id: string
  readonly onClose: () => void
}

export function RestrictDocument({ document_id, onClose }: RestrictDocumentProps) {
  const restrict = useApiMutation(
    () => probity.POST('/api/documents/{document_id}/restrict', { params: { path: { document_id } } }),
    {
      invalidates: ['documents', 'restrictions'],
      successMessage: 'Restricted. Use “Who has access” to add people',
      onDone: onClose,
    },
  )
  return (
    <FormDialog
      title="Restrict the document"
      isOpen
      onClose={onClose}
      onSubmit={() => restrict.run(undefined)}
      submit="Restrict"
      change={restrict}
    >
      <Text size="sm">
        Only you and the MLRO see it from now on, with its custody, jobs and events. You can then give access to others
        by name.
      </Text>
    </FormDialog>
  )
}
