/** The dialog that puts a version in force, schedules it or requests its activation, with its changes and a reason. */
import { Alert, Checkbox, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useApiMutation } from './api-mutation.ts'
import { ApprovalNote } from './approval-note.tsx'
import { useNow } from './date-time.tsx'
import { FormDialog } from './dialog.tsx'
import { formatCount } from './format.ts'
import { Gates, getGates, getLostPayloads } from './gates.tsx'
import { toInstant } from './local-time.ts'
import { ReasonField } from './reason-field.tsx'

export type ActivationMode = 'now' | 'later' | 'submit'
const blank = { reason: '', at: '', acknowledged: 0 }
const modeLabels = { now: 'Put in force', later: 'Schedule', submit: 'Request activation' } as const

export interface ActivationRequest {
  readonly reason: string
  readonly effective_from?: string
  /** How many stored payloads a version of a source contract may send into quarantine. */
  readonly acknowledged_payloads?: number
}

interface PutInForceDialogProps<Answer> {
  readonly title: string
  readonly version: number
  /** Null while the dialog is closed. */
  readonly mode: ActivationMode | null
  readonly onClose: () => void
  readonly send: (way: ActivationMode, form: ActivationRequest) => Promise<Answer>
  readonly invalidates: string
  /** The changes it makes. */
  readonly children: ReactNode
}

export function PutInForceDialog<Answer>(props: PutInForceDialogProps<Answer>) {
  const { title, version, mode: way, onClose, send, invalidates: touches, children } = props
  const now_ms = useNow()
  const [form, setForm] = useState(blank)
  const effective_from = way === 'now' ? undefined : toInstant(form.at)
  const put = useApiMutation(
    () =>
      send(way ?? 'now', {
        reason: form.reason,
        ...(effective_from !== undefined && { effective_from }),
        ...(form.acknowledged > 0 && { acknowledged_payloads: form.acknowledged }),
      }),
    {
      invalidates: [touches],
      successMessage: `Version ${version} ${way === 'later' ? 'scheduled' : 'in force'}`,
      onDone: close,
    },
  )
  function close() {
    setForm(blank)
    put.reset()
    onClose()
  }
  const gates = getGates(put.problem)
  const lost = getLostPayloads(gates)
  const isPast = effective_from !== undefined && Date.parse(effective_from) < now_ms
  return (
    <FormDialog
      title={`${modeLabels[way ?? 'now']}: version ${version} of ${title}`}
      isOpen={way !== null}
      onClose={close}
      onSubmit={() => put.run(undefined)}
      submit={modeLabels[way ?? 'now']}
      change={put}
      size="lg"
    >
      {children}
      {way !== 'now' && (
        <TextInput
          type="datetime-local"
          label="In force from"
          {...(way === 'submit' && { description: 'Immediately after approval if empty' })}
          required={way === 'later'}
          value={form.at}
          onChange={(event) => setForm({ ...form, at: event.currentTarget.value })}
        />
      )}
      {isPast && (
        <Alert color="yellow" role="status">
          <Text size="sm">
            This date is in the past: the activation is recorded as retroactive. Earlier decisions keep the versions
            known at their time.
          </Text>
        </Alert>
      )}
      <ReasonField isFirst value={form.reason} onChange={(reason) => setForm({ ...form, reason })} />
      <Gates gates={gates} />
      {lost > 0 && (
        <Checkbox
          label={`Accept that ${formatCount(lost, 'stored payload')} would be quarantined`}
          description="Those payloads stay admitted; new ones like them are refused."
          checked={form.acknowledged >= lost}
          onChange={(event) => setForm({ ...form, acknowledged: event.currentTarget.checked ? lost : 0 })}
        />
      )}
      <ApprovalNote request={put.waiting} />
    </FormDialog>
  )
}
