/**
 * Dialogs that pin this tenant to a version of a shared object or remove the pin, independent of the kind of object.
 */
import { Button, Select, Skeleton, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { type ReactNode, useState } from 'react'
import { useApiMutation } from './api-mutation.ts'
import { ApprovalNote } from './approval-note.tsx'
import { FormDialog } from './dialog.tsx'
import { Gates, getGates } from './gates.tsx'
import { toInstant } from './local-time.ts'
import { faultsByField } from './problem-texts.ts'
import { ReasonField } from './reason-field.tsx'
import { toVersionChoices } from './version-names.ts'

interface Versioned {
  readonly title: string
  readonly active: { readonly version: number; readonly via: string } | null
  readonly versions: readonly { readonly version: number; readonly label?: string | null; readonly state: string }[]
}

export interface PinRequest {
  readonly version: number
  readonly reason: string
  /** Null: no end date. */
  readonly expires_at: string | null
}

type Answer = Promise<{ readonly activation_id: string } | Schemas['ChangeRequest']>

interface PinProps {
  readonly of: Versioned
  /** The version the operator has in force: null for none, undefined while unknown. */
  readonly operatorVersion: number | null | undefined
  /** The pin must have an end date. */
  readonly mustExpire?: boolean
  readonly pin: (form: PinRequest) => Answer
  readonly unpin: (reason: string) => Answer
  readonly invalidates: string
  /** Shows the changes from the version in force to another one. */
  readonly renderDiff: (from: number | null, to: number) => ReactNode
}

export const isPinned = ({ active }: Pick<Versioned, 'active'>): boolean => active?.via === 'tenant-pin'

export function PinButtons(props: PinProps) {
  const { of } = props
  const [asking, setAsking] = useState<'pin' | 'unpin' | null>(null)
  const close = () => setAsking(null)
  return (
    <>
      {isPinned(of) && (
        <Button variant="default" onClick={() => setAsking('unpin')}>
          Remove pin
        </Button>
      )}
      <Button variant="default" onClick={() => setAsking('pin')}>
        {isPinned(of) ? 'Pin another version' : 'Pin a version'}
      </Button>
      {asking === 'pin' && <PinDialog {...props} onClose={close} />}
      {asking === 'unpin' && <UnpinDialog {...props} onClose={close} />}
    </>
  )
}

interface DialogProps extends PinProps {
  readonly onClose: () => void
}

/** Mounted while open, so that it starts with the version in force. */
function PinDialog({
  of,
  mustExpire: mustEnd = false,
  pin,
  invalidates: touches,
  renderDiff: effect,
  onClose,
}: DialogProps) {
  const [form, setForm] = useState({ version: of.active && String(of.active.version), until: '', reason: '' })
  const { version, until, reason } = form
  const change = useApiMutation(() => pin({ version: Number(version), reason, expires_at: toInstant(until) ?? null }), {
    invalidates: [touches],
    successMessage: `Pinned to version ${version}`,
    onDone: onClose,
  })
  return (
    <FormDialog
      title={`Pin ${of.title}`}
      isOpen
      onClose={onClose}
      onSubmit={() => change.run(undefined)}
      submit="Pin"
      change={change}
      size="lg"
    >
      <Text size="sm">
        This tenant keeps using the chosen version, even if the operator puts another version in force.
      </Text>
      <Select
        label="Version"
        required
        value={version}
        data={toVersionChoices(of.versions.filter(({ state }) => state !== 'withdrawn'))}
        onChange={(chosen) => setForm({ ...form, version: chosen })}
      />
      {version !== null && effect(of.active?.version ?? null, Number(version))}
      <TextInput
        type="datetime-local"
        label="Until"
        description={mustEnd ? 'Within 90 days' : 'Open-ended if empty'}
        required={mustEnd}
        error={faultsByField(change.problem)['expires_at']}
        value={until}
        onChange={(event) => setForm({ ...form, until: event.currentTarget.value })}
      />
      <ReasonField isFirst value={reason} onChange={(typed) => setForm({ ...form, reason: typed })} />
      <Gates gates={getGates(change.problem)} />
      <ApprovalNote request={change.waiting} />
    </FormDialog>
  )
}

function UnpinDialog({
  of,
  operatorVersion: followed,
  unpin,
  invalidates: touches,
  renderDiff: effect,
  onClose,
}: DialogProps) {
  const [reason, setReason] = useState('')
  const change = useApiMutation(() => unpin(reason), {
    invalidates: [touches],
    successMessage: 'Pin removed',
    onDone: onClose,
  })
  return (
    <FormDialog
      title={`Remove the pin of ${of.title}`}
      isOpen
      onClose={onClose}
      onSubmit={() => change.run(undefined)}
      submit="Remove pin"
      change={change}
      size="lg"
    >
      <Text size="sm">The pin ends now, and the version that the operator has in force applies.</Text>
      {followed === undefined ? (
        <Skeleton height={44} />
      ) : followed === null ? (
        <Text size="sm">The operator has no version in force: no version will apply.</Text>
      ) : (
        effect(of.active?.version ?? null, followed)
      )}
      <ReasonField isFirst value={reason} onChange={setReason} />
      <Gates gates={getGates(change.problem)} />
      <ApprovalNote request={change.waiting} />
    </FormDialog>
  )
}
