/** Suppressions: reports that are counted and not raised, until they expire or somebody ends them. */
import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { formatCount, omitUndefined } from '#console/ui/format.ts'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { SubjectName } from '#console/ui/subject-name.tsx'
import { TimeLeft } from '#console/ui/time-left.tsx'
import { InboxFrame } from './inbox-frame.tsx'
import { NewSuppression } from './new-suppression.tsx'

type Suppression = Schemas['AlertSuppression']
const states = ['proposed', 'active', 'ended', 'expired'] as const
const colors = { proposed: 'orange', active: 'cyan', ended: 'gray', expired: 'gray' } as const

export default function SuppressionsPage() {
  const may = usePermission()
  const [isProposing, proposing] = useDisclosure(false)
  const state = useFilter('state', states)
  const list = usePages<Suppression>(['alerts', 'suppressions', state], (cursor, signal) =>
    probity.GET('/api/alerts/suppressions', {
      params: { query: { ...cursor, ...omitUndefined({ state }), limit: 50 } },
      signal,
    }),
  )
  const propose = may('createAlertSuppression') && <Button onClick={proposing.open}>Propose a suppression</Button>
  return (
    <InboxFrame
      open="/inbox/suppressions"
      about="Reports that match a suppression are counted but do not open an alert. A second person confirms each suppression, and each one expires."
      actions={propose}
    >
      <Stack gap="sm">
        <Group gap="xs">
          <Filter name="state" label="State" values={states} everything="Any state" />
        </Group>
        <ListTable
          label="Suppressions"
          list={list}
          empty={{
            title: 'No suppressions',
            about:
              'A suppression stops alerts about a known match for a limited time. Matching reports are still counted.',
            filters: ['state'],
            action: propose,
          }}
          head={[
            { name: 'Suppressed' },
            { name: 'State' },
            { name: 'Expires', from: 'sm' },
            { name: 'Counted', from: 'sm' },
            { name: 'Proposed by', from: 'md' },
            { name: 'Actions', isHidden: true },
          ]}
          row={(suppression) => <SuppressionRow key={suppression.suppression_id} suppression={suppression} />}
        />
      </Stack>
      {isProposing && <NewSuppression onClose={proposing.close} />}
    </InboxFrame>
  )
}

function SuppressionRow({ suppression }: { readonly suppression: Suppression }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500} className="break" component="div">
          <Suppressed of={suppression} />
        </Text>
        <Text size="xs" c="dimmed" lineClamp={2} component="div" className="break">
          <ReasonCodes of={[suppression.reason_code]} />: “{suppression.reason}”
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge variant="light" tt="none" miw="max-content" color={colors[suppression.state]}>
          {suppression.state}
        </Badge>
      </Table.Td>
      <Table.Td visibleFrom="sm" className="nowrap">
        <TimeLeft until={suppression.expires_at} ended="expired" />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {formatCount(suppression.occurrences, 'report')}
        {suppression.last_seen_at !== null && (
          <Text size="xs" c="dimmed">
            last <RelativeTime at={suppression.last_seen_at} />
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Principal of={suppression.proposed_by} isAlwaysNamed />
      </Table.Td>
      <Table.Td ta="right">
        <SuppressionActions suppression={suppression} />
      </Table.Td>
    </Table.Tr>
  )
}

/** What is suppressed: reports of the source about a subject, about one match, or both. */
function Suppressed({ of: { source, dedup_key, subject_id, up_to_priority } }: { readonly of: Suppression }) {
  return (
    <>
      {source}: {subject_id !== null && <SubjectName subject_id={subject_id} />}
      {subject_id !== null && dedup_key !== null && ', '}
      {dedup_key}, up to {up_to_priority}
    </>
  )
}

function SuppressionActions({ suppression }: { readonly suppression: Suppression }) {
  const me = useMe()
  const may = usePermission()
  const [isEnding, ending] = useDisclosure(false)
  const [isConfirming, confirming] = useDisclosure(false)
  const { suppression_id, state, proposed_by } = suppression
  if (!may('endAlertSuppression') || state === 'ended' || state === 'expired') return null
  return (
    <Stack gap={4} align="flex-end">
      <Group gap={6} justify="flex-end">
        {state === 'proposed' && proposed_by !== me.principal && (
          <Button size="compact-xs" onClick={confirming.open}>
            Confirm
          </Button>
        )}
        <Button size="compact-xs" variant="default" onClick={ending.open}>
          {state === 'proposed' ? 'Withdraw' : 'End'}
        </Button>
      </Group>
      {isConfirming && <ConfirmDialog suppression={suppression} onClose={confirming.close} />}
      {isEnding && <EndDialog suppression_id={suppression_id} onClose={ending.close} />}
    </Stack>
  )
}

interface ConfirmDialogProps {
  readonly suppression: Suppression
  readonly onClose: () => void
}

function ConfirmDialog({ suppression, onClose }: ConfirmDialogProps) {
  const { suppression_id, expires_at, reason_code, reason, proposed_by } = suppression
  const confirm = useApiMutation(
    () => probity.POST('/api/alerts/suppressions/{suppression_id}/confirm', { params: { path: { suppression_id } } }),
    { invalidates: ['alerts'], successMessage: 'Suppression confirmed', onDone: onClose },
  )
  return (
    <FormDialog
      title="Confirm the suppression"
      isOpen
      onClose={onClose}
      onSubmit={() => confirm.run(undefined)}
      submit="Confirm"
      change={confirm}
    >
      <Text size="sm" component="div" fw={500} className="break">
        <Suppressed of={suppression} />
      </Text>
      <Text size="sm" component="div">
        Until <DateTime at={expires_at} /> its reports are counted and open no alert.
      </Text>
      <Text size="sm" component="div" className="break">
        Proposed by <Principal of={proposed_by} isAlwaysNamed />: <ReasonCodes of={[reason_code]} />, “{reason}”
      </Text>
    </FormDialog>
  )
}

function EndDialog({ suppression_id, onClose }: { readonly suppression_id: string; readonly onClose: () => void }) {
  const [reason, setReason] = useState('')
  const end = useApiMutation(
    () =>
      probity.POST('/api/alerts/suppressions/{suppression_id}/end', {
        params: { path: { suppression_id } },
        body: { reason },
      }),
    { invalidates: ['alerts'], successMessage: 'Suppression ended', onDone: onClose },
  )
  return (
    <FormDialog
      title="End the suppression"
      isOpen
      onClose={onClose}
      onSubmit={() => end.run(undefined)}
      submit="End"
      change={end}
    >
      <Text size="sm">Reports open alerts again.</Text>
      <ReasonField isFirst value={reason} onChange={setReason} />
    </FormDialog>
  )
}
