/** The dialog that rolls an object back to an earlier version, independent of the kind of object. */
import { Button, Checkbox, Select } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useApiMutation } from './api-mutation.ts'
import { ApprovalNote } from './approval-note.tsx'
import { FormDialog } from './dialog.tsx'
import { formatCount } from './format.ts'
import { Gates, getGates } from './gates.tsx'
import { ReasonField } from './reason-field.tsx'
import { toVersionChoices } from './version-names.ts'

interface Versioned {
  readonly title: string
  readonly active: { readonly version: number } | null
  readonly pending: readonly unknown[]
  readonly versions: readonly { readonly version: number; readonly label?: string | null; readonly state: string }[]
}

export interface RollbackRequest {
  readonly to_version: number
  readonly reason: string
  readonly keep_scheduled: boolean
  readonly expected_active: number | null
  readonly break_glass?: { readonly reason: string }
}

interface RollBackProps<Answer> {
  readonly of: Versioned
  /** The version that was last in force, suggested first. */
  readonly before: number | null
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onClose: () => void
  readonly send: (form: RollbackRequest) => Promise<Answer>
  readonly invalidates: string
  /** Shows the changes from the version in force to another one. */
  readonly renderDiff: (from: number | null, to: number) => ReactNode
}

const blank = { to: null as string | null, reason: '', keep_scheduled: false, isEmergency: false }

export function RollBackButton<Answer>(props: RollBackProps<Answer>) {
  const { of, before, isOpen, onOpen, onClose, send, invalidates: touches, renderDiff: effect } = props
  const [form, setForm] = useState(blank)
  const active = of.active?.version ?? null
  const others = of.versions.filter(({ version, state }) => version !== active && state !== 'withdrawn')
  const to = Number(form.to ?? before ?? others.find(({ version }) => version < (active ?? 0))?.version ?? 0)
  const back = useApiMutation(send, {
    invalidates: [touches],
    successMessage: `Rolled back to version ${to}`,
    onDone: close,
  })
  function close() {
    setForm(blank)
    back.reset()
    onClose()
  }
  const { reason, keep_scheduled, isEmergency } = form
  const roll = () =>
    back.run({
      to_version: to,
      reason,
      keep_scheduled,
      expected_active: active,
      ...(isEmergency && { break_glass: { reason } }),
    })
  if (others.length === 0) return null
  return (
    <>
      <Button variant="default" onClick={onOpen}>
        Roll back
      </Button>
      <FormDialog
        title={`Roll back ${of.title}`}
        isOpen={isOpen}
        onClose={close}
        onSubmit={() => to > 0 && roll()}
        submit="Roll back"
        change={back}
        size="lg"
      >
        <Select
          label="Roll back to"
          required
          value={to > 0 ? String(to) : null}
          data={toVersionChoices(others)}
          onChange={(chosen) => setForm({ ...form, to: chosen })}
        />
        {to > 0 && effect(active, to)}
        <ReasonField isFirst value={reason} onChange={(typed) => setForm({ ...form, reason: typed })} />
        {of.pending.length > 0 && (
          <Checkbox
            label={`Keep ${formatCount(of.pending.length, 'scheduled activation')}`}
            description="If off, they are cancelled."
            checked={keep_scheduled}
            onChange={(event) => setForm({ ...form, keep_scheduled: event.currentTarget.checked })}
          />
        )}
        <Checkbox
          label="Emergency change"
          description="Takes effect immediately without approval. Another user who could have approved it must acknowledge it."
          checked={isEmergency}
          onChange={(event) => setForm({ ...form, isEmergency: event.currentTarget.checked })}
        />
        <Gates gates={getGates(back.problem)} />
        <ApprovalNote request={back.waiting} />
      </FormDialog>
    </>
  )
}
