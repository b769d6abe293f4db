/** Sets or removes an override of a rating, with a reason and an optional expiry. */
import { Button, Select, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { listContentQuery } from '#console/ui/decision/list-entries.ts'
import { REASON_CODES } from '#console/ui/decision/reason-codes.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { toInstant, toLocalInput } from '#console/ui/local-time.ts'
import { ReasonField } from '#console/ui/reason-field.tsx'

const DAYS = 90
const DAY_MS = 86_400_000

interface OverrideDialogProps {
  readonly subject: Schemas['Subject']
  readonly onClose: () => void
}

export function OverrideDialog({ subject, onClose }: OverrideDialogProps) {
  const [order, setOrder] = useState(() => ({
    band: null as string | null,
    reason: '',
    reason_code: null as string | null,
    until: toLocalInput(new Date(Date.now() + DAYS * DAY_MS).toISOString()),
  }))
  const { data: bands } = useQuery(listContentQuery('risk-bands'))
  const { data: codes } = useQuery(listContentQuery(REASON_CODES))
  const override = useApiMutation(
    () =>
      probity.POST('/api/subjects/{subject_id}/risk-override', {
        params: { path: { subject_id: subject.subject_id } },
        body: {
          band: order.band ?? '',
          reason: order.reason,
          ...(order.reason_code !== null && { reason_code: order.reason_code }),
          expires_at: toInstant(order.until) ?? '',
        },
      }),
    { invalidates: ['subjects'], successMessage: 'Override in force', onDone: onClose },
  )
  return (
    <FormDialog
      title={`Override the rating of ${subject.name}`}
      isOpen
      onClose={onClose}
      onSubmit={() => order.band !== null && override.run(undefined)}
      submit="Override"
      change={override}
    >
      <Select
        label="Band"
        description="Lowering a rating needs the approval of a compliance officer."
        required
        data-autofocus
        data={(bands?.entries ?? []).map(({ key }) => key)}
        value={order.band}
        onChange={(band) => setOrder({ ...order, band })}
      />
      <ReasonField
        label="Reason for the override"
        value={order.reason}
        onChange={(reason) => setOrder({ ...order, reason })}
      />
      <Select
        label="Reason code"
        description="The reason is visible to analysts, compliance officers and auditors; other roles see only the code."
        clearable
        searchable
        data={(codes?.entries ?? [])
          .filter(({ entry }) => entry['area'] === 'rating')
          .map(({ key, entry }) => ({ value: key, label: String(entry['title']) }))}
        value={order.reason_code}
        onChange={(reason_code) => setOrder({ ...order, reason_code })}
      />
      <TextInput
        type="datetime-local"
        label="Expires"
        required
        value={order.until}
        onChange={(event) => setOrder({ ...order, until: event.currentTarget.value })}
      />
      <ApprovalNote request={override.waiting} />
    </FormDialog>
  )
}

export function EndOverride({ subject_id }: { readonly subject_id: string }) {
  const [isOpen, dialog] = useDisclosure(false)
  const [reason, setReason] = useState('')
  const end = useApiMutation(
    () =>
      probity.DELETE('/api/subjects/{subject_id}/risk-override', {
        params: { path: { subject_id }, ...(reason !== '' && { query: { reason } }) },
      }),
    { invalidates: ['subjects'], successMessage: 'Override removed', onDone: dialog.close },
  )
  return (
    <>
      <Button size="xs" variant="default" onClick={dialog.open}>
        Remove override
      </Button>
      <FormDialog
        title="Remove the override?"
        isOpen={isOpen}
        onClose={dialog.close}
        onSubmit={() => end.run(undefined)}
        submit="Remove override"
        change={end}
      >
        The latest rating applies again.
        <ReasonField isFirst isRequired={false} value={reason} onChange={setReason} />
        <ApprovalNote request={end.waiting} />
      </FormDialog>
    </>
  )
}
