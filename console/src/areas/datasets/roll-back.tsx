/** Going back to an earlier version in one step: what it will change, what was scheduled, and why. */

import { Button, Checkbox, Select } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '../../session/client.ts'
import { ApprovalNote } from '../../ui/approval-note.tsx'
import { useChange } from '../../ui/change.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Gates, gatesOf } from '../../ui/gates.tsx'
import { ReasonField } from '../../ui/reason-field.tsx'
import type { Dataset } from '../../ui/registry-queries.ts'
import { useNow } from '../../ui/when.tsx'
import { plural } from '../../ui/words.ts'
import { activationsQuery } from './activations-query.ts'
import { versionChoices } from './version-words.ts'
import { WhatWillChange } from './what-will-change.tsx'

const blank = { to: null as string | null, reason: '', keep_scheduled: false, isEmergency: false }

export function RollBack({ dataset }: { readonly dataset: Dataset }) {
  const [isOpen, dialog] = useDisclosure(false)
  const [order, setOrder] = useState(blank)
  const active = dataset.active?.version ?? null
  const { data: timeline } = useQuery({ ...activationsQuery(dataset.list_key, 'own'), enabled: isOpen })
  const now_ms = useNow()
  const governed = [...(timeline?.in_force ?? [])]
    .reverse()
    .filter(({ version, from }) => version !== active && Date.parse(from) <= now_ms)
  const to = Number(order.to ?? governed.find(({ version }) => version !== null)?.version ?? 0)
  const others = dataset.versions.filter(({ version, state }) => version !== active && state !== 'withdrawn')
  const back = useChange(
    () =>
      probity.POST('/api/reference-data/datasets/{list_key}/rollback', {
        params: { path: { list_key: dataset.list_key } },
        body: {
          to_version: to,
          reason: order.reason,
          keep_scheduled: order.keep_scheduled,
          expected_active: active,
          ...(order.isEmergency && { break_glass: { reason: order.reason } }),
        },
      }),
    { touches: ['datasets'], done: ({ activation }) => `Back to version ${activation.version}`, onDone: close },
  )
  function close() {
    setOrder(blank)
    back.forget()
    dialog.close()
  }
  return (
    <>
      <Button variant="default" onClick={dialog.open}>
        Roll back
      </Button>
      <FormDialog
        title={`Roll back ${dataset.title}`}
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
          data={versionChoices(others)}
          onChange={(chosen) => setOrder({ ...order, to: chosen })}
        />
        {to > 0 && <WhatWillChange dataset={dataset} from={active} to={to} />}
        <ReasonField isFirst value={order.reason} onChange={(reason) => setOrder({ ...order, reason })} />
        {dataset.pending.length > 0 && (
          <Checkbox
            label={`Keep ${plural(dataset.pending.length, 'scheduled activation')}`}
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
