/** Adds, changes or removes one entry of a shared list for this tenant. The overlay is sent as a whole. */

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
  put: 'Add or replace an entry',
  merge: 'Change fields of an entry',
  remove: 'Remove an entry',
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
    { invalidates: ['datasets'], successMessage: 'Overlay in force', onDone: onClose },
  )
  return (
    <FormDialog
      title="Change an entry for this tenant"
      isOpen
      onClose={onClose}
      onSubmit={() => isJson && save.run(value)}
      submit="Put in force"
      change={save}
      size="lg"
    >
      <Select
        label="Change"
        allowDeselect={false}
        value={order.op}
        data={ops.map((op) => ({ value: op, label: operationLabels[op] }))}
        onChange={(op) => setOrder({ ...order, op: (op ?? 'put') as Op })}
      />
      <TextInput
        label="Key"
        description={now === undefined ? undefined : now.entry === null ? 'Not on the list.' : 'On the list.'}
        required
        maxLength={500}
        data-autofocus
        value={order.key}
        onChange={(event) => setOrder({ ...order, key: event.currentTarget.value })}
      />
      {order.op !== 'remove' && (
        <EntryField
          label={order.op === 'put' ? 'Complete entry as JSON' : 'Fields to change as JSON; null removes a field'}
          value={order.value}
          isValid={isJson}
          templates={{ ...(now?.entry && { 'current entry': now.entry }), example: type.examples[0] ?? {} }}
          onChange={(text) => setOrder({ ...order, value: text })}
        />
      )}
      <ReasonField value={order.reason} onChange={(reason) => setOrder({ ...order, reason })} />
      <ApprovalNote request={save.waiting} />
    </FormDialog>
  )
}

interface EntryFieldProps {
  readonly label: string
  readonly value: string
  readonly isValid: boolean
  /** Entries to start from, by name. */
  readonly templates: Readonly<Record<string, object>>
  readonly onChange: (text: string) => void
}

function EntryField({ label, value, isValid, templates, onChange }: EntryFieldProps) {
  return (
    <>
      <Group gap="xs">
        <Text size="sm">Start from</Text>
        {Object.entries(templates).map(([name, entry]) => (
          <Button
            key={name}
            size="compact-xs"
            variant="default"
            onClick={() => onChange(JSON.stringify(entry, null, 2))}
          >
            {name}
          </Button>
        ))}
      </Group>
      <Textarea
        label={label}
        required
        autosize
        minRows={6}
        maxRows={12}
        classNames={{ input: 'mono' }}
        error={value !== '' && !isValid && 'This is not a valid JSON object.'}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </>
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
