/** Creates a credential without values; they are stored on its page. */
import { Select, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import type { Choice } from '#console/ui/filters.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { toSearch } from '#console/ui/search-link.tsx'

interface NewCredentialProps {
  readonly providers: readonly Choice[]
  /** The provider that is chosen first; empty: none. */
  readonly provider_key: string
  readonly environment: 'live' | 'test'
  readonly onClose: () => void
}

const environments = [
  { value: 'live', label: 'Live system' },
  { value: 'test', label: 'Test system' },
]

/** Mounted while open, so that it starts with the provider of the link. */
export function NewCredential({ providers, provider_key, environment, onClose }: NewCredentialProps) {
  const navigate = useNavigate()
  const [form, setForm] = useState({ provider_key: provider_key || null, label: 'Main account', environment })
  const create = useApiMutation(
    () =>
      probity.POST('/api/provider-credentials', {
        body: { provider_key: form.provider_key ?? '', label: form.label, environment: form.environment },
      }),
    {
      invalidates: ['provider-credentials', 'providers'],
      onDone: ({ credential_id }) =>
        navigate({ to: `/provider-credentials/${credential_id}`, search: toSearch({ values: 'new' }) }),
    },
  )
  const faults = faultsByField(create.problem)
  return (
    <FormDialog
      title="New credential"
      isOpen
      onClose={onClose}
      onSubmit={() => form.provider_key !== null && create.run(undefined)}
      submit="Continue"
      change={create}
    >
      <Text size="sm">First name it; its values follow on the next page.</Text>
      <Select
        label="Provider"
        required
        searchable
        data={[...providers]}
        value={form.provider_key}
        error={faults['provider_key']}
        onChange={(chosen) => setForm({ ...form, provider_key: chosen })}
      />
      <TextInput
        data-autofocus
        label="Name"
        description="What people call it, such as the account it belongs to."
        required
        maxLength={100}
        autoComplete="off"
        value={form.label}
        error={faults['label']}
        onChange={(event) => setForm({ ...form, label: event.currentTarget.value })}
      />
      <Select
        label="System of the provider"
        allowDeselect={false}
        data={environments}
        value={form.environment}
        onChange={(chosen) => setForm({ ...form, environment: chosen === 'test' ? 'test' : 'live' })}
      />
    </FormDialog>
  )
}
