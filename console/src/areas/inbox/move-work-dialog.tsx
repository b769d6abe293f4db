/** Who gets the chosen work, and why. */
import { SegmentedControl, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { formatCount } from '#console/ui/format.ts'
import { Principal } from '#console/ui/principal.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { WorkerSelect } from '#console/ui/work/worker-select.tsx'
import { touched } from './alert-queries.ts'
import { groupMoves, type MovableItem } from './move-groups.ts'

const targets = [
  { value: 'person', label: 'To a person' },
  { value: 'queues', label: 'Back to the queues' },
]
const moved = [...touched, 'investigations']

interface MoveWorkDialogProps {
  readonly from_id: string
  readonly items: readonly MovableItem[]
  readonly onClose: () => void
}

export function MoveWorkDialog({ from_id, items: given, onClose }: MoveWorkDialogProps) {
  const queries = useQueryClient()
  // What was chosen, also while the list behind the dialog changes.
  const [items] = useState(given)
  const [target, setTarget] = useState('person')
  const [user_id, setUser] = useState<string | null>(null)
  const [reason, setReason] = useState('')
  // Sending again after a refusal leaves out what was moved before it.
  const sent = useRef(new Set<MovableItem>())
  const toQueues = target === 'queues'
  const move = useApiMutation(
    async () => {
      try {
        for (const group of groupMoves(items.filter((item) => !sent.current.has(item)))) {
          const references = group.map(({ object_kind, object_id }) => ({ object_kind, object_id }))
          await probity.POST('/api/work/reassign', {
            body: { items: references, user_id: toQueues ? null : user_id, reason },
          })
          for (const item of group) sent.current.add(item)
        }
      } catch (problem) {
        for (const name of moved) void queries.invalidateQueries({ queryKey: [name] })
        throw problem
      }
    },
    {
      invalidates: moved,
      successMessage: `${formatCount(items.length, 'item')} ${toQueues ? 'returned to the queues' : 'moved'}`,
      onDone: onClose,
    },
  )
  return (
    <FormDialog
      title={`Move ${formatCount(items.length, 'item')}`}
      isOpen
      onClose={onClose}
      onSubmit={() => (toQueues || user_id !== null) && move.run(undefined)}
      submit={toQueues ? 'Return' : 'Move'}
      change={move}
    >
      <Text size="sm" component="div">
        <Principal of={`user:${from_id}`} isAlwaysNamed /> does not work on {items.length === 1 ? 'it' : 'them'} any
        more.
      </Text>
      <SegmentedControl aria-label="Where to" data={targets} value={target} onChange={setTarget} />
      {!toQueues && <WorkerSelect user_id={user_id} onChange={setUser} except={from_id} />}
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  )
}
