/** The number of items by result, as bars on one scale. A bar filters the items below. */
import type { Schemas } from '@probity/client'
import { type Bar, BarRows } from '#console/ui/chart/bar-rows.tsx'
import { bandColor } from '#console/ui/decision/outcome.tsx'

const known = ['low', 'medium', 'high', 'prohibited']

/** The results of a batch as bars, the lowest band first. */
export function toResultBars({ bands, hits, failed }: Schemas['BatchSummary']): Bar[] {
  const rank = (band: string) => (known.includes(band) ? known.indexOf(band) : known.length)
  const results = hits
    ? [
        { name: 'hit', count: hits.hit, color: 'red' },
        { name: 'no hit', count: hits.no_hit, color: 'teal' },
      ]
    : [...bands]
        .sort((a, b) => rank(a.band) - rank(b.band))
        .map(({ band, count }) => ({ name: band, count, color: bandColor(band) }))
  return [...results, ...(failed > 0 ? [{ name: 'failed', count: failed, color: 'gray' }] : [])]
}

/** Filters for the items that a bar counts; selecting the bar again clears them. */
export const toBarFilter = (name: string, opened: string | null) => {
  const isOpen = name === opened
  const isHit = name === 'hit' || name === 'no hit'
  const isBand = !isHit && name !== 'failed'
  return {
    previous: undefined,
    change: undefined,
    state: !isOpen && name === 'failed' ? 'failed' : undefined,
    hit: !isOpen && isHit ? name.replace(' ', '_') : undefined,
    band: !isOpen && isBand ? name : undefined,
  }
}

interface DistributionProps {
  readonly summary: Schemas['BatchSummary']
  /** The count that fills a track, where two batches stand side by side. */
  readonly most?: number
  readonly opened?: string | null
  readonly onOpen?: (bar: Bar) => void
}

export const Distribution = ({ summary, ...chart }: DistributionProps) => (
  <BarRows label="Items by result" bars={toResultBars(summary)} {...chart} />
)
