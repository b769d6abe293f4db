/** Going back to an earlier version in one step: what it will change, what was scheduled, and why. */
import { Button, Checkbox, Select } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { probity } from '../../session/client.ts'
import { ApprovalNote } from '../approval-note.tsx'
import { useChange } from '../change.ts'
import { type DefinitionView, type Kind, named, pathFor } from '../decision/kind.ts'
import { FormDialog } from '../dialog.tsx'
import { Gates, gatesOf } from '../gates.tsx'
import { ReasonField } from '../reason-field.tsx'
import { plural } from '../words.ts'
import { WhatChanges } from './what-changes.tsx'

interface RollBackProps {
  readonly kind: Kind
  readonly definition_key: string
  readonly of: DefinitionView
}

const blank = { to: null as string | null, reason: '', keep_scheduled: false, isEmergency: false }

export function RollBack({ kind, definition_key, of }: RollBackProps) {
  const [isOpen, dialog] = useDisclosure(false)
  const [order, setOrder] = useState(blank)
  const active = of.active?.version ?? null
  const others = of.versions.filter(({ version, state }) => version !== active && state !== 'withdrawn')
  const earlier = others.find(({ version }) => active !== null && version < active)
  const to = Number(order.to ?? earlier?.version ?? 0)
  const back = useChange(
    () =>
      probity.POST(pathFor(kind, '/api/risk-matrices/{matrix_key}/rollback'), {
        params: { path: named(kind, definition_key) },
        body: {
          to_version: to,
          reason: order.reason,
          keep_scheduled: order.keep_scheduled,
          expected_active: active,
          ...(order.isEmergency && { break_glass: { reason: order.reason } }),
        },
      }),
    { touches: ['definitions'], done: ({ activation }) => `Back to version ${activation.version}`, onDone: close },
  )
  function close() {
    setOrder(blank)
    back.forget()
    dialog.close()
  }
  if (others.length === 0) return null
  return (
    <>
      <Button variant="default" onClick={dialog.open}>
        Roll back
      </Button>
      <FormDialog
        title={`Roll back ${of.title}`}
        isOpen={isOpen}
        onClose={close}
        onSubmit={() => to > 0 && back.waiting === null && back.run(undefined)}
        submit="Roll back"
        change={back}
        size="lg"
      >
        <Select
          label="Back to"
          required
          value={to > 0 ? String(to) : null}
          data={others.map(({ version, label }) => ({
            value: String(version),
            label: label ? `Version ${version} (${label})` : `Version ${version}`,
          }))}
          onChange={(chosen) => setOrder({ ...order, to: chosen })}
        />
        {to > 0 && <WhatChanges kind={kind} definition_key={definition_key} from={active} to={to} />}
        <ReasonField isFirst value={order.reason} onChange={(reason) => setOrder({ ...order, reason })} />
        {of.pending.length > 0 && (
          <Checkbox
            label={`Keep ${plural(of.pending.length, 'scheduled activation')}`}
            description="Otherwise they are cancelled with this."
            checked={order.keep_scheduled}
            onChange={(event) => setOrder({ ...order, keep_scheduled: event.currentTarget.checked })}
          />
        )}
        <Checkbox
          label="This is an emergency"
          description="It happens at once even where the policy asks for approval, and the record says so."
          checked={order.isEmergency}
          onChange={(event) => setOrder({ ...order, isEmergency: event.currentTarget.checked })}
        />
        <Gates gates={gatesOf(back.problem)} />
        <ApprovalNote request={back.waiting} />
      </FormDialog>
    </>
  )
}
