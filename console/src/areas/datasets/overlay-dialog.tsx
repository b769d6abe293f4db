/** Adding, changing or removing one entry of a shared list for this tenant. The overlay is sent as a whole. */

import { Button, Group, Select, Text, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import type { DatasetType, Entry } from '#console/ui/registry-queries.ts'
import { type Overlay, type OverlayChange, toOperation } from './overlay-query.ts'

type Op = OverlayChange['op']

const operationLabels: Readonly<Record<Op, string>> = {
  put: 'Add an entry, or replace it',
  merge: 'Change some fields of it',
  remove: 'Remove it',
}
const listAllowedOps: Readonly<Record<Overlay['overlay_policy'], readonly Op[]>> = {
  none: [],
  add_only: ['put'],
  tighten_only: ['put', 'merge'],
  free: ['put', 'merge', 'remove'],
}

interface OverlayDialogProps {
  readonly view: Overlay
  readonly type: DatasetType
  readonly changes: readonly OverlayChange[]
  readonly onClose: () => void
}

export function OverlayDialog({ view, type, changes, onClose }: OverlayDialogProps) {
  const { list_key } = view
  const ops = listAllowedOps[view.overlay_policy]
  const [order, setOrder] = useState({ op: ops[0] ?? ('put' as Op), key: '', value: '', reason: '' })
  const { data: now } = useQuery({
    queryKey: ['datasets', 'resolved', list_key, order.key],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/resolve/{list_key}/entry', {
        params: { path: { list_key }, query: { key: order.key } },
        signal,
      }),
    enabled: order.key !== '',
    throwOnError: false,
  })
  const value = parseObject(order.value)
  const isJson = order.op === 'remove' || value !== null
  const save = useApiMutation(
    (entry: Entry | null) =>
      probity.PUT('/api/reference-data/datasets/{list_key}/overlay', {
        params: { path: { list_key } },
        body: {
          entries: [
            ...changes.filter(({ key }) => key !== order.key).map(toOperation),
            { key: order.key, op: order.op, ...(order.op !== 'remove' && entry !== null && { value: entry }) },
          ],
          mode: view.overlay?.base_version == null ? 'follow' : 'pinned',
          reason: order.reason,
        },
      }),
    { invalidates: ['datasets'], successMessage: 'The overlay is in force', onDone: onClose },
  )
  const startFrom = (name: string, entry: object) => (
    <Button
      size="compact-xs"
      variant="default"
      onClick={() => setOrder({ ...order, value: JSON.stringify(entry, null, 2) })}
    >
      {name}
    </Button>
  )
  return (
    <FormDialog
      title="Change an entry for this tenant"
      isOpen
      onClose={onClose}
      onSubmit={() => isJson && save.waiting === null && save.run(value)}
      submit="Put in force"
      change={save}
      size="lg"
    >
      <Select
        label="What"
        allowDeselect={false}
        value={order.op}
        data={ops.map((op) => ({ value: op, label: operationLabels[op] }))}
        onChange={(op) => setOrder({ ...order, op: (op ?? 'put') as Op })}
      />
      <TextInput
        label="Key"
        description={now === undefined ? undefined : now.entry === null ? 'Not on the list now.' : 'On the list now.'}
        required
        maxLength={500}
        data-autofocus
        value={order.key}
        onChange={(event) => setOrder({ ...order, key: event.currentTarget.value })}
      />
      {order.op !== 'remove' && (
        <Group gap="xs">
          <Text size="sm">Start from</Text>
          {now?.entry && startFrom('the entry as it is', now.entry)}
          {startFrom('an example', type.examples[0] ?? {})}
        </Group>
      )}
      {order.op !== 'remove' && (
        <Textarea
          label={order.op === 'put' ? 'The whole entry, as JSON' : 'Fields to change, as JSON; null removes one'}
          required
          autosize
          minRows={6}
          maxRows={12}
          classNames={{ input: 'mono' }}
          error={order.value !== '' && !isJson && 'This is not a JSON object.'}
          value={order.value}
          onChange={(event) => setOrder({ ...order, value: event.currentTarget.value })}
        />
      )}
      <ReasonField value={order.reason} onChange={(reason) => setOrder({ ...order, reason })} />
      <ApprovalNote request={save.waiting} />
    </FormDialog>
  )
}

function parseObject(text: string): Entry | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Entry) : null
  } catch {
    return null
  }
}
