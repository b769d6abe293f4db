/** The designation of the MLRO: who is designated, what waits for a second person, and the history. */
import { Badge, Button, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { PersonSelect, peopleQuery } from '#console/ui/person-select.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { Section } from '#console/ui/section.tsx'

type Designation = Schemas['MlroDesignation']

export default function MlroPage() {
  const may = usePermission()
  const [isProposing, proposing] = useDisclosure(false)
  const list = usePages<Designation>(
    ['mlro-designations', 'list'],
    (cursor, signal) => probity.GET('/api/mlro-designations', { params: { query: { ...cursor, limit: 50 } }, signal }),
    { refetch_ms: 30_000 },
  )
  const propose = may('createMlroDesignation') && <Button onClick={proposing.open}>Propose a change</Button>
  return (
    <Page
      title="MLRO"
      about="The money laundering reporting officer sees every restriction that does not exclude them. One person proposes who is designated, another confirms it; nobody confirms a designation of their own."
      actions={propose}
    >
      <Stack gap="md">
        {may('listUsers') && <DesignatedNow />}
        <ListTable
          label="Designations"
          list={list}
          empty={{
            title: 'Nobody was designated yet',
            about: 'Without an MLRO, a restriction is visible only to the people on its access list.',
            action: propose,
          }}
          head={[
            { name: 'Change' },
            { name: 'State' },
            { name: 'Proposed', from: 'sm' },
            { name: 'Decided', from: 'md' },
            { name: 'Actions', isHidden: true },
          ]}
          row={(designation) => <DesignationRow key={designation.designation_id} designation={designation} />}
        />
      </Stack>
      {isProposing && <ProposeDialog onClose={proposing.close} />}
    </Page>
  )
}

function DesignatedNow() {
  const { data } = useQuery(peopleQuery)
  const designated = data?.filter(({ is_mlro }) => is_mlro)
  return (
    <Section title="Designated now">
      {designated?.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nobody. A restriction is visible only to the people on its access list.
        </Text>
      ) : (
        <Stack component="ul" className="plain-list" gap={4} aria-label="Designated now">
          {designated?.map(({ user_id, email }) => (
            <li key={user_id}>
              <Text size="sm" span>
                <Principal of={`user:${user_id}`} isAlwaysNamed />{' '}
                <Text span c="dimmed">
                  {email ?? ''}
                </Text>
              </Text>
            </li>
          ))}
        </Stack>
      )}
    </Section>
  )
}

const stateTexts = {
  waiting: { text: 'waits for a second person', color: 'orange' },
  confirmed: { text: 'confirmed', color: 'teal' },
  withdrawn: { text: 'withdrawn', color: 'gray' },
} as const

function DesignationRow({ designation }: { readonly designation: Designation }) {
  const { text, color } = stateTexts[designation.state]
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500} component="div">
          {designation.effect === 'designate' ? 'Designate ' : 'End the designation of '}
          <Principal of={`user:${designation.user_id}`} isAlwaysNamed />
        </Text>
        <Text size="xs" c="dimmed" lineClamp={2}>
          “{designation.reason}”
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge variant="light" tt="none" miw="max-content" color={color}>
          {text}
        </Badge>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={designation.proposed_at} />, by <Principal of={designation.proposed_by} isAlwaysNamed />
      </Table.Td>
      <Table.Td visibleFrom="md">
        {designation.decided_by !== null && (
          <>
            <RelativeTime at={designation.decided_at} />, by <Principal of={designation.decided_by} isAlwaysNamed />
          </>
        )}
      </Table.Td>
      <Table.Td ta="right">{designation.state === 'waiting' && <Decision designation={designation} />}</Table.Td>
    </Table.Tr>
  )
}

function Decision({ designation: { designation_id, user_id, proposed_by } }: { readonly designation: Designation }) {
  const me = useMe()
  const may = usePermission()
  const params = { path: { designation_id } }
  const canConfirm = ![proposed_by, `user:${user_id}`].includes(me.principal)
  const invalidates = ['mlro-designations', 'users', 'restrictions']
  const confirm = useApiMutation(() => probity.POST('/api/mlro-designations/{designation_id}/confirm', { params }), {
    invalidates,
    successMessage: 'Designation confirmed',
  })
  const withdraw = useApiMutation(() => probity.POST('/api/mlro-designations/{designation_id}/withdraw', { params }), {
    invalidates,
    successMessage: 'Designation withdrawn',
  })
  if (!may('confirmMlroDesignation')) return null
  return (
    <Stack gap={4} align="flex-end">
      <Group gap="xs" justify="flex-end">
        <Button
          size="compact-xs"
          variant="default"
          loading={withdraw.isRunning}
          onClick={() => withdraw.run(undefined)}
        >
          Withdraw
        </Button>
        {canConfirm && (
          <Button size="compact-xs" loading={confirm.isRunning} onClick={() => confirm.run(undefined)}>
            Confirm
          </Button>
        )}
      </Group>
      {!canConfirm && (
        <Text size="xs" c="dimmed">
          Another person must confirm.
        </Text>
      )}
      <ProblemNote problem={confirm.problem ?? withdraw.problem} />
    </Stack>
  )
}

const effectChoices = [
  { value: 'designate', label: 'Designate' },
  { value: 'end', label: 'End the designation' },
]

function ProposeDialog({ onClose }: { readonly onClose: () => void }) {
  const [user_id, setUser] = useState<string | null>(null)
  const [effect, setEffect] = useState<Designation['effect']>('designate')
  const [reason, setReason] = useState('')
  const propose = useApiMutation(
    (person_id: string) => probity.POST('/api/mlro-designations', { body: { user_id: person_id, effect, reason } }),
    { invalidates: ['mlro-designations'], successMessage: 'Proposed: another person must confirm', onDone: onClose },
  )
  return (
    <FormDialog
      title="Propose a change of the MLRO"
      isOpen
      onClose={onClose}
      onSubmit={() => user_id !== null && propose.run(user_id)}
      submit="Propose"
      change={propose}
    >
      <SegmentedControl
        aria-label="Change"
        data={effectChoices}
        value={effect}
        onChange={(value) => setEffect(value as Designation['effect'])}
      />
      <PersonSelect label="Person" isFirst user_id={user_id} onChange={setUser} />
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  )
}
