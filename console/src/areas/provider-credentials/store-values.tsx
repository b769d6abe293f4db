/**
 * Stores the values of a credential as a staged version. The values are kept in the fields only: not in the state of the
 * page, not in the cache of requests, and not in the browser's store of passwords.
 */
import './provider-credentials.css'
import { PasswordInput, Text, Textarea, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useRef, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { toInstant } from '#console/ui/local-time.ts'
import { formatMember } from '#console/ui/provider/provider-texts.ts'

type Member = Schemas['ProviderStatus']['credential_members'][number]

interface StoreValuesProps {
  readonly credential: Schemas['ProviderCredential']
  readonly members: readonly Member[]
  readonly onClose: () => void
}

/** Mounted while open: closing it removes the fields with their values. */
export function StoreValues({ credential, members, onClose }: StoreValuesProps) {
  const fields = useRef(new Map<string, HTMLInputElement | HTMLTextAreaElement>())
  const [expires, setExpires] = useState('')
  const readValues = (): Record<string, string> =>
    Object.fromEntries(
      [...fields.current].flatMap(([name, field]) => (field.value === '' ? [] : [[name, field.value]])),
    )
  const store = useApiMutation(
    () =>
      probity.POST('/api/provider-credentials/{credential_id}/versions', {
        params: { path: { credential_id: credential.credential_id } },
        body: { members: readValues(), expires_at: toInstant(expires) ?? null },
      }),
    {
      invalidates: ['provider-credentials', 'providers'],
      successMessage: ({ version }) => `Values stored as version ${version}, which is not used yet`,
      onDone: () => {
        for (const field of fields.current.values()) field.value = ''
        onClose()
      },
    },
  )
  const errors = Object.fromEntries(
    (store.problem?.errors ?? []).map(({ pointer, detail }) => [pointer.split('/').at(-1) ?? '', detail]),
  )
  return (
    <FormDialog
      title={`Store values of ${credential.label}`}
      isOpen
      onClose={onClose}
      onSubmit={() => store.run(undefined)}
      submit="Store"
      change={store}
      size="lg"
    >
      <Text size="sm">
        The values are encrypted and cannot be read back. They become a staged version: verify it, then activate it.
      </Text>
      {members.map((member, place) => (
        <MemberField
          key={member.name}
          member={member}
          isFirst={place === 0}
          error={errors[member.name]}
          hold={(field) => {
            if (field) fields.current.set(member.name, field)
            else fields.current.delete(member.name)
          }}
        />
      ))}
      <TextInput
        type="datetime-local"
        label="Expires"
        description="When the provider ends it, if the provider stated that. Leave it empty otherwise."
        value={expires}
        error={errors['expires_at']}
        onChange={(event) => setExpires(event.currentTarget.value)}
      />
    </FormDialog>
  )
}

interface MemberFieldProps {
  readonly member: Member
  readonly isFirst: boolean
  readonly error: string | undefined
  readonly hold: (field: HTMLInputElement | HTMLTextAreaElement | null) => void
}

/** Certificates and keys have several lines, which a field of one line would drop. */
const hasLines = ({ name }: Member): boolean => /certificate|private_key|pem/.test(name)

/** Browsers and password managers neither fill nor save these fields. */
const unsaved = { autoComplete: 'new-password', 'data-1p-ignore': true, 'data-lpignore': 'true', spellCheck: false }

function MemberField({ member, isFirst, error, hold }: MemberFieldProps) {
  const shared = {
    label: formatMember(member.name),
    required: true,
    maxLength: member.max_length,
    ...unsaved,
    ...(isFirst && { 'data-autofocus': true }),
    ...(error !== undefined && { error }),
  }
  if (hasLines(member)) {
    return (
      <Textarea
        {...shared}
        ref={hold}
        autosize
        minRows={3}
        maxRows={8}
        classNames={{ input: member.secret ? 'mono secret-lines' : 'mono' }}
      />
    )
  }
  return member.secret ? (
    <PasswordInput {...shared} ref={hold} />
  ) : (
    <TextInput {...shared} ref={hold} autoComplete="off" />
  )
}
