/** The scale from 0 to 10,000 with its bands and the position of a score, with a text alternative. */
import './decision.css'
import { useId } from 'react'
import { formatPoints } from '../points.ts'
import type { Band } from './list-entries.ts'

const WIDTH = 1000
const BAR = 34
const MAX_BPS = 10_000

interface BandChartProps {
  readonly bands: readonly Band[]
  readonly score_bps?: number | null
  /** Another score on the same scale, such as the previous one. */
  readonly other?: { readonly name: string; readonly score_bps: number }
}

/** Severity by position, because bands have arbitrary names. */
export const getSeverity = (place: number, count: number): number =>
  count <= 1 ? 0 : Math.min(3, Math.round((3 * place) / (count - 1)))

export function BandChart({ bands, score_bps, other }: BandChartProps) {
  const id = useId()
  const x = (bps: number) => (bps / MAX_BPS) * WIDTH
  const words = bands
    .map(({ band, from_bps, to_bps }) => `${band} from ${formatPoints(from_bps)} to ${formatPoints(to_bps)}`)
    .join(', ')
  const scoreText = score_bps === undefined || score_bps === null ? '' : ` The score is ${formatPoints(score_bps)}.`
  return (
    <figure className="band-chart">
      <svg
        className="bands"
        viewBox={`0 0 ${WIDTH} 74`}
        role="img"
        aria-labelledby={`${id}-title`}
        preserveAspectRatio="none"
      >
        <title id={`${id}-title`}>{`Bands in points: ${words}.${scoreText}`}</title>
        {bands.map(({ band, from_bps, to_bps }, place) => (
          <rect
            key={band}
            className={`severity-${getSeverity(place, bands.length)}`}
            x={x(from_bps)}
            y={14}
            width={Math.max(2, x(to_bps + 1) - x(from_bps) - 3)}
            height={BAR}
          />
        ))}
        {other && <line className="marker-other" x1={x(other.score_bps)} x2={x(other.score_bps)} y1={8} y2={54} />}
        {typeof score_bps === 'number' && (
          <line className="marker" x1={x(score_bps)} x2={x(score_bps)} y1={4} y2={58} />
        )}
      </svg>
      <BandLegend bands={bands} />
      {typeof score_bps === 'number' && (
        <figcaption>
          Score <b className="number">{formatPoints(score_bps)}</b> of 10,000
          {other && (
            <span className="quiet">
              , {other.name} {formatPoints(other.score_bps)} (dashed)
            </span>
          )}
        </figcaption>
      )}
    </figure>
  )
}

/** The bands in order, each with its colour and range. */
export function BandLegend({ bands }: { readonly bands: readonly Band[] }) {
  if (bands.length === 0) return null
  return (
    <ol className="band-legend plain-list" aria-label="Bands">
      {bands.map(({ band, from_bps, to_bps }, place) => (
        <li key={band}>
          <span className={`swatch severity-${getSeverity(place, bands.length)}`} aria-hidden="true" />
          <b>{band}</b>{' '}
          <span className="quiet number">
            {formatPoints(from_bps)}–{formatPoints(to_bps)}
          </span>
        </li>
      ))}
    </ol>
  )
}
