/** Edits the settings of a list. On a concurrent change the user can reload the current settings. */
import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { type Dataset, datasetQuery } from '#console/ui/registry-queries.ts'
import { buildRequest, isComplete, ListFields, toSettings } from './list-fields.tsx'

interface SettingsDialogProps {
  readonly dataset: Dataset
  readonly onClose: () => void
}

/** Mounted while open, so that it starts with the current settings. */
export function SettingsDialog({ dataset, onClose }: SettingsDialogProps) {
  const queries = useQueryClient()
  const [settings, setSettings] = useState(() => toSettings(dataset))
  const [revision, setRevision] = useState(dataset.revision)
  const save = useApiMutation(
    () =>
      probity.PATCH('/api/reference-data/datasets/{list_key}', {
        params: { path: { list_key: dataset.list_key } },
        body: { ...buildRequest(settings), expected_revision: revision },
      }),
    { invalidates: ['datasets'], successMessage: 'Settings saved', onDone: onClose },
  )
  const faults = faultsByField(save.problem)
  async function reload() {
    const now = await queries.fetchQuery({ ...datasetQuery(dataset.list_key, 'own'), staleTime: 0 })
    setSettings(toSettings(now))
    setRevision(now.revision)
    save.reset()
  }
  return (
    <FormDialog
      title={`Settings of ${dataset.title}`}
      isOpen
      onClose={onClose}
      onSubmit={() => isComplete(settings) && save.run(undefined)}
      onReload={reload}
      submit="Save settings"
      change={save}
      size="lg"
    >
      <TextInput
        label="Title"
        required
        maxLength={200}
        data-autofocus
        value={settings.title}
        error={faults['title']}
        onChange={(event) => setSettings({ ...settings, title: event.currentTarget.value })}
      />
      <ListFields settings={settings} faults={faults} onChange={setSettings} />
      <ApprovalNote request={save.waiting} />
    </FormDialog>
  )
}
