/** Keeping this tenant on one version of a shared list, and following it again. */

import { Button, Select, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { probity } from '../../session/client.ts'
import { useMay } from '../../session/queries.ts'
import { ApprovalNote } from '../../ui/approval-note.tsx'
import { useChange } from '../../ui/change.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { instantOf } from '../../ui/local-time.ts'
import { faultsByField } from '../../ui/problem-words.ts'
import { ReasonField } from '../../ui/reason-field.tsx'
import type { Dataset } from '../../ui/registry-queries.ts'
import { versionChoices } from '../../ui/version-names.ts'
import { WhatWillChange } from './what-will-change.tsx'

const blank = { version: null as string | null, until: '', reason: '' }

export function PinActions({ dataset }: { readonly dataset: Dataset }) {
  const may = useMay()
  const [asking, setAsking] = useState<'pin' | 'unpin' | null>(null)
  const isPinned = dataset.active?.via === 'tenant-pin'
  if (!may('pinDataset')) return null
  const close = () => setAsking(null)
  return (
    <>
      {isPinned && (
        <Button variant="default" onClick={() => setAsking('unpin')}>
          Follow again
        </Button>
      )}
      <Button variant="default" onClick={() => setAsking('pin')}>
        {isPinned ? 'Pin another version' : 'Pin a version'}
      </Button>
      {asking === 'pin' && <PinDialog dataset={dataset} onClose={close} />}
      {asking === 'unpin' && <UnpinDialog dataset={dataset} onClose={close} />}
    </>
  )
}

interface DialogProps {
  readonly dataset: Dataset
  readonly onClose: () => void
}

function PinDialog({ dataset, onClose }: DialogProps) {
  const { list_key, active, overlay_policy } = dataset
  const [order, setOrder] = useState({ ...blank, version: active === null ? null : String(active.version) })
  const mustEnd = overlay_policy === 'none' || overlay_policy === 'tighten_only'
  const pin = useChange(
    () =>
      probity.POST('/api/reference-data/datasets/{list_key}/pin', {
        params: { path: { list_key } },
        body: {
          version: Number(order.version),
          reason: order.reason,
          expires_at: instantOf(order.until) ?? null,
        },
      }),
    { touches: ['datasets'], done: ({ version }) => `Pinned to version ${version}`, onDone: onClose },
  )
  const faults = faultsByField(pin.problem)
  return (
    <FormDialog
      title={`Pin ${dataset.title}`}
      isOpen
      onClose={onClose}
      onSubmit={() => pin.run(undefined)}
      submit="Pin"
      change={pin}
      size="lg"
    >
      <Text size="sm">This tenant stays on the chosen version, whatever the operator puts in force meanwhile.</Text>
      <Select
        label="Version"
        required
        value={order.version}
        data={versionChoices(dataset.versions)}
        onChange={(version) => setOrder({ ...order, version })}
      />
      {order.version !== null && (
        <WhatWillChange dataset={dataset} from={active?.version ?? null} to={Number(order.version)} />
      )}
      <TextInput
        type="datetime-local"
        label="Until"
        description={mustEnd ? 'Within 90 days' : 'Until further notice, unless told'}
        required={mustEnd}
        error={faults['expires_at']}
        value={order.until}
        onChange={(event) => setOrder({ ...order, until: event.currentTarget.value })}
      />
      <ReasonField isFirst value={order.reason} onChange={(reason) => setOrder({ ...order, reason })} />
      <ApprovalNote request={pin.waiting} />
    </FormDialog>
  )
}

function UnpinDialog({ dataset, onClose }: DialogProps) {
  const [reason, setReason] = useState('')
  const unpin = useChange(
    () =>
      probity.POST('/api/reference-data/datasets/{list_key}/unpin', {
        params: { path: { list_key: dataset.list_key } },
        body: { reason },
      }),
    { touches: ['datasets'], done: 'The operator is followed again', onDone: onClose },
  )
  return (
    <FormDialog
      title={`Follow the operator’s ${dataset.title} again`}
      isOpen
      onClose={onClose}
      onSubmit={() => unpin.run(undefined)}
      submit="Follow again"
      change={unpin}
    >
      <Text size="sm">The pin ends now, and the version the operator has in force governs from here on.</Text>
      <ReasonField isFirst value={reason} onChange={setReason} />
      <ApprovalNote request={unpin.waiting} />
    </FormDialog>
  )
}
