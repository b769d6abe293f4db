/** Whom a case is about beside its subject, and the alerts that it looks into. */
import { Button, Group, Select, Stack, Text, Title } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { formatDateTime } from '#console/ui/date-format.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SubjectPicker } from '#console/ui/subject-picker.tsx'
import { PriorityBadge } from '#console/ui/work/priority.tsx'
import { type Investigation, isOpen, subjectsQuery, touched, useListOfCase } from './investigation-queries.ts'

type Part = Schemas['InvestigationSubject']['part']

const partTexts: Readonly<Record<Part, string>> = {
  primary: 'Subject of the case',
  counterparty: 'Counterparty',
  beneficial_owner: 'Beneficial owner',
  representative: 'Representative',
  related: 'Related',
}

export function RelatedTab({ investigation }: { readonly investigation: Investigation }) {
  return (
    <Stack gap="lg" id="related" tabIndex={-1}>
      <Subjects investigation={investigation} />
      <Alerts investigation={investigation} />
    </Stack>
  )
}

interface SectionProps {
  readonly investigation: Investigation
}

function Subjects({ investigation }: SectionProps) {
  const may = usePermission()
  const [isAdding, setAdding] = useState(false)
  const { investigation_id } = investigation
  const subjects = useListOfCase(subjectsQuery(investigation_id), investigation)
  return (
    <section aria-labelledby="case-subjects">
      <Group justify="space-between" gap="xs" mb="xs">
        <Title order={2} size="h5" id="case-subjects">
          Subjects
        </Title>
        {isOpen(investigation) && may('createInvestigationSubject') && (
          <Button size="compact-xs" variant="default" onClick={() => setAdding(true)}>
            Add a subject
          </Button>
        )}
      </Group>
      {subjects === undefined && <ListSkeleton />}
      <ul className="plain-list case-related">
        {subjects?.items.map(({ subject_id, name, part, added_at, added_by }) => (
          <li key={subject_id}>
            {may('getSubject') ? <PageLink to={`/subjects/${subject_id}`}>{name}</PageLink> : name}
            <Text size="xs" c="dimmed" component="div">
              {partTexts[part]}
              {part !== 'primary' && (
                <>
                  , added <DateTime at={added_at} />, by <Principal of={added_by} isAlwaysNamed />
                </>
              )}
            </Text>
          </li>
        ))}
      </ul>
      {isAdding && <AddSubject investigation_id={investigation_id} onClose={() => setAdding(false)} />}
    </section>
  )
}

interface DialogProps {
  readonly investigation_id: string
  readonly onClose: () => void
}

const parts = (['counterparty', 'beneficial_owner', 'representative', 'related'] as const).map((part) => ({
  value: part,
  label: partTexts[part],
}))

function AddSubject({ investigation_id, onClose }: DialogProps) {
  const [subject_id, setSubject] = useState<string | null>(null)
  const [part, setPart] = useState<(typeof parts)[number]['value']>('related')
  const add = useApiMutation(
    (chosen: string) =>
      probity.POST('/api/investigations/{investigation_id}/subjects', {
        params: { path: { investigation_id } },
        body: { subject_id: chosen, part },
      }),
    { invalidates: touched, successMessage: ({ name }) => `${name} added`, onDone: onClose },
  )
  return (
    <FormDialog
      title="Add a subject"
      isOpen
      onClose={onClose}
      onSubmit={() => subject_id !== null && add.run(subject_id)}
      submit="Add"
      change={add}
    >
      <SubjectPicker label="Subject" subject_id={subject_id} onChange={setSubject} isRequired />
      <Select
        label="Part in the case"
        allowDeselect={false}
        data={parts}
        value={part}
        onChange={(next) => next !== null && setPart(next)}
      />
    </FormDialog>
  )
}

function Alerts({ investigation }: SectionProps) {
  const may = usePermission()
  const [isLinking, setLinking] = useState(false)
  const { alerts } = investigation
  const link = isOpen(investigation) && may('linkInvestigationAlerts') && may('listAlerts') && (
    <Button size="compact-xs" variant="default" onClick={() => setLinking(true)}>
      Link an alert
    </Button>
  )
  return (
    <section aria-labelledby="case-alerts">
      <Group justify="space-between" gap="xs" mb="xs">
        <Title order={2} size="h5" id="case-alerts">
          Alerts
        </Title>
        {alerts.length > 0 && link}
      </Group>
      {alerts.length === 0 && (
        <EmptyState title="No alerts" about="Link the alerts that this case investigates." action={link} />
      )}
      <ul className="plain-list case-related">
        {alerts.map(({ alert_id, title, priority, state, linked_at }) => (
          <li key={alert_id}>
            <Group gap="xs">
              {may('getAlert') ? <PageLink to={`/inbox/alerts/${alert_id}`}>{title}</PageLink> : title}
              <PriorityBadge priority={priority} />
            </Group>
            <Text size="xs" c="dimmed" component="div">
              {toSentence(state)}, linked <DateTime at={linked_at} />
            </Text>
          </li>
        ))}
      </ul>
      {isLinking && <LinkAlert investigation={investigation} onClose={() => setLinking(false)} />}
    </section>
  )
}

const MAX_OFFERED = 100

function LinkAlert({ investigation, onClose }: SectionProps & { readonly onClose: () => void }) {
  const { investigation_id, subject, alerts } = investigation
  const [alert_id, setAlert] = useState<string | null>(null)
  const { data } = useQuery({
    queryKey: ['alerts', 'to-link', subject.subject_id],
    queryFn: async ({ signal }) => {
      const list = (query: { readonly subject_id?: string; readonly state?: 'open' }) =>
        probity.GET('/api/alerts', { params: { query: { ...query, limit: MAX_OFFERED } }, signal })
      const [own, open] = await Promise.all([list({ subject_id: subject.subject_id }), list({ state: 'open' })])
      return { own: own.items, open: open.items.filter((one) => one.subject_id !== subject.subject_id) }
    },
    throwOnError: false,
  })
  const offered = [...(data?.own ?? []), ...(data?.open ?? [])]
  const isLinked = (id: string) => alerts.some((one) => one.alert_id === id)
  const toChoice = ({ alert_id: value, title, subject_name, created_at }: (typeof offered)[number]) => ({
    value,
    label: [title, subject_name, formatDateTime(created_at)].filter(Boolean).join(' · '),
  })
  const link = useApiMutation(
    (chosen: string) =>
      probity.POST('/api/investigations/{investigation_id}/alerts', {
        params: { path: { investigation_id } },
        body: { alert_ids: [chosen] },
      }),
    { invalidates: touched, successMessage: 'Alert linked', onDone: onClose },
  )
  return (
    <FormDialog
      title="Link an alert"
      isOpen
      onClose={onClose}
      onSubmit={() => alert_id !== null && link.run(alert_id)}
      submit="Link"
      change={link}
    >
      <Text size="sm">The state of the alert does not change.</Text>
      <Select
        label="Alert"
        required
        searchable
        data-autofocus
        nothingFoundMessage="No alert has these words"
        data={[
          {
            group: `About ${subject.name}`,
            items: (data?.own ?? []).filter((one) => !isLinked(one.alert_id)).map(toChoice),
          },
          {
            group: 'Other open alerts',
            items: (data?.open ?? []).filter((one) => !isLinked(one.alert_id)).map(toChoice),
          },
        ]}
        value={alert_id}
        onChange={setAlert}
        renderOption={({ option }) => (
          <span>
            {option.label}
            <RestrictionMark
              restriction_id={offered.find((one) => one.alert_id === option.value)?.restriction_id ?? null}
            />
          </span>
        )}
      />
    </FormDialog>
  )
}

export const countRelated = ({ counts }: Investigation): number => Math.max(0, counts.subjects - 1) + counts.alerts
