/** Dismissed alerts that were selected for a second look, and how often people agree with them. */
import { Badge, Button, Group, Stack, Switch, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { formatCount, toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { PriorityBar } from '#console/ui/work/priority.tsx'
import { AlertExplanation } from './alert-explanation.tsx'
import { alertQuery, getAlertName, touched } from './alert-queries.ts'
import { InboxFrame } from './inbox-frame.tsx'

type Look = Schemas['AlertSecondLook']
const states = ['waiting', 'agreed', 'disagreed'] as const

export default function SecondLooksPage() {
  const state = useFilter('state', states) ?? 'waiting'
  const [decided, setDecided] = useState<Look | null>(null)
  const list = usePages<Look>(['alerts', 'second-looks', state], (cursor, signal) =>
    probity.GET('/api/alerts/second-looks', { params: { query: { ...cursor, state, limit: 50 } }, signal }),
  )
  return (
    <InboxFrame
      open="/inbox/second-looks"
      about="A sample of dismissed alerts is checked by somebody who was not involved. The sample is computed from the alert, so it can be verified later."
    >
      <Stack gap="sm">
        <Agreement />
        <Group gap="xs">
          <Filter name="state" label="State" values={states} everything="Waiting" />
        </Group>
        <ListTable
          label="Second looks"
          list={list}
          empty={{
            title: state === 'waiting' ? 'No dismissal waits for a second look' : 'No second looks',
            about: 'Dismissed alerts that are selected for a check appear here.',
            filters: ['state'],
          }}
          head={[
            { name: 'Priority', isHidden: true },
            { name: 'Alert' },
            { name: 'Dismissed by' },
            { name: 'Drawn', from: 'sm' },
            { name: 'Decision' },
          ]}
          row={(look) => <LookRow key={look.look_id} look={look} onDecide={() => setDecided(look)} />}
        />
      </Stack>
      {decided && <DecideDialog look={decided} onClose={() => setDecided(null)} />}
    </InboxFrame>
  )
}

function Agreement() {
  const { data } = useQuery({
    queryKey: ['alerts', 'agreement'],
    queryFn: ({ signal }) => probity.GET('/api/alerts/second-looks/agreement', { signal }),
    throwOnError: false,
  })
  if (data === undefined) return null
  const decided = data.agreed + data.disagreed
  return (
    <Text size="sm">
      {data.agreement_bps === null
        ? 'None decided yet.'
        : `${(data.agreement_bps / 100).toFixed(0)} % agree, of ${formatCount(decided, 'second look')} decided.`}{' '}
      {formatCount(data.waiting, 'dismissal')} waiting.
    </Text>
  )
}

function LookRow({ look, onDecide }: { readonly look: Look; readonly onDecide: () => void }) {
  const me = useMe()
  const may = usePermission()
  return (
    <Table.Tr>
      <Table.Td w={20} px={6}>
        <PriorityBar priority={look.priority} />
      </Table.Td>
      <Table.Td>
        <PageLink to={`/inbox/alerts/${look.alert_id}`} size="sm" fw={500}>
          {getAlertName(look.alert_id)}
        </PageLink>
        <RestrictionMark is_restricted={look.is_restricted} />
        <Text size="sm" lineClamp={2} className="break">
          {look.title}
        </Text>
      </Table.Td>
      <Table.Td>
        <Principal of={look.dismissed_by} isAlwaysNamed />
        <Text size="xs" c="dimmed">
          {look.reason_code !== null && <ReasonCodes of={[look.reason_code]} />}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={look.created_at} />
        <Text size="xs" c="dimmed">
          {look.sample.rate_bps / 100} % of {toWords(look.sample.code)} dismissals are checked
        </Text>
      </Table.Td>
      <Table.Td>
        {look.state !== 'waiting' ? (
          <Badge variant="light" tt="none" miw="max-content" color={look.state === 'agreed' ? 'teal' : 'red'}>
            {look.state}
          </Badge>
        ) : look.dismissed_by === me.principal ? (
          <Text size="xs" c="dimmed">
            somebody else decides
          </Text>
        ) : (
          may('decideAlertSecondLook') && (
            <Button size="compact-xs" onClick={onDecide}>
              Decide
            </Button>
          )
        )}
      </Table.Td>
    </Table.Tr>
  )
}

/** What was dismissed and why, so that it can be judged without leaving the dialog. */
function DismissedAlert({ look }: { readonly look: Look }) {
  const { data: alert } = useQuery({ ...alertQuery(look.alert_id), throwOnError: false })
  return (
    <>
      <Text size="sm" component="div" className="break">
        <b>{look.title}</b>, dismissed by <Principal of={look.dismissed_by} isAlwaysNamed />
        {look.reason_code !== null && (
          <>
            : <ReasonCodes of={[look.reason_code]} />
          </>
        )}
      </Text>
      {alert !== undefined && <AlertExplanation alert={alert} />}
    </>
  )
}

function DecideDialog({ look, onClose }: { readonly look: Look; readonly onClose: () => void }) {
  const { look_id, alert_id } = look
  const [agrees, setAgrees] = useState(true)
  const [note, setNote] = useState('')
  const decide = useApiMutation(
    () =>
      probity.POST('/api/alerts/second-looks/{look_id}/decide', {
        params: { path: { look_id } },
        body: { agrees, note: note.trim() === '' ? null : note },
      }),
    { invalidates: touched, successMessage: agrees ? 'Agreed' : 'The alert is open again', onDone: onClose },
  )
  return (
    <FormDialog
      title={`Second look at ${getAlertName(alert_id).toLowerCase()}`}
      isOpen
      onClose={onClose}
      onSubmit={() => decide.run(undefined)}
      submit={agrees ? 'Agree' : 'Open the alert again'}
      change={decide}
    >
      <DismissedAlert look={look} />
      <Switch
        label="The dismissal was right"
        checked={agrees}
        data-autofocus
        onChange={(event) => setAgrees(event.currentTarget.checked)}
      />
      <ReasonField label="Note" isRequired={!agrees} value={note} onChange={setNote} />
    </FormDialog>
  )
}
