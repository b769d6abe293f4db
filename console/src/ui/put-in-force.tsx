/** Putting a version in force, now or from an instant on, or asking for it: with what will change, and always with a reason. */
import { Alert, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useApiMutation } from './api-mutation.ts'
import { ApprovalNote } from './approval-note.tsx'
import { useNow } from './date-time.tsx'
import { FormDialog } from './dialog.tsx'
import { Gates, getGates } from './gates.tsx'
import { toInstant } from './local-time.ts'
import { ReasonField } from './reason-field.tsx'

export type ActivationMode = 'now' | 'later' | 'submit'
const modeLabels = { now: 'Put in force', later: 'Schedule', submit: 'Ask for approval' } as const

export interface ActivationRequest {
  readonly reason: string
  readonly effective_from?: string
}

interface PutInForceDialogProps<Answer> {
  readonly title: string
  readonly version: number
  /** Null while it is closed. */
  readonly mode: ActivationMode | null
  readonly onClose: () => void
  readonly send: (way: ActivationMode, form: ActivationRequest) => Promise<Answer>
  readonly invalidates: string
  /** What it changes. */
  readonly children: ReactNode
}

export function PutInForceDialog<Answer>(props: PutInForceDialogProps<Answer>) {
  const { title, version, mode: way, onClose, send, invalidates: touches, children } = props
  const now_ms = useNow()
  const [form, setForm] = useState({ reason: '', at: '' })
  const effective_from = way === 'now' ? undefined : toInstant(form.at)
  const put = useApiMutation(
    () => send(way ?? 'now', { reason: form.reason, ...(effective_from !== undefined && { effective_from }) }),
    {
      invalidates: [touches],
      successMessage: `Version ${version} is ${way === 'later' ? 'scheduled' : 'in force'}`,
      onDone: close,
    },
  )
  function close() {
    setForm({ reason: '', at: '' })
    put.reset()
    onClose()
  }
  const isPast = effective_from !== undefined && Date.parse(effective_from) < now_ms
  return (
    <FormDialog
      title={`${modeLabels[way ?? 'now']}: version ${version} of ${title}`}
      isOpen={way !== null}
      onClose={close}
      onSubmit={() => put.waiting === null && put.run(undefined)}
      submit={put.waiting === null ? modeLabels[way ?? 'now'] : 'Asked for'}
      change={put}
      size="lg"
    >
      {children}
      {way !== 'now' && (
        <TextInput
          type="datetime-local"
          label="From when"
          {...(way === 'submit' && { description: 'At once when approved, unless told' })}
          required={way === 'later'}
          value={form.at}
          onChange={(event) => setForm({ ...form, at: event.currentTarget.value })}
        />
      )}
      {isPast && (
        <Alert color="yellow" role="status">
          <Text size="sm">
            That is in the past: it will be recorded as retroactive. What was decided before stays explainable by what
            was known then.
          </Text>
        </Alert>
      )}
      <ReasonField isFirst value={form.reason} onChange={(reason) => setForm({ ...form, reason })} />
      <Gates gates={getGates(put.problem)} />
      <ApprovalNote request={put.waiting} />
    </FormDialog>
  )
}
