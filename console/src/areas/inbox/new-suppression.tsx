/** Proposes a suppression, which another person confirms. */
import { Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { toInstant } from '#console/ui/local-time.ts'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { SubjectPicker } from '#console/ui/subject-picker.tsx'
import type { Priority } from '#console/ui/work/priority.tsx'
import { ReasonSelect } from './alert-dialogs.tsx'
import type { Alert } from './alert-queries.ts'

const priorities: Priority[] = ['low', 'medium', 'high', 'critical']

interface NewSuppressionProps {
  /** Whose source and match are suppressed; absent: the user names them. */
  readonly alert?: Pick<Alert, 'source' | 'dedup_key' | 'priority'>
  readonly onClose: () => void
}

export function NewSuppression({ alert, onClose }: NewSuppressionProps) {
  const [source, setSource] = useState(alert?.source ?? '')
  const [dedup_key, setDedupKey] = useState(alert?.dedup_key ?? '')
  const [subject_id, setSubject] = useState<string | null>(null)
  const [up_to_priority, setPriority] = useState<Priority>(alert?.priority ?? 'low')
  const [reason_code, setReasonCode] = useState<string | null>(null)
  const [reason, setReason] = useState('')
  const [until, setUntil] = useState('')
  const propose = useApiMutation(
    ({ code, expires_at }: { code: string; expires_at: string }) =>
      probity.POST('/api/alerts/suppressions', {
        body: {
          source,
          dedup_key: dedup_key.trim() === '' ? null : dedup_key,
          subject_id,
          up_to_priority,
          reason_code: code,
          reason,
          expires_at,
        },
      }),
    { invalidates: ['alerts'], successMessage: 'Proposed: another person must confirm', onDone: onClose },
  )
  function submit() {
    const expires_at = toInstant(until)
    if (reason_code !== null && expires_at !== undefined) propose.run({ code: reason_code, expires_at })
  }
  return (
    <FormDialog
      title="Propose a suppression"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Propose"
      change={propose}
    >
      <TextInput
        label="Source"
        description="Who reports: rule, matrix, contract, or the name of a system."
        required
        data-autofocus
        value={source}
        onChange={(event) => setSource(event.currentTarget.value)}
      />
      <SubjectPicker
        label="Subject"
        description="Enter this or the key of the match."
        subject_id={subject_id}
        onChange={setSubject}
      />
      <TextInput
        label="Key of the match"
        description="Shown on every alert of the match, under its technical details."
        value={dedup_key}
        onChange={(event) => setDedupKey(event.currentTarget.value)}
      />
      <Select
        label="Up to priority"
        allowDeselect={false}
        data={priorities}
        value={up_to_priority}
        onChange={(value) => setPriority((value ?? 'low') as Priority)}
      />
      <TextInput
        type="datetime-local"
        label="Expires"
        required
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
      <ReasonSelect value={reason_code} onChange={setReasonCode} />
      <ReasonField label="Explanation" value={reason} onChange={setReason} />
    </FormDialog>
  )
}
