/** Putting a version in force, now or from an instant on, or asking for it: with what will change, and always with a reason. */

import { Alert, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '../../session/client.ts'
import { ApprovalNote } from '../../ui/approval-note.tsx'
import { useChange } from '../../ui/change.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Gates, gatesOf } from '../../ui/gates.tsx'
import { instantOf } from '../../ui/local-time.ts'
import { ReasonField } from '../../ui/reason-field.tsx'
import type { Dataset } from '../../ui/registry-queries.ts'
import { useNow } from '../../ui/when.tsx'
import { WhatWillChange } from './what-will-change.tsx'

interface PutInForceDialogProps {
  readonly dataset: Dataset
  readonly version: Schemas['DatasetVersion']
  readonly way: 'now' | 'later' | 'submit' | null
  readonly onClose: () => void
}

const verbs = { now: 'Put in force', later: 'Schedule', submit: 'Ask for approval' } as const

export function PutInForceDialog({ dataset, version, way, onClose }: PutInForceDialogProps) {
  const now_ms = useNow()
  const [order, setOrder] = useState({ reason: '', at: '' })
  const active = dataset.active?.version ?? null
  const effective_from = way === 'now' ? undefined : instantOf(order.at)
  const when = effective_from === undefined ? {} : { effective_from }
  const put = useChange(
    () => {
      const { list_key } = dataset
      return way === 'submit'
        ? probity.POST('/api/reference-data/datasets/{list_key}/versions/{version}/submit', {
            params: { path: { list_key, version: String(version.version) } },
            body: { reason: order.reason, ...when },
          })
        : probity.POST('/api/reference-data/datasets/{list_key}/activations', {
            params: { path: { list_key } },
            body: { version: version.version, reason: order.reason, expected_active: active, ...when },
          })
    },
    {
      touches: ['datasets'],
      done: `Version ${version.version} is ${way === 'later' ? 'scheduled' : 'in force'}`,
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
      title={`${verbs[way ?? 'now']}: version ${version.version} of ${dataset.title}`}
      isOpen={way !== null}
      onClose={close}
      onSubmit={() => put.waiting === null && put.run(undefined)}
      submit={put.waiting === null ? verbs[way ?? 'now'] : 'Asked for'}
      change={put}
      size="lg"
    >
      <WhatWillChange dataset={dataset} from={active} to={version.version} />
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
