/**
 * Keeping this tenant on one version of something shared, and following the operator again: what that will change, and why.
 * It does not know what is pinned, only that it has versions.
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
  /** Null: until further notice. */
  readonly expires_at: string | null
}

type Answer = Promise<{ readonly activation_id: string } | Schemas['ChangeRequest']>

interface PinProps {
  readonly of: Versioned
  /** What the operator has in force, followed once there is no pin: null for nothing, undefined while it is not known. */
  readonly operatorVersion: number | null | undefined
  /** A pin of it may not last. */
  readonly mustExpire?: boolean
  readonly pin: (form: PinRequest) => Answer
  readonly unpin: (reason: string) => Answer
  readonly invalidates: string
  /** What going from the version in force to another one changes. */
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
          Follow again
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

/** Mounted while it is open: it begins with the version in force then. */
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
      onSubmit={() => change.waiting === null && change.run(undefined)}
      submit={change.waiting === null ? 'Pin' : 'Asked for'}
      change={change}
      size="lg"
    >
      <Text size="sm">This tenant stays on the chosen version, whatever the operator puts in force meanwhile.</Text>
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
        description={mustEnd ? 'Within 90 days' : 'Until further notice, unless told'}
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
    successMessage: 'The operator is followed again',
    onDone: onClose,
  })
  return (
    <FormDialog
      title={`Follow the operator’s ${of.title} again`}
      isOpen
      onClose={onClose}
      onSubmit={() => change.waiting === null && change.run(undefined)}
      submit={change.waiting === null ? 'Follow again' : 'Asked for'}
      change={change}
      size="lg"
    >
      <Text size="sm">The pin ends now, and the version the operator has in force governs from here on.</Text>
      {followed === undefined ? (
        <Skeleton height={44} />
      ) : followed === null ? (
        <Text size="sm">The operator has none in force: nothing will govern.</Text>
      ) : (
        effect(of.active?.version ?? null, followed)
      )}
      <ReasonField isFirst value={reason} onChange={setReason} />
      <Gates gates={getGates(change.problem)} />
      <ApprovalNote request={change.waiting} />
    </FormDialog>
  )
}
