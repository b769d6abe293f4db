/**
 * Keeping this tenant on one version of something shared, and following the operator again: what that will change, and why.
 * It does not know what is pinned, only that it has versions.
 */
import { Button, Select, Skeleton, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { type ReactNode, useState } from 'react'
import { ApprovalNote } from './approval-note.tsx'
import { useChange } from './change.ts'
import { FormDialog } from './dialog.tsx'
import { Gates, gatesOf } from './gates.tsx'
import { instantOf } from './local-time.ts'
import { faultsByField } from './problem-words.ts'
import { ReasonField } from './reason-field.tsx'
import { versionChoices } from './version-names.ts'

interface Versioned {
  readonly title: string
  readonly active: { readonly version: number; readonly via: string } | null
  readonly versions: readonly { readonly version: number; readonly label?: string | null; readonly state: string }[]
}

export interface PinOrder {
  readonly version: number
  readonly reason: string
  /** Null: until further notice. */
  readonly expires_at: string | null
}

type Answer = Promise<{ readonly activation_id: string } | Schemas['ChangeRequest']>

interface PinProps {
  readonly of: Versioned
  /** What the operator has in force, followed once there is no pin: null for nothing, undefined while it is not known. */
  readonly followed: number | null | undefined
  /** A pin of it may not last. */
  readonly mustEnd?: boolean
  readonly pin: (order: PinOrder) => Answer
  readonly unpin: (reason: string) => Answer
  readonly touches: string
  /** What going from the version in force to another one changes. */
  readonly effect: (from: number | null, to: number) => ReactNode
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
function PinDialog({ of, mustEnd = false, pin, touches, effect, onClose }: DialogProps) {
  const [order, setOrder] = useState({ version: of.active && String(of.active.version), until: '', reason: '' })
  const { version, until, reason } = order
  const change = useChange(() => pin({ version: Number(version), reason, expires_at: instantOf(until) ?? null }), {
    touches: [touches],
    done: `Pinned to version ${version}`,
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
        data={versionChoices(of.versions.filter(({ state }) => state !== 'withdrawn'))}
        onChange={(chosen) => setOrder({ ...order, version: chosen })}
      />
      {version !== null && effect(of.active?.version ?? null, Number(version))}
      <TextInput
        type="datetime-local"
        label="Until"
        description={mustEnd ? 'Within 90 days' : 'Until further notice, unless told'}
        required={mustEnd}
        error={faultsByField(change.problem)['expires_at']}
        value={until}
        onChange={(event) => setOrder({ ...order, until: event.currentTarget.value })}
      />
      <ReasonField isFirst value={reason} onChange={(typed) => setOrder({ ...order, reason: typed })} />
      <Gates gates={gatesOf(change.problem)} />
      <ApprovalNote request={change.waiting} />
    </FormDialog>
  )
}

function UnpinDialog({ of, followed, unpin, touches, effect, onClose }: DialogProps) {
  const [reason, setReason] = useState('')
  const change = useChange(() => unpin(reason), {
    touches: [touches],
    done: 'The operator is followed again',
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
      <Gates gates={gatesOf(change.problem)} />
      <ApprovalNote request={change.waiting} />
    </FormDialog>
  )
}
