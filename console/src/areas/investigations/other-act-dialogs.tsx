/** Waiting for something outside, and merging with another case of the subject. */
import { List, Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { toInstant } from '#console/ui/local-time.ts'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { TimeField } from '#console/ui/text-field.tsx'
import { listEndingWork } from './ending-work.ts'
import { type Investigation, tasksQuery, touched } from './investigation-queries.ts'

interface DialogProps {
  readonly investigation: Investigation
  readonly onClose: () => void
}

const reasons = [
  { value: 'information', label: 'Information' },
  { value: 'authority', label: 'An authority' },
  { value: 'other', label: 'Something else' },
] as const

export function WaitDialog({ investigation: { investigation_id, revision }, onClose }: DialogProps) {
  const [waiting_for, setReason] = useState<(typeof reasons)[number]['value']>('information')
  const [until, setUntil] = useState('')
  const [note, setNote] = useState('')
  const wait = useApiMutation(
    () =>
      probity.POST('/api/investigations/{investigation_id}/wait', {
        params: { path: { investigation_id } },
        body: {
          waiting_for,
          until: toInstant(until) ?? null,
          note: note.trim() === '' ? null : note,
          expected_revision: revision,
        },
      }),
    { invalidates: touched, successMessage: 'Case is waiting', onDone: onClose },
  )
  return (
    <FormDialog
      title="Wait for something"
      isOpen
      onClose={onClose}
      onSubmit={() => wait.run(undefined)}
      submit="Wait"
      change={wait}
    >
      <Text size="sm">Service clocks stop while the case waits. Statutory clocks keep running.</Text>
      <Select
        label="What it waits for"
        allowDeselect={false}
        data-autofocus
        data={reasons}
        value={waiting_for}
        onChange={(next) => next !== null && setReason(next)}
      />
      <TimeField
        label="Until"
        description="The case resumes then. Leave it empty to wait until somebody resumes it."
        value={until}
        onChange={setUntil}
      />
      <ReasonField label="Note" isRequired={false} value={note} onChange={setNote} />
    </FormDialog>
  )
}

/** Steps and tasks that do not move: they end with the case. */
function EndingWork({ investigation }: { readonly investigation: Investigation }) {
  const { data } = useQuery(tasksQuery(investigation.investigation_id))
  const ending = listEndingWork(investigation.steps, data?.items ?? [])
  if (ending.length === 0) return null
  return (
    <div>
      <Text size="sm">Nobody does these any more; the other case follows its own playbook:</Text>
      <List size="sm" aria-label="What ends as not needed">
        {ending.map(({ key, title, is_required }) => (
          <List.Item key={key} className="break">
            {title}
            {is_required && ' (required)'}
          </List.Item>
        ))}
      </List>
    </div>
  )
}

export function MergeDialog({ investigation, onClose }: DialogProps) {
  const { investigation_id, subject, revision } = investigation
  const [into, setInto] = useState<string | null>(null)
  const [note, setNote] = useState('')
  const { data } = useQuery({
    queryKey: ['investigations', 'to-merge', subject.subject_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/investigations', {
        params: { query: { subject_id: subject.subject_id, state: 'open', limit: 100 } },
        signal,
      }),
    throwOnError: false,
  })
  const others = (data?.items ?? []).filter((one) => one.investigation_id !== investigation_id)
  const find = (id: string) => others.find((one) => one.investigation_id === id)
  const merge = useApiMutation(
    (target: string) =>
      probity.POST('/api/investigations/{investigation_id}/merge', {
        params: { path: { investigation_id } },
        body: { into: target, note, expected_revision: revision },
      }),
    { invalidates: touched, successMessage: 'Merged', onDone: onClose },
  )
  return (
    <FormDialog
      title="Merge into another case"
      isOpen
      onClose={onClose}
      onSubmit={() => into !== null && merge.run(into)}
      submit="Merge"
      change={merge}
    >
      <Text size="sm">Evidence and alerts move to the other case, and this case ends.</Text>
      <EndingWork investigation={investigation} />
      <Select
        label="Case to keep"
        description="Open cases of the same subject."
        required
        searchable
        data-autofocus
        nothingFoundMessage="The subject has no other open case"
        data={others.map((one) => ({ value: one.investigation_id, label: `${one.reference} · ${one.title}` }))}
        value={into}
        onChange={setInto}
        renderOption={({ option }) => (
          <span>
            {option.label}
            <RestrictionMark
              restriction_id={find(option.value)?.is_restricted ? find(option.value)?.restriction_id : null}
            />
          </span>
        )}
      />
      <ReasonField label="Reason" value={note} onChange={setNote} />
    </FormDialog>
  )
}
