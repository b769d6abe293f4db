/** Putting a version in force, now or from an instant on, or asking for it: with what will change, and with a reason. */
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { probity } from '../../session/client.ts'
import { ApprovalNote } from '../approval-note.tsx'
import { useChange } from '../change.ts'
import { type DefinitionView, type Kind, named, pathFor } from '../decision/kind.ts'
import { FormDialog } from '../dialog.tsx'
import { Gates, gatesOf } from '../gates.tsx'
import { instantOf } from '../local-time.ts'
import { ReasonField } from '../reason-field.tsx'
import { WhatChanges } from './what-changes.tsx'

export type Way = 'now' | 'later' | 'submit'
const verbs = { now: 'Put in force', later: 'Schedule', submit: 'Ask for approval' } as const

interface PutInForceProps {
  readonly kind: Kind
  readonly definition_key: string
  readonly of: DefinitionView
  readonly version: number
  readonly way: Way | null
  readonly onClose: () => void
}

export function PutInForce({ kind, definition_key, of, version, way, onClose }: PutInForceProps) {
  const [order, setOrder] = useState({ reason: '', at: '' })
  const active = of.active?.version ?? null
  const effective_from = way === 'now' ? undefined : instantOf(order.at)
  const when = effective_from === undefined ? {} : { effective_from }
  const put = useChange(
    () =>
      way === 'submit'
        ? probity.POST(pathFor(kind, '/api/risk-matrices/{matrix_key}/versions/{version}/submit'), {
            params: { path: { ...named(kind, definition_key), version: String(version) } },
            body: { reason: order.reason, ...when },
          })
        : probity.POST(pathFor(kind, '/api/risk-matrices/{matrix_key}/activations'), {
            params: { path: named(kind, definition_key) },
            body: { version, reason: order.reason, ...when },
          }),
    {
      touches: ['definitions'],
      done: `Version ${version} is ${way === 'later' ? 'scheduled' : 'in force'}`,
      onDone: close,
    },
  )
  function close() {
    put.forget()
    onClose()
  }
  return (
    <FormDialog
      title={`${verbs[way ?? 'now']}: version ${version} of ${of.title}`}
      isOpen={way !== null}
      onClose={close}
      onSubmit={() => put.waiting === null && put.run(undefined)}
      submit={put.waiting === null ? verbs[way ?? 'now'] : 'Asked for'}
      change={put}
      size="lg"
    >
      <WhatChanges kind={kind} definition_key={definition_key} from={active} to={version} />
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
      <ReasonField isFirst value={order.reason} onChange={(reason) => setOrder({ ...order, reason })} />
      <Gates gates={gatesOf(put.problem)} />
      <ApprovalNote request={put.waiting} />
    </FormDialog>
  )
}
