/**
 * The rating history as a chart: the score as a line over the bands of the matrix, overrides as dashed lines. The table below holds
 * the same numbers.
 */
import { formatPoints } from '#console/ui/points.ts'
import '../../ui/decision/decision.css'
import { Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { ChartFrame } from '#console/ui/chart/chart-frame.tsx'
import { getTimeTicks } from '#console/ui/chart/time-ticks.ts'
import { BandLegend, getSeverity } from '#console/ui/decision/band-chart.tsx'
import { definitionQuery, getActiveVersion, matrixKind, textQuery } from '#console/ui/decision/definition-kind.ts'
import { parseDefinition } from '#console/ui/decision/definition-model.ts'
import { type Band, listContentQuery, parseBands } from '#console/ui/decision/list-entries.ts'
import { formatCount } from '#console/ui/format.ts'

type Rating = Schemas['Rating']

const MAX_BPS = 10_000
const SCALE = [0, 2500, 5000, 7500, MAX_BPS].map((bps) => ({ place: bps / MAX_BPS, label: bps.toLocaleString('en') }))

/** By the time that ratings hold for, which may lie before they were recorded. */
const sortByValidTime = (ratings: readonly Rating[]): Rating[] =>
  [...ratings].sort(
    (a, b) => Date.parse(a.valid_at) - Date.parse(b.valid_at) || Date.parse(a.recorded_at) - Date.parse(b.recorded_at),
  )

export function RiskChart({ ratings }: { readonly ratings: readonly Rating[] }) {
  const scored = sortByValidTime(ratings.filter(({ score_bps }) => score_bps !== null))
  const bands = useBands(scored.at(-1)?.matrix_key ?? null)
  if (scored.length < 2) return null
  const times = ratings.map(({ valid_at }) => Date.parse(valid_at))
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const x = (at_ms: number) => (at_ms - first) / Math.max(1, last - first)
  const atX = ({ valid_at }: Rating) => x(Date.parse(valid_at))
  // A rating holds until the next one, so the line has steps.
  const steps = scored.map((rating, place) => {
    const y = (rating.score_bps ?? 0) / MAX_BPS
    return place === 0 ? `M${atX(rating)} ${y}` : `H${atX(rating)} V${y}`
  })
  const [from, to] = [scored[0]?.score_bps ?? 0, scored.at(-1)?.score_bps ?? 0]
  const title = `Score over time: ${formatCount(scored.length, 'rating')}, from ${formatPoints(from)} to ${formatPoints(to)} of 10,000.`
  return (
    <figure className="band-chart">
      <ChartFrame
        title={title}
        height={190}
        scale={SCALE}
        axis={getTimeTicks(first, last).map(({ at_ms, label }) => ({ place: x(at_ms), label }))}
        names={{ scale: 'Score', axis: 'Date of the rating' }}
      >
        <BandStripes bands={bands} />
        <path className="chart-line" d={steps.join(' ')} vectorEffect="non-scaling-stroke" />
        {ratings
          .filter(({ cause }) => cause === 'override')
          .map((rating) => (
            <line
              key={rating.rating_id}
              className="chart-marker"
              x1={atX(rating)}
              x2={atX(rating)}
              y1={0}
              y2={1}
              vectorEffect="non-scaling-stroke"
            />
          ))}
      </ChartFrame>
      <BandLegend bands={bands} />
      <Text size="xs" c="dimmed">
        {bands.length > 0 && 'Bands as they are in force now. '}A dashed line marks an override.
      </Text>
    </figure>
  )
}

/** The bands in force of the matrix that rated the subject last. */
function useBands(matrix_key: string | null): readonly Band[] {
  const { data: matrix } = useQuery({
    ...definitionQuery(matrixKind, matrix_key ?? ''),
    enabled: matrix_key !== null,
    throwOnError: false,
  })
  const active = matrix ? getActiveVersion(matrix) : null
  const { data: text } = useQuery({
    ...textQuery(matrixKind, matrix_key ?? '', active?.version ?? 1, active?.origin ?? 'own'),
    enabled: active !== null,
    throwOnError: false,
  })
  const bands = text ? parseDefinition(text.definition).bands : undefined
  const { data: content } = useQuery({ ...listContentQuery(bands?.list_key ?? ''), enabled: bands !== undefined })
  return content && bands ? parseBands(content, bands) : []
}

function BandStripes({ bands }: { readonly bands: readonly Band[] }) {
  return bands.map(({ band, from_bps, to_bps }, place) => (
    <rect
      key={band}
      className={`chart-band severity-${getSeverity(place, bands.length)}`}
      x={0}
      width={1}
      y={from_bps / MAX_BPS}
      height={Math.max(0, Math.min(MAX_BPS, to_bps + 1) - from_bps) / MAX_BPS}
    />
  ))
}
