/** Going back to an earlier version of anything that has versions, in one step: what it will change, what was scheduled, and why. */
import { Button, Checkbox, Select } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { ApprovalNote } from './approval-note.tsx'
import { useChange } from './change.ts'
import { FormDialog } from './dialog.tsx'
import { Gates, gatesOf } from './gates.tsx'
import { ReasonField } from './reason-field.tsx'
import { versionChoices } from './version-names.ts'
import { plural } from './words.ts'

interface Versioned {
  readonly title: string
  readonly active: { readonly version: number } | null
  readonly pending: readonly unknown[]
  readonly versions: readonly { readonly version: number; readonly label?: string | null; readonly state: string }[]
}

export interface RollBackOrder {
  readonly to_version: number
  readonly reason: string
  readonly keep_scheduled: boolean
  readonly expected_active: number | null
  readonly break_glass?: { readonly reason: string }
}

interface RollBackProps<Answer> {
  readonly of: Versioned
  /** What governed before, offered first. */
  readonly before: number | null
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onClose: () => void
  readonly send: (order: RollBackOrder) => Promise<Answer>
  readonly touches: string
  /** What going from the version in force to another one changes. */
  readonly effect: (from: number | null, to: number) => ReactNode
}

const blank = { to: null as string | null, reason: '', keep_scheduled: false, isEmergency: false }

export function RollBackButton<Answer>(props: RollBackProps<Answer>) {
  const { of, before, isOpen, onOpen, onClose, send, touches, effect } = props
  const [order, setOrder] = useState(blank)
  const active = of.active?.version ?? null
  const others = of.versions.filter(({ version, state }) => version !== active && state !== 'withdrawn')
  const to = Number(order.to ?? before ?? others.find(({ version }) => version < (active ?? 0))?.version ?? 0)
  const back = useChange(send, { touches: [touches], done: `Back to version ${to}`, onDone: close })
  function close() {
    setOrder(blank)
    back.forget()
    onClose()
  }
  const { reason, keep_scheduled, isEmergency } = order
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
        onSubmit={() => to > 0 && back.waiting === null && roll()}
        submit={back.waiting === null ? 'Roll back' : 'Asked for'}
        change={back}
        size="lg"
      >
        <Select
          label="Back to"
          required
          value={to > 0 ? String(to) : null}
          data={versionChoices(others)}
          onChange={(chosen) => setOrder({ ...order, to: chosen })}
        />
        {to > 0 && effect(active, to)}
        <ReasonField isFirst value={reason} onChange={(typed) => setOrder({ ...order, reason: typed })} />
        {of.pending.length > 0 && (
          <Checkbox
            label={`Keep ${plural(of.pending.length, 'scheduled activation')}`}
            description="Otherwise they are cancelled with this."
            checked={keep_scheduled}
            onChange={(event) => setOrder({ ...order, keep_scheduled: event.currentTarget.checked })}
          />
        )}
        <Checkbox
          label="This is an emergency"
          description="It happens at once even where the policy asks for approval, and somebody else who could have approved it must acknowledge it."
          checked={isEmergency}
          onChange={(event) => setOrder({ ...order, isEmergency: event.currentTarget.checked })}
        />
        <Gates gates={gatesOf(back.problem)} />
        <ApprovalNote request={back.waiting} />
      </FormDialog>
    </>
  )
}
