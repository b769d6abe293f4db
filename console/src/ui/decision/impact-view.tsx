/** The result of an impact analysis: changed decisions, migration of results, factors, segments and samples. */
import { Alert, Progress, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { DateTime } from '../date-time.tsx'
import { formatCount } from '../format.ts'
import { Icon } from '../icons.tsx'
import { PageLink } from '../link.tsx'
import { PlainTable } from '../plain-table.tsx'
import { HeatMap } from './heat-map.tsx'
import { KnownOutcomes } from './known-outcomes.tsx'

type Run = Schemas['ImpactRun']
type Result = NonNullable<Run['result']>

const staleTexts = {
  candidate: 'The proposed version has changed since the analysis',
  in_force: 'The version in force has changed since the analysis',
} as const

export function ImpactView({ run }: { readonly run: Run }) {
  return (
    <Stack gap="md">
      {run.stale && (
        <Alert color="yellow" icon={<Icon name="warning" />} title="Out of date" role="status">
          <Text size="sm">{staleTexts[run.stale_because ?? 'in_force']}. Run the analysis again.</Text>
        </Alert>
      )}
      {run.result ? <ImpactResult result={run.result} run={run} /> : <ImpactProgress run={run} />}
    </Stack>
  )
}

function ImpactProgress({ run }: { readonly run: Run }) {
  if (run.state === 'failed' || run.state === 'cancelled') {
    const { title = 'The analysis did not finish', detail = '' } = (run.problem ?? {}) as {
      title?: string
      detail?: string
    }
    return (
      <Alert color="red" title={title} role="alert">
        <Text size="sm">{detail}</Text>
      </Alert>
    )
  }
  const { done, total } = run.progress
  return (
    <div role="status">
      <Text size="sm" mb={6}>
        Repeating past decisions{total !== null && `: ${done} of ${total}`}.
      </Text>
      <Progress value={total ? (100 * done) / total : 100} animated striped={total === null} aria-label="Progress" />
    </div>
  )
}

function ImpactResult({ result, run }: { readonly result: Result; readonly run: Run }) {
  const share = result.decisions === 0 ? 0 : (100 * result.flips) / result.decisions
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
        <Figure name="changed decisions" value={result.flips} note={`${share.toFixed(1)} %`} isLoud />
        <Figure name="changed scores" value={result.score_moves} />
        <Figure name="no longer decidable" value={result.refusals_added} isLoud />
        <Figure name="decisions analysed" value={result.decisions} />
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        {formatCount(result.population.taken, 'subject')} of {result.population.subjects.toLocaleString('en')} with a
        decision since <DateTime at={run.from_at} />
        {!result.population.complete && `, sampled with seed ${result.population.seed}`}.
        {result.unusable > 0 && ` ${formatCount(result.unusable, 'stored decision')} could not be used.`} Analysed{' '}
        <DateTime at={run.finished_at ?? run.created_at} />.
      </Text>
      {result.transitions.length > 0 && (
        <HeatMap
          label="Migration of results"
          moves={result.transitions.map(({ from, to, decisions }) => ({ from, to, count: decisions }))}
          nothing={{ from: 'no decision', to: 'no decision' }}
        />
      )}
      <KnownOutcomes result={result} />
      {result.factors.length > 0 && <FactorChanges factors={result.factors} />}
      {result.segments.some(({ flips }) => flips > 0) && <Segments segments={result.segments} />}
      {result.samples.length > 0 && <Samples samples={result.samples} />}
    </Stack>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: number
  readonly note?: string
  readonly isLoud?: boolean
}

export function Figure({ name, value, note, isLoud = false }: FigureProps) {
  return (
    <div>
      <Text size="xl" fw={700} lh={1.1} className="number" {...(isLoud && value > 0 && { c: 'var(--removed)' })}>
        {value.toLocaleString('en')}
        {note && (
          <Text span size="sm" fw={400} c="dimmed">
            {' '}
            {note}
          </Text>
        )}
      </Text>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
    </div>
  )
}

function FactorChanges({ factors }: { readonly factors: Result['factors'] }) {
  return (
    <PlainTable
      label="Changed factor scores"
      head={[
        { name: 'Factor' },
        { name: 'Changed' },
        { name: 'Raised', from: 'sm' },
        { name: 'Lowered', from: 'sm' },
        { name: 'In changed decisions' },
      ]}
    >
      {factors.slice(0, 20).map(({ key, factor, moved, raised, lowered, flipped }) => (
        <Table.Tr key={`${key} ${factor}`}>
          <Table.Td>
            {factor} <span className="quiet mono">{key}</span>
          </Table.Td>
          <Table.Td>{moved}</Table.Td>
          <Table.Td visibleFrom="sm">{raised}</Table.Td>
          <Table.Td visibleFrom="sm">{lowered}</Table.Td>
          <Table.Td>{flipped}</Table.Td>
        </Table.Tr>
      ))}
    </PlainTable>
  )
}

function Segments({ segments }: { readonly segments: Result['segments'] }) {
  return (
    <PlainTable
      label="By customer segment"
      head={[{ name: 'Segment' }, { name: 'Decisions' }, { name: 'Changed decisions' }]}
    >
      {segments.slice(0, 20).map(({ segment, decisions, flips }) => (
        <Table.Tr key={segment ?? ''}>
          <Table.Td>{segment ?? <span className="quiet">none</span>}</Table.Td>
          <Table.Td>{decisions}</Table.Td>
          <Table.Td>{flips}</Table.Td>
        </Table.Tr>
      ))}
    </PlainTable>
  )
}

function Samples({ samples }: { readonly samples: Result['samples'] }) {
  return (
    <PlainTable
      label="Examples"
      head={[{ name: 'Subject' }, { name: 'Before' }, { name: 'After' }, { name: 'Cause', from: 'sm' }]}
    >
      {samples.slice(0, 10).map(({ subject_id, key, before, after, factors, refusals }) => (
        <Table.Tr key={`${subject_id} ${key}`}>
          <Table.Td>
            <PageLink to={`/subjects/${subject_id}`} size="sm" className="mono">
              {subject_id.slice(-8)}
            </PageLink>
          </Table.Td>
          <Table.Td>
            {before.result ?? 'refused'} <span className="quiet number">{before.score_bps}</span>
          </Table.Td>
          <Table.Td>
            {after.result ?? 'refused'} <span className="quiet number">{after.score_bps}</span>
          </Table.Td>
          <Table.Td visibleFrom="sm">
            {factors.map(({ factor }) => factor).join(', ') || refusals.map(({ message }) => message).join(' ')}
          </Table.Td>
        </Table.Tr>
      ))}
    </PlainTable>
  )
}
