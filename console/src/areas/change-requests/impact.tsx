/** The difference between versions and the impact analysis of a change request. */
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { isProblem } from '@probity/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { getTargetOrigin, getVersionChange } from '#console/ui/change-request/describe-change.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import {
  findDefinition,
  getActiveVersion,
  inForceQuery,
  toOperationId,
  type VersionedDefinition,
  type VersionedKind,
} from '#console/ui/decision/definition-kind.ts'
import { ImpactView } from '#console/ui/decision/impact-view.tsx'
import { DefinitionDifference } from '#console/ui/definition/difference-page.tsx'
import { usePin } from '#console/ui/definition/pins.ts'
import { DiffEntry } from '#console/ui/diff-entry.tsx'
import { DifferenceCounts } from '#console/ui/difference-counts.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { formatVersion, isSameVersion, type Origin, type OwnedVersion, toDiffParams } from '#console/ui/origin.ts'
import { isPinned } from '#console/ui/pin.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { datasetQuery, differenceQuery, getActiveListVersion, typeQuery } from '#console/ui/registry-queries.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { FirstEntries } from './first-entries.tsx'
import { Rerate } from './rerate.tsx'

type ChangeRequest = Schemas['ChangeRequest']
type Run = Schemas['ImpactRun']

/** Requests that put another version in force. */
const MEASURABLE_OPERATIONS = ['activation', 'overlay', 'rollback']

/** Source contracts have a difference with its effect on stored payloads, and no effect on past decisions. */
export const hasDifference = (request: ChangeRequest): boolean =>
  hasImpact(request) || (MEASURABLE_OPERATIONS.includes(request.action) && findDefinition(request.params) !== null)

export const hasImpact = ({ action, params }: ChangeRequest): boolean =>
  MEASURABLE_OPERATIONS.includes(action) &&
  ['list_key', 'matrix_key', 'rule_key', 'plugin_key'].some((name) => name in params)

/** The version that approval puts in force, if the request names one. */
function getTargetVersion({ body }: ChangeRequest): number | null {
  const { version, to_version } = (body ?? {}) as { version?: number; to_version?: number }
  return version ?? to_version ?? null
}

interface VersionDifferenceProps {
  readonly request: ChangeRequest
  /** What it is based on has changed since. */
  readonly isVoid: boolean
}

/** While a request can be approved, it is compared with what is in force; afterwards with what was in force then. */
export function VersionDifference({ request, isVoid }: VersionDifferenceProps) {
  return request.state === 'open' && !isVoid ? (
    <PendingDifference request={request} />
  ) : (
    <StoredDifference request={request} />
  )
}

function StoredDifference({ request }: { readonly request: ChangeRequest }) {
  const change = getVersionChange(request)
  if (change === null) return null
  const { from, to } = change
  const definition = findDefinition(request.params)
  const then = request.state === 'approved' ? 'until the approval' : 'when it was requested'
  return (
    <Section title="Difference">
      {from === null ? (
        <Stack gap="xs">
          <Text size="sm">
            No version of this tenant was in force {then}: version {to.version}{' '}
            {request.state === 'approved' ? 'was' : 'would have been'} the first.
          </Text>
          {!definition && <FirstEntries list_key={String(request.params['list_key'] ?? '')} of={to} />}
        </Stack>
      ) : (
        <Stack gap="xs">
          <Text size="sm">
            From {formatVersion(from, to)}, in force {then}, to {formatVersion(to, from)}:
          </Text>
          <Suspense fallback={<ListSkeleton />}>
            {definition ? (
              <DefinitionDifference kind={definition.kind} definition_key={definition.key} from={from} to={to} />
            ) : (
              <ListDifference list_key={String(request.params['list_key'] ?? '')} from={from} to={to} />
            )}
          </Suspense>
        </Stack>
      )}
    </Section>
  )
}

function PendingDifference({ request }: { readonly request: ChangeRequest }) {
  const to = getTargetVersion(request)
  const definition = findDefinition(request.params)
  // Removing a pin names no version: the version of the operator applies.
  const isUnpin = definition !== null && request.operation === toOperationId(definition.kind, 'unpin')
  if (to === null && !isUnpin) return null
  return (
    <Section title="Difference">
      <Suspense fallback={<ListSkeleton />}>
        {definition ? (
          <DefinitionImpact
            kind={definition.kind}
            definition_key={definition.key}
            to={to}
            origin={getTargetOrigin(request)}
          />
        ) : (
          to !== null && (
            <ListImpact
              list_key={String(request.params['list_key'] ?? '')}
              to={{ version: to, origin: getTargetOrigin(request) }}
            />
          )
        )}
      </Suspense>
    </Section>
  )
}

interface DefinitionImpactProps {
  readonly kind: VersionedKind
  readonly definition_key: string
  /** Null: the version the operator has in force. */
  readonly to: number | null
  /** The owner of the version. */
  readonly origin: Origin
}

/** Queried by key alone, because the version in force may belong to the other owner. */
function DefinitionImpact(props: DefinitionImpactProps) {
  const { data: of } = useQuery({ ...inForceQuery(props.kind, props.definition_key), throwOnError: false })
  return of ? <BetweenVersions {...props} of={of} /> : null
}

function BetweenVersions(
  props: DefinitionImpactProps & { readonly of: Pick<VersionedDefinition, 'active' | 'origin'> },
) {
  const { kind, definition_key, of, origin, to: named } = props
  const { followed } = usePin(kind, definition_key, of)
  const from = getActiveVersion(of)
  const number = named ?? followed
  if (number === undefined) return isPinned(of) ? null : <Text size="sm">This tenant follows the operator.</Text>
  if (number === null) return <Text size="sm">The operator has no version in force.</Text>
  const to = { version: number, origin }
  if (from === null) return <Text size="sm">No version is in force yet: version {number} would be the first.</Text>
  if (isSameVersion(from, to)) return <Text size="sm">Version {number} is in force.</Text>
  return (
    <Stack gap="xs">
      <Text size="sm">
        From {formatVersion(from, to)}, in force now, to {formatVersion(to, from)}:
      </Text>
      <DefinitionDifference kind={kind} definition_key={definition_key} from={from} to={to} />
    </Stack>
  )
}

function ListImpact({ list_key, to }: { readonly list_key: string; readonly to: OwnedVersion }) {
  const { data: dataset } = useQuery({ ...datasetQuery(list_key), throwOnError: false })
  if (!dataset) return null
  const from = getActiveListVersion(dataset)
  if (from === null)
    return (
      <Stack gap="xs">
        <Text size="sm">No version is in force yet: version {to.version} would be the first.</Text>
        <FirstEntries list_key={list_key} of={to} />
      </Stack>
    )
  if (isSameVersion(from, to)) return <Text size="sm">Version {to.version} is in force.</Text>
  return <ListDifference list_key={list_key} from={from} to={to} />
}

interface ListDifferenceProps {
  readonly list_key: string
  readonly from: OwnedVersion
  readonly to: OwnedVersion
}

/** The first entries with their fields before and after; all of them are on a page of their own. */
function ListDifference({ list_key, from, to }: ListDifferenceProps) {
  const { data } = useQuery({ ...differenceQuery(list_key, from, to), throwOnError: false })
  const { data: dataset } = useQuery({ ...datasetQuery(list_key), throwOnError: false })
  const { data: type } = useQuery({
    ...typeQuery(dataset?.type_key ?? ''),
    enabled: dataset !== undefined,
    throwOnError: false,
  })
  return (
    <Stack gap="sm">
      <Group gap="sm">
        {data?.summary && <DifferenceCounts of={data.summary} />}
        <SearchLink to={`/datasets/${list_key}/diff`} search={toDiffParams(from, to)} size="sm">
          All changes from {formatVersion(from, to)} to {formatVersion(to, from)}
        </SearchLink>
      </Group>
      {type && data?.items.map((item) => <DiffEntry key={item.key} item={item} type={type} />)}
    </Stack>
  )
}

const isOngoing = (run: Run): boolean => run.state === 'queued' || run.state === 'running'

/** Null if there is no analysis yet. */
const impactQuery = (cr_id: string) =>
  queryOptions({
    queryKey: ['change-requests', 'impact', cr_id],
    queryFn: async ({ signal }): Promise<Run | null> => {
      try {
        return await probity.GET('/api/change-requests/{cr_id}/impact', { params: { path: { cr_id } }, signal })
      } catch (error) {
        if (isProblem(error) && error.code === 'not_found') return null
        throw error
      }
    },
    refetchInterval: ({ state }) => (state.data && isOngoing(state.data) ? 1500 : false),
    throwOnError: false,
  })

export function Impact({ request, isVoid }: VersionDifferenceProps) {
  const may = usePermission()
  const isPending = request.state === 'open' && !isVoid
  const { cr_id } = request
  const { data: run } = useQuery({
    ...impactQuery(cr_id),
    enabled: may('getChangeRequestImpact') && request.impact_run_id !== null,
  })
  const start = useApiMutation(
    () => probity.POST('/api/change-requests/{cr_id}/impact', { params: { path: { cr_id } }, body: {} }),
    { invalidates: ['change-requests'], successMessage: 'Impact analysis started' },
  )
  return (
    <Section
      title="Impact analysis"
      actions={
        isPending &&
        may('startChangeRequestImpact') && (
          <Button
            size="xs"
            variant={run ? 'default' : 'filled'}
            loading={start.isRunning || (run != null && isOngoing(run))}
            onClick={() => start.run(undefined)}
          >
            {run ? 'Run again' : 'Run impact analysis'}
          </Button>
        )
      }
    >
      <ProblemNote problem={start.problem} />
      {request.require_impact && isPending && (
        <Text size="sm" mb="xs">
          Approval requires a current impact analysis.
        </Text>
      )}
      {run ? (
        <Stack gap="md">
          {run.cr_id === null && (
            <Text size="sm">
              Measured <DateTime at={run.finished_at ?? run.created_at} /> by <Principal of={run.created_by} />, before
              the request.
            </Text>
          )}
          <Rerate request={request} run={run} />
          <ImpactView run={run} />
        </Stack>
      ) : (
        <Text size="sm" c="dimmed">
          {isPending
            ? 'Not run yet. It repeats the latest decision about each subject with this change, without storing anything.'
            : request.state === 'open'
              ? 'It was not run.'
              : 'It was not run before this request was decided.'}
        </Text>
      )}
    </Section>
  )
}
