/** Giving access, excluding a person, and emergency access for an auditor. */
import { Select, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { toInstant } from '#console/ui/local-time.ts'
import { PersonSelect } from '#console/ui/person-select.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'

interface DialogProps {
  readonly restriction_id: string
  readonly onClose: () => void
}

/** Nobody changes their own access. */
function useOwnId(): string {
  const { principal } = useMe()
  return principal.replace(/^user:/, '')
}

interface AccessChange {
  readonly effect: 'grant' | 'exclude'
  readonly until?: string | null
  readonly reason: string | null
}

function useAccessChange({ restriction_id, onClose }: DialogProps, successMessage: string) {
  return useApiMutation(
    ({ user_id, ...body }: { user_id: string } & AccessChange) =>
      probity.PUT('/api/restrictions/{restriction_id}/access/{user_id}', {
        params: { path: { restriction_id, user_id } },
        body,
      }),
    { invalidates: ['restrictions'], successMessage, onDone: onClose },
  )
}

interface GrantDialogProps extends DialogProps {
  readonly listed: readonly Schemas['RestrictionAccess'][]
}

export function GrantDialog({ listed, ...dialog }: GrantDialogProps) {
  const own_id = useOwnId()
  const [user_id, setUser] = useState<string | null>(null)
  const [until, setUntil] = useState('')
  const [reason, setReason] = useState('')
  const grant = useAccessChange(dialog, 'Access given')
  const held = listed.find((access) => access.user_id === user_id)
  return (
    <FormDialog
      title="Give access"
      isOpen
      onClose={dialog.onClose}
      onSubmit={() =>
        user_id !== null &&
        grant.run({ user_id, effect: 'grant', until: toInstant(until) ?? null, reason: reason === '' ? null : reason })
      }
      submit="Give access"
      change={grant}
    >
      <PersonSelect label="Person" isFirst user_id={user_id} onChange={setUser} except={[own_id]} />
      {held && (
        <Text size="sm" role="status">
          {held.effect === 'exclude'
            ? 'This person is excluded. Giving access ends the exclusion.'
            : 'This person has access already. This replaces it.'}
        </Text>
      )}
      <TextInput
        type="datetime-local"
        label="Until"
        description="Leave it empty for access without an end."
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
      <ReasonField isRequired={false} value={reason} onChange={setReason} />
    </FormDialog>
  )
}

export function ExcludeDialog(dialog: DialogProps) {
  const own_id = useOwnId()
  const [user_id, setUser] = useState<string | null>(null)
  const [reason, setReason] = useState('')
  const exclude = useAccessChange(dialog, 'Person excluded')
  return (
    <FormDialog
      title="Exclude a person"
      isOpen
      onClose={dialog.onClose}
      onSubmit={() =>
        user_id !== null && exclude.run({ user_id, effect: 'exclude', reason: reason === '' ? null : reason })
      }
      submit="Exclude"
      change={exclude}
    >
      <Text size="sm">The person sees nothing of it, even as the designated MLRO.</Text>
      <PersonSelect label="Person" isFirst user_id={user_id} onChange={setUser} except={[own_id]} />
      <ReasonField isRequired={false} value={reason} onChange={setReason} />
    </FormDialog>
  )
}

const hourChoices = [1, 2, 4, 8].map((hours) => ({
  value: String(hours),
  label: hours === 1 ? '1 hour' : `${hours} hours`,
}))

export function BreakGlassDialog({ restriction_id, onClose }: DialogProps) {
  const own_id = useOwnId()
  const [user_id, setUser] = useState<string | null>(null)
  const [hours, setHours] = useState('1')
  const [reason, setReason] = useState('')
  const grant = useApiMutation(
    (auditor_id: string) =>
      probity.POST('/api/restrictions/{restriction_id}/break-glass', {
        params: { path: { restriction_id } },
        body: { user_id: auditor_id, hours: Number(hours), reason },
      }),
    { invalidates: ['restrictions'], successMessage: 'Emergency access given', onDone: onClose },
  )
  return (
    <FormDialog
      title="Emergency access for an auditor"
      isOpen
      onClose={onClose}
      onSubmit={() => user_id !== null && grant.run(user_id)}
      submit="Give access"
      change={grant}
    >
      <Text size="sm">It ends by itself after at most eight hours. What the auditor reads is in the access log.</Text>
      <PersonSelect
        label="Auditor"
        isFirst
        user_id={user_id}
        onChange={setUser}
        roles={['auditor']}
        except={[own_id]}
      />
      <Select
        label="For"
        allowDeselect={false}
        data={hourChoices}
        value={hours}
        onChange={(value) => setHours(value ?? '1')}
      />
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  )
}
