/** The result of an impact analysis: changed decisions, migration of results, factors, segments and samples. */
import { Alert, Button, Group, Progress, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { DateTime } from '../date-time.tsx'
import { formatCount, toWords } from '../format.ts'
import { Icon } from '../icons.tsx'
import { PageLink } from '../link.tsx'
import { PlainTable } from '../plain-table.tsx'
import { HeatMap } from './heat-map.tsx'
import { KnownOutcomes } from './known-outcomes.tsx'
import { BandMark } from './outcome.tsx'

type Run = Schemas['ImpactRun']
type Result = NonNullable<Run['result']>
type Sample = Result['samples'][number]
type Move = Pick<Result['transitions'][number], 'from' | 'to'>

/** Subjects shown before the list is opened. */
const SHORT_LIST = 10

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
  const [opened, setOpened] = useState<Move | null>(null)
  const toggle = (move: Move) => setOpened(opened?.from === move.from && opened.to === move.to ? null : move)
  const share = result.decisions === 0 ? 0 : (100 * result.flips) / result.decisions
  return (
    <Stack gap="md">
      {run.no_impact && (
        <Alert color="gray" title="Nothing would change" role="status">
          <Text size="sm">{run.no_impact.detail}</Text>
        </Alert>
      )}
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
          onOpen={toggle}
          opened={opened}
        />
      )}
      <Affected result={result} move={opened} onClear={() => setOpened(null)} />
      <KnownOutcomes result={result} />
      {result.factors.length > 0 && <FactorChanges factors={result.factors} />}
      {result.segments.some(({ flips }) => flips > 0) && <Segments segments={result.segments} />}
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
      empty={null}
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
      empty={null}
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

interface AffectedProps {
  readonly result: Result
  /** The move that was opened in the table above; null: everybody whose result changes. */
  readonly move: Move | null
  readonly onClear: () => void
}

const isChanged = ({ before, after }: Sample): boolean => before.result !== after.result

/** The subjects that a change touches: those whose result changes first, then those whose score moves. */
function Affected({ result, move, onClear }: AffectedProps) {
  const [isAll, setAll] = useState(false)
  const found = result.samples.filter(({ before, after }) =>
    move === null ? true : before.result === move.from && after.result === move.to,
  )
  const total = move === null ? countTouched(result) : countMove(result, move)
  if (total === 0 && found.length === 0) return null
  const shown = isAll ? found : found.slice(0, SHORT_LIST)
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {move === null
            ? 'Subjects affected'
            : `From ${move.from ?? 'no decision'} to ${move.to ?? 'no decision'}: ${formatCount(total, 'decision')}`}
        </Text>
        {move !== null && (
          <Button size="compact-xs" variant="default" onClick={onClear}>
            Show all affected
          </Button>
        )}
      </Group>
      {found.length === 0 ? (
        <Text size="sm" c="dimmed">
          These decisions stay as they are, so their subjects are not listed.
        </Text>
      ) : (
        <AffectedTable samples={shown} />
      )}
      <Group gap="xs">
        {found.length > shown.length && (
          <Button size="compact-xs" variant="default" onClick={() => setAll(true)}>
            Show {found.length - shown.length} more
          </Button>
        )}
        {total > found.length && found.length > 0 && (
          <Text size="xs" c="dimmed">
            The analysis lists {found.length.toLocaleString('en')} of {total.toLocaleString('en')}.
          </Text>
        )}
      </Group>
    </Stack>
  )
}

const countTouched = ({ flips, refusals_added, refusals_removed }: Result): number =>
  flips + refusals_added + refusals_removed

const countMove = ({ transitions }: Result, { from, to }: Move): number =>
  transitions.filter((one) => one.from === from && one.to === to).reduce((sum, { decisions }) => sum + decisions, 0)

function AffectedTable({ samples }: { readonly samples: readonly Sample[] }) {
  return (
    <PlainTable
      label="Subjects affected"
      empty={null}
      head={[{ name: 'Subject' }, { name: 'Now' }, { name: 'After' }, { name: 'Because of', from: 'sm' }]}
    >
      {samples.map((sample) => (
        <Table.Tr key={`${sample.subject_id} ${sample.key}`}>
          <Table.Td>
            <PageLink to={`/subjects/${sample.subject_id}`} size="sm">
              {sample.name ?? <span className="mono nowrap">{sample.subject_id.slice(-8)}</span>}
            </PageLink>
            {sample.external_id !== null && (
              <Text size="xs" c="dimmed">
                {sample.external_id}
              </Text>
            )}
          </Table.Td>
          <Table.Td>
            <SideMark of={sample.before} />
          </Table.Td>
          <Table.Td>
            <SideMark of={sample.after} />
            {!isChanged(sample) && (
              <Text size="xs" c="dimmed">
                score only
              </Text>
            )}
          </Table.Td>
          <Table.Td visibleFrom="sm">
            {sample.factors.map(({ factor }) => toWords(factor)).join(', ') ||
              sample.refusals.map(({ message }) => message).join(' ')}
          </Table.Td>
        </Table.Tr>
      ))}
    </PlainTable>
  )
}

function SideMark({ of: { result, score_bps } }: { readonly of: Sample['before'] }) {
  return (
    <Group gap={6} wrap="nowrap">
      {result === null ? <span className="quiet">no decision</span> : <BandMark band={result} />}
      {score_bps !== null && <span className="quiet number">{score_bps.toLocaleString('en')}</span>}
    </Group>
  )
}
