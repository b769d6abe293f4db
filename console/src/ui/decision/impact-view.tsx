/** The result of an impact analysis: changed decisions, migration of results, factors, segments and samples. */
import { Alert, Button, Group, Progress, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { DateTime } from '../date-time.tsx'
import { formatCount, toWords } from '../format.ts'
import { Icon } from '../icons.tsx'
import { PageLink } from '../link.tsx'
import { PlainTable } from '../plain-table.tsx'
import { NamedText } from './definition-name.tsx'
import { HeatMap } from './heat-map.tsx'
import { KnownOutcomes } from './known-outcomes.tsx'
import { BandMark } from './outcome.tsx'

type Run = Schemas['ImpactRun']
type Result = NonNullable<Run['result']>
type Sample = Result['samples'][number]
type Move = Pick<Result['transitions'][number], 'from' | 'to'>

/** Which of the listed subjects are shown, and how many there are in all. */
interface Selection {
  readonly title: string
  readonly total: number
  readonly includes: (sample: Sample) => boolean
  /** The move it shows, if it is one. */
  readonly move?: Move
}

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
  const [opened, setOpened] = useState<Selection | null>(null)
  const toggle = (chosen: Selection) => setOpened(opened?.title === chosen.title ? null : chosen)
  /** Only what has rows can be opened. */
  const open = (chosen: Selection) =>
    result.samples.some(chosen.includes)
      ? { onOpen: () => toggle(chosen), isOpened: opened?.title === chosen.title }
      : {}
  const share = result.decisions === 0 ? 0 : (100 * result.flips) / result.decisions
  return (
    <Stack gap="md">
      {run.no_impact && (
        <Alert color="gray" title="Nothing would change" role="status">
          <Text size="sm">
            <NamedText text={run.no_impact.detail} definitions={result.definitions} />
          </Text>
        </Alert>
      )}
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
        <Figure
          name="changed decisions"
          value={result.flips}
          note={`${share.toFixed(1)} %`}
          isLoud
          {...open({ title: 'Changed decisions', total: result.flips, includes: isFlip })}
        />
        <Figure
          name="changed scores"
          value={result.score_moves}
          {...open({ title: 'Changed scores', total: result.score_moves, includes: isScoreMove })}
        />
        <Figure
          name="no longer decidable"
          value={result.refusals_added}
          isLoud
          {...open({ title: 'No longer decidable', total: result.refusals_added, includes: isNewRefusal })}
        />
        <Figure name="decisions analysed" value={result.decisions} />
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        {formatCount(result.population.taken, 'subject')} of {result.population.subjects.toLocaleString('en')} with a
        decision since <DateTime at={run.from_at} />
        {!result.population.complete && `, sampled with seed ${result.population.seed}`}.
        {result.unusable > 0 && ` ${formatCount(result.unusable, 'stored decision')} could not be used.`} Analysed{' '}
        <DateTime at={run.finished_at ?? run.created_at} />. Before: decided again with the policy of today, without
        overrides, so the numbers may differ from those of the portfolio.
      </Text>
      {result.transitions.length > 0 && (
        <HeatMap
          label="Migration of results"
          moves={result.transitions.map(({ from, to, decisions }) => ({ from, to, count: decisions }))}
          nothing={{ from: 'no decision', to: 'no decision' }}
          onOpen={(move) => toggle(selectMove(result, move))}
          canOpen={(move) => result.samples.some(selectMove(result, move).includes)}
          opened={opened?.move ?? null}
        />
      )}
      <Affected result={result} selection={opened} onClear={() => setOpened(null)} />
      <KnownOutcomes result={result} />
      {result.factors.length > 0 && <FactorChanges factors={result.factors} definitions={result.definitions} />}
      {result.segments.some(({ flips }) => flips > 0) && <Segments segments={result.segments} open={open} />}
    </Stack>
  )
}

const isFlip = (sample: Sample): boolean =>
  isChanged(sample) && sample.before.result !== null && sample.after.result !== null
const isScoreMove = ({ before, after }: Sample): boolean => before.score_bps !== after.score_bps
const isNewRefusal = ({ before, after }: Sample): boolean => before.result !== null && after.result === null

const selectMove = (result: Result, move: Move): Selection => {
  const total = countMove(result, move)
  return {
    title: `From ${move.from ?? 'no decision'} to ${move.to ?? 'no decision'}: ${formatCount(total, 'decision')}`,
    total,
    includes: ({ before, after }) => before.result === move.from && after.result === move.to,
    move,
  }
}

interface Opening {
  /** Shows the rows that were counted. */
  readonly onOpen?: () => void
  readonly isOpened?: boolean
}

interface FigureProps extends Opening {
  readonly name: string
  readonly value: number
  readonly note?: string
  readonly isLoud?: boolean
}

/** A number that opens the rows it counts, or is plain where there are none to show. */
function CountButton({ value, name, onOpen, isOpened }: Opening & { readonly value: number; readonly name: string }) {
  const text = value.toLocaleString('en')
  if (!onOpen || value === 0) return text
  return (
    <button
      type="button"
      className="count-open"
      aria-pressed={isOpened ?? false}
      aria-label={`${text} ${name}, show them`}
      onClick={onOpen}
    >
      {text}
    </button>
  )
}

export function Figure({ name, value, note, isLoud = false, ...opening }: FigureProps) {
  return (
    <div>
      <Text size="xl" fw={700} lh={1.1} className="number" {...(isLoud && value > 0 && { c: 'var(--removed)' })}>
        <CountButton value={value} name={name} {...opening} />
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

function FactorChanges({ factors, definitions }: Pick<Result, 'factors' | 'definitions'>) {
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
            {factor}{' '}
            <span className="quiet">
              <NamedText text={key} definitions={definitions} />
            </span>
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

interface SegmentsProps {
  readonly segments: Result['segments']
  readonly open: (selection: Selection) => Opening
}

function Segments({ segments, open }: SegmentsProps) {
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
          <Table.Td>
            <CountButton
              value={flips}
              name={`changed decisions of ${segment ?? 'no segment'}`}
              {...open({
                title: `Changed decisions of ${segment ?? 'no segment'}`,
                total: flips,
                includes: (sample) => sample.segment === segment && isFlip(sample),
              })}
            />
          </Table.Td>
        </Table.Tr>
      ))}
    </PlainTable>
  )
}

interface AffectedProps {
  readonly result: Result
  /** The number that was opened above; null: everybody who is listed. */
  readonly selection: Selection | null
  readonly onClear: () => void
}

const isChanged = ({ before, after }: Sample): boolean => before.result !== after.result

/** The subjects that a change touches: those whose result changes first, then those whose score moves. */
function Affected({ result, selection, onClear }: AffectedProps) {
  const [isAll, setAll] = useState(false)
  const found = selection === null ? result.samples : result.samples.filter(selection.includes)
  const total = selection?.total ?? countTouched(result)
  if (total === 0 && found.length === 0) return null
  const shown = isAll ? found : found.slice(0, SHORT_LIST)
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {selection?.title ?? 'Subjects affected'}
        </Text>
        {selection !== null && (
          <Button size="compact-xs" variant="default" onClick={onClear}>
            Show all affected
          </Button>
        )}
      </Group>
      {found.length > 0 && <AffectedTable samples={shown} />}
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
      head={[{ name: 'Subject' }, { name: 'Before' }, { name: 'After' }, { name: 'Because of', from: 'sm' }]}
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
          <Table.Td visibleFrom="sm">{describeCause(sample)}</Table.Td>
        </Table.Tr>
      ))}
    </PlainTable>
  )
}

/** Without a moved factor and with the same score, only the limits of the bands can have changed the result. */
function describeCause(sample: Sample): string {
  const { factors, refusals, before, after } = sample
  if (factors.length > 0) return factors.map(({ factor }) => toWords(factor)).join(', ')
  if (refusals.length > 0) return refusals.map(({ message }) => message).join(' ')
  if (!isChanged(sample) || before.score_bps === null) return '–'
  return before.score_bps === after.score_bps ? 'limits of the bands' : '–'
}

function SideMark({ of: { result, score_bps } }: { readonly of: Sample['before'] }) {
  return (
    <Group gap={6} wrap="nowrap">
      {result === null ? <span className="quiet">no decision</span> : <BandMark band={result} />}
      {score_bps !== null && <span className="quiet number">{score_bps.toLocaleString('en')}</span>}
    </Group>
  )
}
