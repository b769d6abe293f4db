/** Creates a list: title, key, type and settings. */
import { Group, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import type { DatasetType } from '#console/ui/registry-queries.ts'
import { buildRequest, isComplete, ListFields, type ListSettings, toSettings } from './list-fields.tsx'

interface NewList {
  readonly list_key: string
  readonly type_key: string
  readonly settings: ListSettings
}
const blank: NewList = { list_key: '', type_key: '', settings: toSettings({}) }

/** A type of the tenant that is older than the shared one of its key is the one used. */
function toTypeChoices(types: readonly DatasetType[]) {
  const ownKeys = new Set(types.filter(({ origin }) => origin === 'own').map(({ type_key }) => type_key))
  return types
    .filter(({ origin, type_key }) => origin === 'own' || !ownKeys.has(type_key))
    .map(({ type_key, title }) => ({ value: type_key, label: `${title} (${type_key})` }))
}

export function RegisterDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const navigate = useNavigate()
  const [list, setList] = useState(blank)
  const { list_key, type_key, settings } = list
  const { data: types } = useQuery({
    queryKey: ['types', 'choices'],
    queryFn: ({ signal }) =>
      probity
        .GET('/api/reference-data/types', { params: { query: { limit: 200 } }, signal })
        .then(({ items }) => items),
    enabled: isOpen,
  })
  const register = useApiMutation(
    () => probity.POST('/api/reference-data/datasets', { body: { list_key, type_key, ...buildRequest(settings) } }),
    {
      invalidates: ['datasets'],
      successMessage: ({ title }) => `${title} created`,
      onDone: (made) => {
        close()
        navigate({ to: `/datasets/${made.list_key}`, search: { origin: 'own' } })
      },
    },
  )
  const faults = faultsByField(register.problem)
  function close() {
    setList(blank)
    register.reset()
    onClose()
  }
  return (
    <FormDialog
      title="New list"
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => isComplete(settings) && register.run(undefined)}
      submit="Create list"
      change={register}
      size="lg"
    >
      <Group grow align="flex-start">
        <TextInput
          label="Title"
          required
          maxLength={200}
          data-autofocus
          autoComplete="off"
          value={settings.title}
          error={faults['title']}
          onChange={(event) => setList({ ...list, settings: { ...settings, title: event.currentTarget.value } })}
        />
        <TextInput
          label="Key"
          description="Lower-case letters, digits and hyphens"
          required
          maxLength={100}
          autoComplete="off"
          placeholder="country-ratings"
          value={list_key}
          error={faults['list_key']}
          onChange={(event) => setList({ ...list, list_key: event.currentTarget.value })}
        />
      </Group>
      <Select
        label="Type"
        description="Defines the fields of the entries"
        required
        searchable
        value={type_key || null}
        error={faults['type_key']}
        data={toTypeChoices(types ?? [])}
        onChange={(chosen) => setList({ ...list, type_key: chosen ?? '' })}
      />
      <ListFields settings={settings} faults={faults} onChange={(next) => setList({ ...list, settings: next })} />
      <ApprovalNote request={register.waiting} />
    </FormDialog>
  )
}
