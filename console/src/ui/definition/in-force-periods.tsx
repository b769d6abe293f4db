/** The versions of a definition in force over time, as set by the operator and as pinned by this tenant. */
import { Button, SegmentedControl, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '../api-mutation.ts'
import { ApprovalNote } from '../approval-note.tsx'
import { formatDay } from '../date-format.ts'
import { useNow } from '../date-time.tsx'
import {
  timelineQuery,
  toApiPath,
  toOperationId,
  toPathParams,
  type VersionedDefinition,
  type VersionedKind,
} from '../decision/definition-kind.ts'
import { ConfirmDialog } from '../dialog.tsx'
import { ListSkeleton } from '../list.tsx'
import { isPinned } from '../pin.tsx'
import { Section } from '../section.tsx'
import { isInForce } from '../version-names.ts'

interface InForcePeriodsProps {
  readonly kind: VersionedKind
  readonly definition_key: string
  readonly of: Pick<VersionedDefinition, 'origin' | 'active'>
}
type Scope = 'own' | 'shared'

export function InForcePeriods({ kind, definition_key, of }: InForcePeriodsProps) {
  const isShared = of.origin === 'shared'
  const [chosen, setChosen] = useState<Scope | null>(null)
  const scope = chosen ?? (isShared && !isPinned(of) ? 'shared' : 'own')
  const { data } = useQuery(timelineQuery(kind, definition_key, scope))
  if (!isShared && data?.in_force.length === 0) return null
  return (
    <Section
      title="Versions in force over time"
      actions={
        isShared && (
          <SegmentedControl
            size="xs"
            aria-label="Activations shown"
            value={scope}
            onChange={(next) => setChosen(next as Scope)}
            data={[
              { value: 'shared', label: 'Operator' },
              { value: 'own', label: 'This tenant' },
            ]}
          />
        )
      }
    >
      {data === undefined ? (
        <ListSkeleton />
      ) : data.in_force.length === 0 ? (
        <Text size="sm">
          {scope === 'own' ? 'This tenant follows the operator: it has no pin.' : 'No version has been in force yet.'}
        </Text>
      ) : (
        <PeriodList
          kind={kind}
          definition_key={definition_key}
          spans={data.in_force}
          isOwn={scope === 'own'}
          none={isShared && scope === 'own' ? 'The operator’s' : 'none'}
        />
      )}
    </Section>
  )
}

interface Span {
  readonly version: number | null
  readonly from: string
  readonly until: string | null
  readonly activation_id: string
}

interface PeriodListProps extends Pick<InForcePeriodsProps, 'kind' | 'definition_key'> {
  readonly spans: readonly Span[]
  readonly isOwn: boolean
  /** Label of a period without a version. */
  readonly none: string
}

function PeriodList({ kind, definition_key, spans, isOwn, none }: PeriodListProps) {
  const now_ms = useNow()
  const may = usePermission()
  const [cancelled, setCancelled] = useState<Span | null>(null)
  const canCancel = isOwn && may(toOperationId(kind, 'delete', 'Activation'))
  return (
    <>
      <ol className="spans plain-list" aria-label="Periods, oldest first">
        {spans.map((span) => {
          const { version, from, until, activation_id } = span
          const isNow = isInForce(span, now_ms)
          const isLater = Date.parse(from) > now_ms
          return (
            <li className="span" key={`${activation_id} ${from}`} data-now={isNow} data-empty={version === null}>
              <Text size="sm" fw={650}>
                {version === null ? none : `Version ${version}`}
                {isNow && <span className="quiet"> now</span>}
                {isLater && <span className="quiet"> {version === null ? 'then' : 'scheduled'}</span>}
              </Text>
              {formatDay(from)} – {until === null ? 'open-ended' : formatDay(until)}
              {canCancel && isLater && version !== null && (
                <Button size="compact-xs" variant="default" display="block" mt={4} onClick={() => setCancelled(span)}>
                  Cancel activation<span className="sr-only">: version {version}</span>
                </Button>
              )}
            </li>
          )
        })}
      </ol>
      {cancelled && (
        <CancelActivation
          kind={kind}
          definition_key={definition_key}
          span={cancelled}
          onClose={() => setCancelled(null)}
        />
      )}
    </>
  )
}

interface CancelActivationProps extends Pick<InForcePeriodsProps, 'kind' | 'definition_key'> {
  readonly span: Span
  readonly onClose: () => void
}

function CancelActivation({ kind, definition_key, span, onClose }: CancelActivationProps) {
  const { version, activation_id } = span
  const cancel = useApiMutation(
    () =>
      probity.DELETE(toApiPath(kind, '/api/risk-matrices/{matrix_key}/activations/{activation_id}'), {
        params: { path: { ...toPathParams(kind, definition_key), activation_id } },
      }),
    { invalidates: ['definitions'], successMessage: 'Activation cancelled', onDone: onClose },
  )
  return (
    <ConfirmDialog
      title={`Cancel the activation of version ${version}?`}
      isOpen
      onClose={onClose}
      onConfirm={() => cancel.run(undefined)}
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
