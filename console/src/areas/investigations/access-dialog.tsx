/** Restricts a case to named people, or lifts that. Who has access is changed on the page of its restriction. */
import { Alert, MultiSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { peopleQuery } from '#console/ui/person-select.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { LosesWork } from '#console/ui/restriction/loses-work.tsx'
import { EndingAccessNote, useOwnAccessEnd } from '#console/ui/restriction/own-access.tsx'
import { type Investigation, touchedByEvidence } from './investigation-queries.ts'

interface AccessDialogProps {
  readonly investigation: Investigation
  readonly onClose: () => void
}

export function AccessDialog({ investigation, onClose }: AccessDialogProps) {
  const may = usePermission()
  const { investigation_id, restriction_id, revision, is_restricted, assignee } = investigation
  const [reason, setReason] = useState('')
  const [people, setPeople] = useState<string[]>([])
  const ends_at = useOwnAccessEnd(restriction_id)
  const change = useApiMutation(
    () =>
      probity.PUT('/api/investigations/{investigation_id}/access', {
        params: { path: { investigation_id } },
        body: {
          is_restricted: !is_restricted,
          reason,
          expected_revision: revision,
          ...(people.length > 0 && { people }),
        },
      }),
    {
      invalidates: [...touchedByEvidence, 'restrictions'],
      successMessage: is_restricted ? 'The restriction is lifted' : 'The case is restricted',
      onDone: onClose,
    },
  )
  return (
    <FormDialog
      title={is_restricted ? 'Lift the restriction' : 'Restrict the case'}
      isOpen
      onClose={onClose}
      onSubmit={() => change.run(undefined)}
      submit={is_restricted ? 'Lift' : 'Restrict'}
      change={change}
      isRefused={ends_at !== null}
    >
      {ends_at !== null && <EndingAccessNote until={ends_at} />}
      {is_restricted ? (
        <Text size="sm">Everybody whose role allows it sees the case and what belongs to it again.</Text>
      ) : (
        <>
          <Alert color="orange" title="Do not discuss with the customer" role="note">
            From now on only you, the MLRO and the people named here see the case and what belongs to it.
          </Alert>
          <LosesWork assignee={assignee} people={people} />
          {may('listUsers') && <PeopleSelect people={people} onChange={setPeople} />}
        </>
      )}
      <ReasonField isFirst value={reason} onChange={setReason} />
    </FormDialog>
  )
}

interface PeopleSelectProps {
  readonly people: string[]
  readonly onChange: (people: string[]) => void
}

/** Roles that read cases at all; people of another issuer have roles that are not known here. */
const readers = ['analyst', 'compliance_officer', 'auditor'] as const

function PeopleSelect({ people, onChange }: PeopleSelectProps) {
  const { principal } = useMe()
  const { data } = useQuery({ ...peopleQuery, throwOnError: false })
  const offered = (data ?? [])
    .filter(({ user_id }) => `user:${user_id}` !== principal)
    .filter(({ origin, roles }) => origin === 'external' || readers.some((role) => roles.includes(role)))
  return (
    <MultiSelect
      label="People with access"
      description="In addition to you and the MLRO. You can change this later."
      searchable
      nothingFoundMessage="Nobody has this name"
      data={offered.map(({ user_id, name, email, subject }) => ({
        value: user_id,
        label: `${name} · ${email ?? subject}`,
      }))}
      value={people}
      onChange={onChange}
    />
  )
}
