/** Putting a version in force, now or from an instant on, or asking for it: with what will change, and always with a reason. */
import { Alert, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { ApprovalNote } from './approval-note.tsx'
import { useChange } from './change.ts'
import { FormDialog } from './dialog.tsx'
import { Gates, gatesOf } from './gates.tsx'
import { instantOf } from './local-time.ts'
import { ReasonField } from './reason-field.tsx'
import { useNow } from './when.tsx'

export type Way = 'now' | 'later' | 'submit'
const verbs = { now: 'Put in force', later: 'Schedule', submit: 'Ask for approval' } as const

export interface ForceOrder {
  readonly reason: string
  readonly effective_from?: string
}

interface PutInForceDialogProps<Answer> {
  readonly title: string
  readonly version: number
  /** Null while it is closed. */
  readonly way: Way | null
  readonly onClose: () => void
  readonly send: (way: Way, order: ForceOrder) => Promise<Answer>
  readonly touches: string
  /** What it changes. */
  readonly children: ReactNode
}

export function PutInForceDialog<Answer>(props: PutInForceDialogProps<Answer>) {
  const { title, version, way, onClose, send, touches, children } = props
  const now_ms = useNow()
  const [order, setOrder] = useState({ reason: '', at: '' })
  const effective_from = way === 'now' ? undefined : instantOf(order.at)
  const put = useChange(
    () => send(way ?? 'now', { reason: order.reason, ...(effective_from !== undefined && { effective_from }) }),
    {
      touches: [touches],
      done: `Version ${version} is ${way === 'later' ? 'scheduled' : 'in force'}`,
      onDone: close,
    },
  )
  function close() {
    setOrder({ reason: '', at: '' })
    put.forget()
    onClose()
  }
  const isPast = effective_from !== undefined && Date.parse(effective_from) < now_ms
  return (
    <FormDialog
      title={`${verbs[way ?? 'now']}: version ${version} of ${title}`}
      isOpen={way !== null}
      onClose={close}
      onSubmit={() => put.waiting === null && put.run(undefined)}
      submit={put.waiting === null ? verbs[way ?? 'now'] : 'Asked for'}
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
          value={order.at}
          onChange={(event) => setOrder({ ...order, at: event.currentTarget.value })}
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
      <ReasonField isFirst value={order.reason} onChange={(reason) => setOrder({ ...order, reason })} />
      <Gates gates={gatesOf(put.problem)} />
      <ApprovalNote request={put.waiting} />
    </FormDialog>
  )
}
