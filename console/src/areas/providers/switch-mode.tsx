/** Switches between live calls, recorded answers and fixtures. */
import { Alert, Button, Radio, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { toSentence } from '#console/ui/format.ts'
import { modes, modeTexts, type ProviderMode } from '#console/ui/provider/provider-texts.ts'
import { ReasonField } from '#console/ui/reason-field.tsx'

type Environment = 'live' | 'test'
interface ModeForm {
  readonly mode: ProviderMode | null
  readonly environment: Environment | null
  readonly reason: string
}
const blank: ModeForm = { mode: null, environment: null, reason: '' }

export function SwitchMode({ provider_key }: { readonly provider_key: string }) {
  const [isOpen, dialog] = useDisclosure(false)
  const [form, setForm] = useState(blank)
  const path = { provider_key }
  const { data: now, refetch } = useQuery({
    queryKey: ['providers', 'mode', provider_key],
    queryFn: ({ signal }) => probity.GET('/api/providers/{provider_key}/mode', { params: { path }, signal }),
    enabled: isOpen,
  })
  const mode = form.mode ?? now?.mode ?? 'live'
  const environment = form.environment ?? now?.environment ?? 'live'
  const change = useApiMutation(
    () =>
      probity.PUT('/api/providers/{provider_key}/mode', {
        params: { path },
        body: { mode, environment, reason: form.reason, ...(now && { expected_revision: now.revision }) },
      }),
    { invalidates: ['providers', 'provider-credentials'], successMessage: `Mode: ${mode}`, onDone: close },
  )
  function close() {
    setForm(blank)
    change.reset()
    dialog.close()
  }
  return (
    <>
      <Button size="xs" variant="default" onClick={dialog.open}>
        Switch mode
      </Button>
      <FormDialog
        title="Switch mode"
        isOpen={isOpen}
        onClose={close}
        onSubmit={() => change.run(undefined)}
        onReload={() => {
          change.reset()
          refetch()
        }}
        submit="Switch mode"
        change={change}
        size="lg"
      >
        {now?.forced === true && (
          <Alert color="yellow" role="status">
            The operator answers all calls of this installation from recorded answers. A change takes effect when that
            ends.
          </Alert>
        )}
        <Radio.Group
          label="How calls are answered"
          value={mode}
          onChange={(chosen) => setForm({ ...form, mode: chosen as ProviderMode })}
        >
          <Stack gap="xs" mt={6}>
            {modes.map((one) => (
              <Radio key={one} value={one} label={toSentence(one)} description={modeTexts[one]} />
            ))}
          </Stack>
        </Radio.Group>
        {mode === 'live' && (
          <Radio.Group
            label="Credential"
            value={environment}
            onChange={(chosen) => setForm({ ...form, environment: chosen as Environment })}
          >
            <Stack gap="xs" mt={6}>
              <Radio value="live" label="Of the live system" />
              <Radio value="test" label="Of the provider’s test system" />
            </Stack>
          </Radio.Group>
        )}
        <Text size="sm" c="dimmed">
          Calls that wait keep the mode they were made in.
        </Text>
        <ReasonField isFirst value={form.reason} onChange={(reason) => setForm({ ...form, reason })} />
        <ApprovalNote request={change.waiting} />
      </FormDialog>
    </>
  )
}
