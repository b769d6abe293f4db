/** Invites a user. Inviting with roles may need approval. */
import { Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { type Role, RolePicker } from '#console/ui/role-picker.tsx'

const blank = { name: '', email: '', team: '', locale: '', roles: [] as Role[] }

export function InviteDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const [person, setPerson] = useState(blank)
  const invite = useApiMutation(
    ({ name, email, team, locale, roles }: typeof blank) =>
      probity.POST('/api/users', { body: { name, email, team: team || null, locale: locale || null, roles } }),
    { invalidates: ['users'], successMessage: ({ name }) => `${name} invited`, onDone: close },
  )
  const faults = faultsByField(invite.problem)

  function close() {
    setPerson(blank)
    invite.reset()
    onClose()
  }
  const field = (name: 'name' | 'email' | 'team' | 'locale') => ({
    value: person[name],
    error: faults[name],
    onChange: (event: { currentTarget: HTMLInputElement }) =>
      setPerson({ ...person, [name]: event.currentTarget.value }),
  })

  return (
    <FormDialog
      title="Invite a user"
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => invite.run(person)}
      submit="Send invitation"
      change={invite}
      size="lg"
    >
      <TextInput label="Name" required maxLength={200} data-autofocus autoComplete="off" {...field('name')} />
      <TextInput label="Email" required maxLength={254} type="email" autoComplete="off" {...field('email')} />
      <Group grow align="flex-start">
        <TextInput label="Team" maxLength={100} {...field('team')} />
        <TextInput label="Language" placeholder="en-GB" maxLength={35} {...field('locale')} />
      </Group>
      <RolePicker label="Roles" value={person.roles} onChange={(roles) => setPerson({ ...person, roles })} />
      <ApprovalNote request={invite.waiting} />
    </FormDialog>
  )
}
