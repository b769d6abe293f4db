/** Versions in force over time, and the hash-chained activations behind them. */
import { Badge, Button, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, useNow } from '#console/ui/date-time.tsx'
import { ConfirmDialog } from '#console/ui/dialog.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { useFilter, useSetFilter } from '#console/ui/filters.tsx'
import { toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { Principal } from '#console/ui/principal.tsx'
import type { Dataset } from '#console/ui/registry-queries.ts'
import { Section } from '#console/ui/section.tsx'
import { activationsQuery } from './activations-query.ts'
import { formatInstants } from './format-instants.ts'

type Activation = Schemas['Activation']
type Span = Schemas['Timeline']['in_force'][number]

const scopes = ['own', 'shared'] as const

export function ActivationsTab({ dataset }: { readonly dataset: Dataset }) {
  const isShared = dataset.origin === 'shared'
  const set = useSetFilter()
  const scope = useFilter('scope', scopes) ?? (isShared ? 'shared' : 'own')
  const { data: timeline } = useSuspenseQuery(activationsQuery(dataset.list_key, scope))
  return (
    <Stack gap="md">
      {isShared && (
        <Group>
          <SegmentedControl
            size="xs"
            aria-label="Activations shown"
            value={scope}
            onChange={(chosen) => set('scope', chosen)}
            data={[
              { value: 'shared', label: 'Operator' },
              { value: 'own', label: 'This tenant' },
            ]}
          />
        </Group>
      )}
      {timeline.items.length === 0 ? (
        <EmptyState
          title={scope === 'own' && isShared ? 'This tenant follows the operator' : 'No version has been in force yet'}
          about={
            scope === 'own' && isShared
              ? 'It has no pin and no overlay, so every version that the operator puts in force applies.'
              : 'Activations show which version was in force from when to when. Put a version in force on the Versions tab.'
          }
        />
      ) : (
        <>
          {timeline.in_force.length > 0 && <InForcePeriods spans={timeline.in_force} />}
          <ActivationRecord activations={timeline.items} canCancel={scope === 'own'} />
        </>
      )}
    </Stack>
  )
}

function InForcePeriods({ spans }: { readonly spans: readonly Span[] }) {
  const now_ms = useNow()
  const instant = formatInstants(spans.flatMap(({ from, until }) => (until === null ? [from] : [from, until])))
  return (
    <Section title="Versions in force over time">
      <ol className="spans plain-list" aria-label="Periods, oldest first">
        {spans.map(({ version, from, until, activation_id }) => {
          const isNow = Date.parse(from) <= now_ms && (until === null || Date.parse(until) > now_ms)
          return (
            <li className="span" key={`${activation_id} ${from}`} data-now={isNow} data-empty={version === null}>
              <Text size="sm" fw={650}>
                {version === null ? 'none' : `Version ${version}`}
                {isNow && <span className="quiet"> now</span>}
                {Date.parse(from) > now_ms && <span className="quiet"> scheduled</span>}
              </Text>
              {instant(from)} – {until === null ? 'open-ended' : instant(until)}
            </li>
          )
        })}
      </ol>
    </Section>
  )
}

function ActivationRecord({
  activations,
  canCancel,
}: {
  readonly activations: readonly Activation[]
  readonly canCancel: boolean
}) {
  const may = usePermission()
  const now_ms = useNow()
  const [cancelled, setCancelled] = useState<Activation | null>(null)
  const offers = canCancel && may('deleteActivation')
  return (
    <Section title="Activations">
      <PlainTable
        label="Activations, newest first"
        empty={null}
        head={[
          { name: '#' },
          { name: 'Activation' },
          { name: 'In force from' },
          { name: 'Recorded', from: 'md' },
          { name: 'Reason', from: 'sm' },
          { name: 'Hash', from: 'lg' },
        ]}
      >
        {activations.map((one) => (
          <Table.Tr key={one.activation_id}>
            <Table.Td>{one.seq}</Table.Td>
            <Table.Td>
              {toWords(one.kind)} {one.version !== null && `version ${one.version}`}
              <Marks activation={one} />
              {offers && one.revoked_at === null && Date.parse(one.effective_from) > now_ms && (
                <Button size="compact-xs" variant="default" mt={4} onClick={() => setCancelled(one)}>
                  Cancel activation
                </Button>
              )}
            </Table.Td>
            <Table.Td>
              <DateTime at={one.effective_from} />
              {one.expires_at !== null && (
                <Text size="xs" c="dimmed">
                  until <DateTime at={one.expires_at} />
                </Text>
              )}
            </Table.Td>
            <Table.Td visibleFrom="md">
              <DateTime at={one.recorded_at} />
              <Text size="xs" c="dimmed" component="div">
                by <Principal of={one.actor} />
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              {one.reason}
              {one.cr_id !== null && (
                <Text size="xs" component="div">
                  <PageLink to={`/change-requests/${one.cr_id}`} inherit>
                    Approved change request
                  </PageLink>
                </Text>
              )}
            </Table.Td>
            <Table.Td visibleFrom="lg">
              <CopyValue value={one.hash.slice(0, 16)} name="the beginning of the hash" />
            </Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
      <CancelDialog activation={cancelled} onClose={() => setCancelled(null)} />
    </Section>
  )
}

function Marks({ activation: { retroactive, revoked_at, layer } }: { readonly activation: Activation }) {
  return (
    <Group gap={4} mt={2}>
      {layer === 'overlay' && (
        <Badge variant="default" tt="none" fw={500}>
          overlay
        </Badge>
      )}
      {retroactive && (
        <Badge variant="light" color="orange" tt="none">
          retroactive
        </Badge>
      )}
      {revoked_at !== null && (
        <Badge variant="light" color="gray" tt="none">
          cancelled
        </Badge>
      )}
    </Group>
  )
}

interface CancelDialogProps {
  readonly activation: Activation | null
  readonly onClose: () => void
}

function CancelDialog({ activation, onClose }: CancelDialogProps) {
  const cancel = useApiMutation(
    ({ list_key, activation_id }: Activation) =>
      probity.DELETE('/api/reference-data/datasets/{list_key}/activations/{activation_id}', {
        params: { path: { list_key, activation_id } },
      }),
    { invalidates: ['datasets'], successMessage: 'Activation cancelled', onDone: onClose },
  )
  return (
    <ConfirmDialog
      title={`Cancel the activation of version ${activation?.version}?`}
      isOpen={activation !== null}
      onClose={() => {
        cancel.reset()
        onClose()
      }}
      onConfirm={() => activation && cancel.run(activation)}
      confirm="Cancel activation"
      change={cancel}
      isDangerous
    >
      The scheduled activation will not take effect. The version in force does not change, and the history keeps both
      entries.
      <ApprovalNote request={cancel.waiting} />
    </ConfirmDialog>
  )
}
