/** Creates a restriction, with the user as the first person who has access. */
import { Switch, Textarea } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'

export function NewRestriction({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const [purpose, setPurpose] = useState('')
  const [isInForce, setInForce] = useState(true)
  const create = useApiMutation(
    () => probity.POST('/api/restrictions', { body: { purpose, is_in_force: isInForce } }),
    {
      invalidates: ['restrictions'],
      successMessage: 'Restriction created',
      onDone: ({ restriction_id }) => navigate({ to: `/restrictions/${restriction_id}` }),
    },
  )
  return (
    <FormDialog
      title="Restrict access"
      isOpen
      onClose={onClose}
      onSubmit={() => create.run(undefined)}
      submit="Create"
      change={create}
    >
      <Textarea
        label="Purpose"
        description="Only people with access see it. You are the first of them."
        required
        autosize
        minRows={2}
        maxLength={500}
        data-autofocus
        value={purpose}
        onChange={(event) => setPurpose(event.currentTarget.value)}
      />
      <Switch
        label="In force at once"
        description="Otherwise it is only prepared. When it is imposed later, what was stored before is hidden too."
        checked={isInForce}
        onChange={(event) => setInForce(event.currentTarget.checked)}
      />
    </FormDialog>
  )
}
