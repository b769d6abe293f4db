/** Asks a provider: capability, its input, and the subject it is about. */
import { Button, Select, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { type CallInput, InputFields } from '#console/ui/provider/input-fields.tsx'
import { type Manifest, toInputFaults } from '#console/ui/provider/manifest.ts'
import { modeTexts, type ProviderStatus, promiseTexts } from '#console/ui/provider/provider-texts.ts'
import { SubjectPicker } from '#console/ui/subject-picker.tsx'

interface NewCallProps {
  readonly status: ProviderStatus
  readonly manifest: Manifest
}

const blank = { capability: null as string | null, input: {} as CallInput, subject_id: null as string | null }

export function NewCall({ status, manifest }: NewCallProps) {
  const may = usePermission()
  const navigate = useNavigate()
  const [isOpen, dialog] = useDisclosure(false)
  const [form, setForm] = useState(blank)
  const { provider_key } = status
  const capability =
    manifest.capabilities.find(({ name }) => name === form.capability) ?? manifest.capabilities[0] ?? null
  const ask = useApiMutation(
    () =>
      probity.POST('/api/providers/{provider_key}/calls', {
        params: { path: { provider_key } },
        body: { capability: capability?.name ?? '', input: { ...form.input }, subject_id: form.subject_id },
      }),
    {
      invalidates: ['provider-calls', 'providers'],
      // The job names the call it makes.
      onDone: ({ resource, job_id }) => navigate({ to: resource?.replace('/api', '') ?? `/jobs/${job_id}` }),
    },
  )
  function close() {
    setForm(blank)
    ask.reset()
    dialog.close()
  }
  if (capability === null) return null
  const isRefused = manifest.capabilities.every(({ name }) => status.refused.some((one) => one.capability === name))
  return (
    <>
      <Button onClick={dialog.open} disabled={isRefused}>
        New call
      </Button>
      <FormDialog
        title="New call"
        isOpen={isOpen}
        onClose={close}
        onSubmit={() => ask.run(undefined)}
        submit="Ask the provider"
        change={ask}
        size="lg"
      >
        <Text size="sm">
          {modeTexts[status.mode]}
          {status.mode === 'live' && capability.cost !== null && ` This one costs ${capability.cost}.`}
        </Text>
        {manifest.capabilities.length > 1 && (
          <Select
            label="Capability"
            allowDeselect={false}
            data={manifest.capabilities.map(({ name, title }) => ({ value: name, label: title ?? name }))}
            value={capability.name}
            onChange={(name) => setForm({ ...form, capability: name, input: {} })}
          />
        )}
        <Text size="sm" c="dimmed">
          {promiseTexts[capability.promise]}
        </Text>
        <InputFields
          schema={capability.input}
          value={form.input}
          faults={toInputFaults(ask.problem?.errors ?? [])}
          onChange={(input) => setForm({ ...form, input })}
        />
        {may('listSubjects') && (
          <SubjectPicker
            label="Subject"
            description="Optional. The answer is encrypted under the key of the subject, and decisions about it can use it."
            subject_id={form.subject_id}
            onChange={(subject_id) => setForm({ ...form, subject_id })}
          />
        )}
      </FormDialog>
    </>
  )
}
