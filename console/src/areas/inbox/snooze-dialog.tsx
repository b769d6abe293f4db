/** Snoozing one alert: the limit of its priority, and quick choices within it. */
import { Button, Group, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { formatCount } from '#console/ui/format.ts'
import { toInstant, toLocalInput } from '#console/ui/local-time.ts'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { toNote } from './alert-dialogs.tsx'
import { type Alert, touched, useAlertSettings } from './alert-queries.ts'
import { listSnoozeChoices } from './snooze-choices.ts'

interface SnoozeDialogProps {
  readonly alert: Alert
  readonly onClose: () => void
}

export function SnoozeDialog({ alert, onClose }: SnoozeDialogProps) {
  const [until, setUntil] = useState('')
  const [note, setNote] = useState('')
  const [isMissing, setMissing] = useState(false)
  const settings = useAlertSettings(alert.priority)
  const choices = listSnoozeChoices(new Date(), settings?.max_snooze_days ?? 0)
  const snooze = useApiMutation(
    (end: string) =>
      probity.POST('/api/alerts/{alert_id}/snooze', {
        params: { path: { alert_id: alert.alert_id } },
        body: { until: end, note: toNote(note), expected_revision: alert.revision },
      }),
    { invalidates: touched, successMessage: 'Snoozed', onDone: onClose },
  )
  function submit() {
    const end = toInstant(until)
    setMissing(end === undefined)
    if (end !== undefined) snooze.run(end)
  }
  return (
    <FormDialog title="Snooze the alert" isOpen onClose={onClose} onSubmit={submit} submit="Snooze" change={snooze}>
      <Text size="sm">
        It comes back then, or earlier when its facts change.
        {settings && ` Alerts of priority ${alert.priority}: at most ${formatCount(settings.max_snooze_days, 'day')}.`}
      </Text>
      <Group gap={6}>
        {choices.map(({ name, at }) => (
          <Button
            key={name}
            size="compact-xs"
            variant="default"
            onClick={() => setUntil(toLocalInput(at.toISOString()))}
          >
            {name}
          </Button>
        ))}
      </Group>
      <TextInput
        type="datetime-local"
        label="Until"
        withAsterisk
        data-autofocus
        value={until}
        error={isMissing && until === '' ? 'Choose a time.' : null}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
      <ReasonField label="Note" isRequired={false} value={note} onChange={setNote} />
    </FormDialog>
  )
}
