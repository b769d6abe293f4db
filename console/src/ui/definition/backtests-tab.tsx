/** Backtests of a version or the draft on past decisions. */
import { Button, Group, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '../api-mutation.ts'
import { StateBadge } from '../badges.tsx'
import { RelativeTime } from '../date-time.tsx'
import { type DecisionKind, toApiPath, toOperationId, toPathParams } from '../decision/definition-kind.ts'
import { ImpactView } from '../decision/impact-view.tsx'
import { ListTable, usePages } from '../list.tsx'
import { Principal } from '../principal.tsx'
import { ProblemNote } from '../problem-note.tsx'
import { Section } from '../section.tsx'
import type { DefinitionParts } from './definition-parts.ts'

type BacktestRun = Schemas['ImpactRunSummary']

const isOngoing = ({ state }: Pick<BacktestRun, 'state'>): boolean => state === 'queued' || state === 'running'

const runQuery = (kind: DecisionKind, key: string, run_id: string) =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'backtest', key, run_id],
    queryFn: ({ signal }) =>
      probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}/backtests/{run_id}'), {
        params: { path: { ...toPathParams(kind, key), run_id } },
        signal,
      }),
    refetchInterval: ({ state }) => (state.data && isOngoing(state.data) ? 1500 : false),
    enabled: run_id !== '',
  })

export function BacktestsTab({ kind, definition_key, of, version }: DefinitionParts) {
  const may = usePermission()
  const [chosen, setChosen] = useState<string | null>(null)
  const list = usePages<BacktestRun>(
    ['definitions', kind.family, 'backtests', definition_key],
    (cursor, signal) =>
      probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}/backtests'), {
        params: { path: toPathParams(kind, definition_key), query: { ...cursor, limit: 20 } },
        signal,
      }),
    { refetch_ms: 5000 },
  )
  const tried = of.draft === null ? (of.head_version > 0 ? of.head_version : version) : 'draft'
  const start = useApiMutation(
    () =>
      probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}/backtest'), {
        params: {
          path: { ...toPathParams(kind, definition_key), version: String(tried) },
          query: { origin: of.origin },
        },
        body: {},
      }),
    { invalidates: ['definitions'], successMessage: 'Backtest started', onDone: () => setChosen(null) },
  )
  const newest = list.data?.pages[0]?.items[0]?.run_id ?? null
  const run_id = chosen ?? newest ?? ''
  const { data: run } = useQuery(runQuery(kind, definition_key, run_id))
  return (
    <Stack gap="md">
      {tried !== null && may(toOperationId(kind, 'start', 'Backtest')) && (
        <Group gap="sm">
          <Button size="xs" loading={start.isRunning} onClick={() => start.run(undefined)}>
            {' '}
            Run a backtest of {tried === 'draft' ? 'the draft' : `version ${tried}`} on past decisions
          </Button>
          <Text size="sm" c="dimmed">
            Repeats the latest decision about each subject without storing anything.
          </Text>
        </Group>
      )}
      <ProblemNote problem={start.problem} />
      {run && (
        <Section title="Effect on past decisions">
          <ImpactView run={run} />
        </Section>
      )}
      <ListTable<BacktestRun>
        label="Backtests"
        list={list}
        empty={{
          title: 'No backtests yet',
          about: 'A backtest repeats past decisions with a version or the draft, and shows which results would change.',
        }}
        head={[{ name: 'Version' }, { name: 'State' }, { name: 'When' }, { name: 'By', from: 'sm' }]}
        row={(one) => (
          <Table.Tr key={one.run_id} aria-current={one.run_id === run_id}>
            <Table.Td>
              <Button size="compact-sm" variant="subtle" onClick={() => setChosen(one.run_id)}>
                {one.version === null ? 'Draft' : `Version ${one.version}`}
                {one.origin !== of.origin && ` (${one.origin})`}
              </Button>
            </Table.Td>
            <Table.Td>
              <StateBadge state={one.state} />
            </Table.Td>
            <Table.Td>
              <RelativeTime at={one.created_at} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Principal of={one.created_by} />
            </Table.Td>
          </Table.Tr>
        )}
      />
    </Stack>
  )
}
