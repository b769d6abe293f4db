/** Dismissing, escalating and assigning one alert. */
import { Select, Text } from '@mantine/core'
import { isProblem } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { listContentQuery } from '#console/ui/decision/list-entries.ts'
import { REASON_CODES } from '#console/ui/decision/reason-codes.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { subjectQuery } from '#console/ui/subject-queries.ts'
import { usePlaybooks } from '#console/ui/work/open-case.tsx'
import { WorkerSelect } from '#console/ui/work/worker-select.tsx'
import { type Alert, touched, useAlertSettings } from './alert-queries.ts'
import { findTriggerPlaybook } from './trigger-playbook.ts'

interface DialogProps {
  readonly alert: Alert
  readonly onClose: () => void
}

interface ReasonSelectProps {
  readonly value: string | null
  readonly onChange: (code: string | null) => void
}

/** Reason codes for alerts, from the list that is in force. */
export function ReasonSelect({ value, onChange }: ReasonSelectProps) {
  const { data } = useQuery(listContentQuery(REASON_CODES))
  const offered = (data?.entries ?? []).filter(({ entry }) => entry['area'] === 'alert')
  const chosen = offered.find(({ key }) => key === value)
  return (
    <Select
      label="Reason"
      required
      searchable
      data-autofocus
      data={offered.map(({ key, entry }) => ({ value: key, label: String(entry['title'] ?? key) }))}
      value={value}
      onChange={onChange}
      {...(chosen && { description: String(chosen.entry['text'] ?? '') })}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
    />
  )
}

export const toNote = (text: string): string | null => (text.trim() === '' ? null : text)

export function DismissDialog({ alert, onClose }: DialogProps) {
  const [reason_code, setReason] = useState<string | null>(null)
  const [note, setNote] = useState('')
  const needsSecondPerson = useAlertSettings(alert.highest_priority)?.needsSecondPerson ?? false
  const dismiss = useApiMutation(
    (code: string) =>
      probity.POST('/api/alerts/{alert_id}/dismiss', {
        params: { path: { alert_id: alert.alert_id } },
        body: { reason_code: code, note: toNote(note), expected_revision: alert.revision },
      }),
    {
      invalidates: touched,
      successMessage: ({ state }) =>
        state === 'dismissed' ? 'Dismissed' : 'Another person must confirm the dismissal',
      onDone: onClose,
    },
  )
  return (
    <FormDialog
      title="Dismiss the alert"
      isOpen
      onClose={onClose}
      onSubmit={() => reason_code !== null && dismiss.run(reason_code)}
      submit={needsSecondPerson ? 'Propose dismissal' : 'Dismiss'}
      change={dismiss}
    >
      {needsSecondPerson && (
        <Text size="sm">
          Alerts that are or were {alert.highest_priority} need two people: another person confirms the dismissal.
        </Text>
      )}
      <ReasonSelect value={reason_code} onChange={setReason} />
      <ReasonField label="Note" isRequired={false} value={note} onChange={setNote} />
    </FormDialog>
  )
}

interface EscalatedTo {
  readonly investigation_id: string
  readonly reference: string
  readonly isTaken: boolean
}

/** Assigns an unassigned case to the user who escalated. The alert stays escalated if that fails. */
async function takeCase(investigation_id: string, principal: string): Promise<EscalatedTo | null> {
  const params = { path: { investigation_id } }
  let found: EscalatedTo | null = null
  try {
    const { reference, assignee, state } = await probity.GET('/api/investigations/{investigation_id}', { params })
    found = { investigation_id, reference, isTaken: false }
    if (assignee !== null || state !== 'open') return found
    const body = { user_id: principal.replace(/^user:/, '') }
    await probity.POST('/api/investigations/{investigation_id}/assign', { params, body })
    return { ...found, isTaken: true }
  } catch (error) {
    if (!isProblem(error)) throw error
    return found
  }
}

export function EscalateDialog({ alert, onClose }: DialogProps) {
  const may = usePermission()
  const { principal } = useMe()
  const [note, setNote] = useState('')
  const [playbook_key, setPlaybook] = useState<string | null>(null)
  const hasCase = alert.subject_id !== null && may('createInvestigation')
  const { data: subject } = useQuery({
    ...subjectQuery(alert.subject_id ?? ''),
    enabled: hasCase && may('getSubject'),
    throwOnError: false,
  })
  const playbooks = usePlaybooks(subject?.subject_type)
  const { data: triggers } = useQuery({ ...listContentQuery('investigation-triggers'), enabled: hasCase })
  const policy = triggers && subject && findTriggerPlaybook(triggers.entries, { ...alert, ...subject })
  const byPolicy = playbooks.find(({ value }) => value === policy)?.label ?? policy
  const escalate = useApiMutation(
    async () => {
      const { investigation_id } = await probity.POST('/api/alerts/{alert_id}/escalate', {
        params: { path: { alert_id: alert.alert_id } },
        body: { note, expected_revision: alert.revision, ...(playbook_key !== null && { playbook_key }) },
      })
      return investigation_id === null || !may('getInvestigation') ? null : await takeCase(investigation_id, principal)
    },
    {
      invalidates: [...touched, 'investigations'],
      successMessage: (found) =>
        found === null ? (
          'Escalated'
        ) : (
          <>
            Escalated to case{' '}
            <PageLink to={`/investigations/${found.investigation_id}`} inherit>
              {found.reference}
            </PageLink>
            {found.isTaken && ', assigned to you'}
          </>
        ),
      onDone: onClose,
    },
  )
  return (
    <FormDialog
      title="Escalate the alert"
      isOpen
      onClose={onClose}
      onSubmit={() => escalate.run(undefined)}
      submit="Escalate"
      change={escalate}
    >
      <Text size="sm">
        The alert leaves the inbox.
        {hasCase && ' It is added to the open case of the subject, or a case is opened.'}
      </Text>
      <ReasonField isFirst label="Why it needs an investigation" value={note} onChange={setNote} />
      {hasCase && (
        <Select
          label="Playbook"
          placeholder={byPolicy === null ? 'None' : `What the policy says: ${byPolicy ?? '…'}`}
          description={
            byPolicy === null
              ? 'The policy names none for this alert: without one no case is opened.'
              : 'What is gathered, by when, and how the case may end.'
          }
          clearable
          data={playbooks}
          value={playbook_key}
          onChange={setPlaybook}
          clearButtonProps={{ 'aria-label': 'Clear playbook' }}
        />
      )}
    </FormDialog>
  )
}

export function AssignDialog({ alert, onClose }: DialogProps) {
  const [user_id, setUser] = useState<string | null>(null)
  const [note, setNote] = useState('')
  const assign = useApiMutation(
    (to: string) =>
      probity.POST('/api/alerts/{alert_id}/assign', {
        params: { path: { alert_id: alert.alert_id } },
        body: { user_id: to, note: toNote(note), expected_revision: alert.revision },
      }),
    { invalidates: touched, successMessage: 'Assigned', onDone: onClose },
  )
  return (
    <FormDialog
      title="Assign the alert"
      isOpen
      onClose={onClose}
      onSubmit={() => user_id !== null && assign.run(user_id)}
      submit="Assign"
      change={assign}
    >
      <WorkerSelect user_id={user_id} onChange={setUser} />
      <ReasonField label="Note" isRequired={false} value={note} onChange={setNote} />
    </FormDialog>
  )
}
