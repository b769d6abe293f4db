/**
 * Dialogs that create, rotate and revoke a key. Creating a key may need approval; rotating it afterwards shows its
 * secret.
 */
import { NumberInput, Select, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { ConfirmDialog, FormDialog } from '#console/ui/dialog.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { type Role, RolePicker } from '#console/ui/role-picker.tsx'

type ApiKey = Schemas['ApiKey']
type OnCreated = (made: Schemas['ApiKeyWithSecret']) => void

interface CreateDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onCreated: OnCreated
}

const blank = { name: '', roles: [] as Role[], expires_in_days: '' as number | string }

export function CreateDialog({ isOpen, onClose, onCreated: onMade }: CreateDialogProps) {
  const [key, setKey] = useState(blank)
  const create = useApiMutation(
    ({ name, roles, expires_in_days }: typeof blank) =>
      probity.POST('/api/api-keys', {
        body: { name, roles, ...(typeof expires_in_days === 'number' && { expires_in_days }) },
      }),
    {
      invalidates: ['api-keys'],
      onDone: (made) => {
        close()
        onMade(made)
      },
    },
  )
  const faults = faultsByField(create.problem)
  function close() {
    setKey(blank)
    create.reset()
    onClose()
  }
  return (
    <FormDialog
      title="Create API key"
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => create.run(key)}
      submit="Create"
      change={create}
      size="lg"
    >
      <TextInput
        label="Name"
        description="The system that uses the key."
        required
        maxLength={200}
        data-autofocus
        autoComplete="off"
        value={key.name}
        error={faults['name']}
        onChange={(event) => setKey({ ...key, name: event.currentTarget.value })}
      />
      <NumberInput
        label="Expires after"
        description="Up to 730 days. Without it the key is valid until it is revoked."
        suffix=" days"
        min={1}
        max={730}
        value={key.expires_in_days}
        error={faults['expires_in_days']}
        onChange={(expires_in_days) => setKey({ ...key, expires_in_days })}
      />
      <RolePicker label="Roles" forMachine value={key.roles} onChange={(roles) => setKey({ ...key, roles })} />
      <ApprovalNote request={create.waiting} />
      {create.waiting !== null && (
        <Text size="sm">After approval, rotate the key here to get its secret. Only you can do this.</Text>
      )}
    </FormDialog>
  )
}

interface KeyDialogProps {
  /** The dialog is open while this is set. */
  readonly apiKey: ApiKey | null
  readonly onClose: () => void
}

const overlapOptions = [
  { value: '0', label: 'Ends immediately' },
  { value: '60', label: 'One hour' },
  { value: '1440', label: 'One day' },
  { value: '10080', label: 'One week' },
]

export function RotateDialog({ apiKey, onClose, onMade: onCreated }: KeyDialogProps & { readonly onMade: OnCreated }) {
  const [overlap, setOverlap] = useState('1440')
  const rotate = useApiMutation(
    (key_id: string) =>
      probity.POST('/api/api-keys/{key_id}/rotate', {
        params: { path: { key_id } },
        body: { overlap_minutes: Number(overlap) },
      }),
    {
      invalidates: ['api-keys'],
      onDone: (made) => {
        onClose()
        onCreated(made)
      },
    },
  )
  function close() {
    rotate.reset()
    onClose()
  }
  return (
    <FormDialog
      title={`Rotate ${apiKey?.name ?? ''}`}
      isOpen={apiKey !== null}
      onClose={close}
      onSubmit={() => apiKey && rotate.run(apiKey.key_id)}
      submit="Rotate"
      change={rotate}
    >
      <Text size="sm">The key gets a new secret. Configure the client before the old one expires.</Text>
      <Select
        label="Old secret remains valid for"
        data={overlapOptions}
        value={overlap}
        allowDeselect={false}
        onChange={(value) => setOverlap(value ?? '1440')}
      />
    </FormDialog>
  )
}

export function RevokeDialog({ apiKey, onClose }: KeyDialogProps) {
  const revoke = useApiMutation(
    (key_id: string) => probity.DELETE('/api/api-keys/{key_id}', { params: { path: { key_id } } }),
    { invalidates: ['api-keys'], successMessage: 'API key revoked', onDone: onClose },
  )
  function close() {
    revoke.reset()
    onClose()
  }
  return (
    <ConfirmDialog
      title={`Revoke ${apiKey?.name ?? ''}?`}
      isOpen={apiKey !== null}
      onClose={close}
      onConfirm={() => apiKey && revoke.run(apiKey.key_id)}
      confirm="Revoke"
      change={revoke}
      isDangerous
    >
      The key and all its tokens stop working within five seconds. This cannot be undone; the history is kept.
    </ConfirmDialog>
  )
}
