/** Opens a case of a subject by a playbook, or joins the open one. */
import { Alert, Checkbox, Select, Text, TextInput } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '../api-mutation.ts'
import { definitionsQuery, getDefinitionKey, playbookKind, textQuery } from '../decision/definition-kind.ts'
import { FormDialog } from '../dialog.tsx'
import { SubjectPicker } from '../subject-picker.tsx'
import { subjectQuery } from '../subject-queries.ts'
import type { Priority } from './priority.tsx'

interface OpenCaseProps {
  /** Chosen already: the dialog was opened from the subject. */
  readonly subject_id?: string
  /** Alerts that the case looks into. */
  readonly alert_ids?: readonly string[]
  readonly priority?: Priority
  readonly onClose: () => void
}

const priorities = ['low', 'medium', 'high', 'critical'] as const

/** Playbooks in force that are meant for this type of subject; all of them while it is unknown. */
export function usePlaybooks(subject_type: string | undefined) {
  const { data } = useQuery(definitionsQuery(playbookKind))
  const inForce = (data ?? []).filter(({ active, state }) => active !== null && state === 'live')
  const texts = useQueries({
    queries: inForce.map((one) => ({
      ...textQuery(
        playbookKind,
        getDefinitionKey(one),
        one.active?.version ?? 0,
        one.active?.via === 'tenant-own' ? 'own' : 'shared',
      ),
      throwOnError: false,
    })),
  })
  return inForce
    .filter((_, place) => {
      const types = texts[place]?.data?.definition['subject_types']
      return subject_type === undefined || !Array.isArray(types) || types.includes(subject_type)
    })
    .map((one) => ({ value: getDefinitionKey(one), label: one.title }))
}

export function OpenCase({ subject_id: given, alert_ids = [], priority: first = 'medium', onClose }: OpenCaseProps) {
  const navigate = useNavigate()
  const me = useMe()
  const may = usePermission()
  const [chosen, setChosen] = useState<string | null>(given ?? null)
  const [playbook_key, setPlaybook] = useState<string | null>(null)
  const [priority, setPriority] = useState<Priority>(first)
  const [title, setTitle] = useState('')
  const [is_restricted, setRestricted] = useState(false)
  const { data: subject } = useQuery({
    ...subjectQuery(chosen ?? ''),
    enabled: chosen !== null && may('getSubject'),
    throwOnError: false,
  })
  const playbooks = usePlaybooks(subject?.subject_type)
  const playbook = playbooks.find(({ value }) => value === playbook_key)?.value ?? null
  const open = useApiMutation(
    (wanted: { readonly subject_id: string; readonly playbook_key: string }) =>
      probity.POST('/api/investigations', {
        body: {
          ...wanted,
          priority,
          is_restricted,
          ...(title.trim() !== '' && { title }),
          ...(alert_ids.length > 0 && { alert_ids: [...alert_ids] }),
        },
      }),
    {
      invalidates: ['investigations', 'work', 'overview', 'alerts'],
      successMessage: ({ joined, reference }) =>
        joined ? `Joined ${reference}, which was open` : `Opened ${reference}`,
      onDone: ({ investigation_id }) => navigate({ to: `/investigations/${investigation_id}` }),
    },
  )
  return (
    <FormDialog
      title="Open a case"
      isOpen
      onClose={onClose}
      onSubmit={() => chosen !== null && playbook !== null && open.run({ subject_id: chosen, playbook_key: playbook })}
      submit="Open the case"
      change={open}
    >
      {given === undefined ? (
        <SubjectPicker label="Subject" subject_id={chosen} onChange={setChosen} isRequired />
      ) : (
        <Text size="sm">
          Subject: <b>{subject?.name ?? '…'}</b>
        </Text>
      )}
      <Select
        label="Playbook"
        description="What is gathered, by when, and how the case may end."
        required
        {...(given !== undefined && { 'data-autofocus': true })}
        data={playbooks}
        value={playbook}
        onChange={setPlaybook}
        nothingFoundMessage="No playbook is in force for this type of subject"
      />
      <Select
        label="Priority"
        allowDeselect={false}
        data={[...priorities]}
        value={priority}
        onChange={(next) => next !== null && setPriority(next)}
      />
      <TextInput
        label="Title"
        placeholder="That of the playbook"
        maxLength={300}
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
      />
      {me.roles.includes('compliance_officer') && (
        <Checkbox
          label="Restricted: only I, the MLRO and people whom I give access may see it"
          checked={is_restricted}
          onChange={(event) => setRestricted(event.currentTarget.checked)}
        />
      )}
      {is_restricted ? (
        <Alert color="orange" title="Do not discuss with the customer" role="note">
          A case of its own is opened, even if there is one already.
        </Alert>
      ) : (
        <Text size="sm" c="dimmed">
          If a case of this subject and playbook is open, you join it.
        </Text>
      )}
    </FormDialog>
  )
}
