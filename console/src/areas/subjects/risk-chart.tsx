/**
 * The rating history as a chart: the score as a line, overrides as dashed lines. The table below holds the same
 * numbers.
 */
import '../../ui/decision/decision.css'
import { Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useId } from 'react'
import { formatCount } from '#console/ui/format.ts'

type Rating = Schemas['Rating']

const WIDTH = 1000
const HEIGHT = 170
const EDGE = 12
const LINES = [0, 2500, 5000, 7500, 10_000]

export function RiskChart({ ratings }: { readonly ratings: readonly Rating[] }) {
  const id = useId()
  const scored = [...ratings].reverse().filter((rating) => rating.score_bps !== null)
  if (scored.length < 2) return null
  const times = ratings.map(({ recorded_at }) => Date.parse(recorded_at))
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const x = (at: string) => EDGE + ((Date.parse(at) - first) / Math.max(1, last - first)) * (WIDTH - 2 * EDGE)
  const y = (bps: number) => HEIGHT - EDGE - (bps / 10_000) * (HEIGHT - 2 * EDGE)
  // A rating holds until the next one, so the line has steps.
  const steps = scored.map(({ recorded_at, score_bps }, place) =>
    place === 0 ? `M${x(recorded_at)} ${y(score_bps ?? 0)}` : `H${x(recorded_at)} V${y(score_bps ?? 0)}`,
  )
  const [from, to] = [scored[0]?.score_bps ?? 0, scored.at(-1)?.score_bps ?? 0]
  return (
    <figure className="band-chart">
      <svg
        className="risk-line"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-labelledby={id}
        preserveAspectRatio="none"
      >
        <title
          id={id}
        >{`Score over time: ${formatCount(scored.length, 'rating')}, from ${from} to ${to} of 10,000.`}</title>
        {LINES.map((bps) => (
          <line
            key={bps}
            x1={0}
            x2={WIDTH}
            y1={y(bps)}
            y2={y(bps)}
            stroke="var(--mantine-color-default-border)"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        <path
          d={steps.join(' ')}
          fill="none"
          stroke="var(--mantine-primary-color-filled)"
          strokeWidth={2.5}
          vectorEffect="non-scaling-stroke"
        />
        {ratings
          .filter(({ cause }) => cause === 'override')
          .map(({ rating_id, recorded_at }) => (
            <line
              key={rating_id}
              className="marker-other"
              x1={x(recorded_at)}
              x2={x(recorded_at)}
              y1={EDGE}
              y2={HEIGHT - EDGE}
            />
          ))}
      </svg>
      <Text size="xs" c="dimmed">
        Score from 0 (bottom) to 10,000; a dashed line marks an override.
      </Text>
    </figure>
  )
}
