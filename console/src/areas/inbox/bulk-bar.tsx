/** Acts on several alerts. Before anything is done, the server says which of them it would refuse, and by which rule. */
import { Button, Group, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { formatCount } from '#console/ui/format.ts'
import { toInstant } from '#console/ui/local-time.ts'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { WorkerSelect } from '#console/ui/work/worker-select.tsx'
import { ReasonSelect } from './alert-dialogs.tsx'
import { type Alert, touched } from './alert-queries.ts'
import { groupRefusals } from './group-refusals.ts'

type BulkResult = Schemas['AlertBulkResult']
export type BulkAction = 'assign' | 'release' | 'snooze' | 'dismiss' | 'confirm_dismissal' | 'escalate'

const names: Readonly<Record<BulkAction, string>> = {
  assign: 'Assign',
  dismiss: 'Dismiss',
  confirm_dismissal: 'Confirm dismissals',
  escalate: 'Escalate',
  snooze: 'Snooze',
  release: 'Return to queue',
}
const actions = Object.keys(names) as BulkAction[]
/** Those whose first field, which gets the focus, is not the note. */
const hasOtherField: readonly BulkAction[] = ['assign', 'dismiss', 'snooze']

interface BulkBarProps {
  readonly alerts: readonly Alert[]
  /** Whose dialog is open. */
  readonly action: BulkAction | null
  readonly onAction: (action: BulkAction | null) => void
  readonly onDone: () => void
}

export function BulkBar({ alerts, action, onAction, onDone }: BulkBarProps) {
  if (alerts.length === 0) return null
  return (
    <Group component="section" aria-label="Selected alerts" className="bulk-bar" gap="xs">
      <Text size="sm" fw={600} role="status">
        {formatCount(alerts.length, 'alert')} selected
      </Text>
      {actions.map((one) => (
        <Button key={one} size="compact-sm" variant="default" onClick={() => onAction(one)}>
          {names[one]}
        </Button>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={onDone}>
        Clear
      </Button>
      {action !== null && (
        <BulkDialog
          alerts={alerts}
          action={action}
          onClose={() => onAction(null)}
          onDone={() => {
            onAction(null)
            onDone()
          }}
        />
      )}
    </Group>
  )
}

interface BulkDialogProps {
  readonly alerts: readonly Alert[]
  readonly action: BulkAction
  readonly onClose: () => void
  readonly onDone: () => void
}

function BulkDialog({ alerts, action, onClose, onDone }: BulkDialogProps) {
  const { principal } = useMe()
  const [user_id, setUser] = useState<string | null>(principal.replace(/^user:/, ''))
  const [reason_code, setReason] = useState<string | null>(null)
  const [until, setUntil] = useState('')
  const [note, setNote] = useState('')
  const end = toInstant(until)
  const body = {
    alert_ids: alerts.map(({ alert_id }) => alert_id),
    action,
    ...(action === 'assign' && user_id !== null && { user_id }),
    ...(action === 'dismiss' && reason_code !== null && { reason_code }),
    ...(action === 'snooze' && end !== undefined && { until: end }),
    ...(note.trim() !== '' && { note }),
  }
  const isComplete =
    (action !== 'dismiss' || reason_code !== null) &&
    (action !== 'snooze' || end !== undefined) &&
    (action !== 'escalate' || note.trim() !== '') &&
    (action !== 'assign' || user_id !== null)
  const change = useApiMutation(() => probity.POST('/api/alerts/bulk', { body }), {
    invalidates: touched,
    successMessage: (result) => (result.job_id !== null ? 'A job does it' : describeResult(action, result)),
    onDone,
  })
  return (
    <FormDialog
      title={`${names[action]}: ${formatCount(alerts.length, 'alert')}`}
      isOpen
      onClose={onClose}
      onSubmit={() => isComplete && change.run(undefined)}
      submit={names[action]}
      change={change}
    >
      {action === 'assign' && <WorkerSelect user_id={user_id} onChange={setUser} />}
      {action === 'dismiss' && <ReasonSelect value={reason_code} onChange={setReason} />}
      {action === 'snooze' && (
        <TextInput
          type="datetime-local"
          label="Until"
          required
          data-autofocus
          value={until}
          onChange={(event) => setUntil(event.currentTarget.value)}
        />
      )}
      <ReasonField
        label="Note"
        isRequired={action === 'escalate'}
        isFirst={!hasOtherField.includes(action)}
        value={note}
        onChange={setNote}
      />
      {isComplete && <Rules body={body} />}
    </FormDialog>
  )
}

/** A proposed dismissal is not done: it waits for a second person. */
function describeResult(action: BulkAction, { refused, items }: Pick<BulkResult, 'refused' | 'items'>): string {
  const done = items.filter((item) => item.done)
  const waiting = action === 'dismiss' ? done.filter(({ state }) => state !== 'dismissed').length : 0
  const parts = [
    `${done.length - waiting} done`,
    waiting > 0 && `${waiting} waiting for a second person`,
    refused > 0 && `${refused} refused`,
  ]
  return parts.filter((part) => part !== false).join(', ')
}

interface BulkBody {
  readonly alert_ids: string[]
  readonly action: BulkAction
  readonly user_id?: string
  readonly reason_code?: string
  readonly until?: string
  readonly note?: string
}

const askRules = (body: BulkBody, signal: AbortSignal) =>
  probity.POST('/api/alerts/bulk', { body: { ...body, dry_run: true }, signal })

const describeAllPossible = (count: number): string =>
  count === 1 ? 'It can be done.' : `All ${count.toLocaleString('en')} can be done.`

/** What would be refused, and why. */
function Rules({ body }: { readonly body: BulkBody }) {
  const { data } = useQuery({
    queryKey: ['alerts', 'bulk', body],
    queryFn: ({ signal }) => askRules(body, signal),
    placeholderData: keepPreviousData,
    throwOnError: false,
  })
  if (data === undefined) return null
  const refusals = groupRefusals(data.items)
  return (
    <Text size="sm" component="div" role="status">
      {refusals.length === 0
        ? describeAllPossible(data.items.length)
        : `${data.items.length - data.refused} of ${data.items.length} can be done. Refused:`}
      <ul className="refusals">
        {refusals.map(({ detail, count }) => (
          <li key={detail}>
            {formatCount(count, 'alert')}: {detail}
          </li>
        ))}
      </ul>
    </Text>
  )
}
