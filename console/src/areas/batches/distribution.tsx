/** The number of items by result, as bars with counts and shares. */
import type { Schemas } from '@probity/client'
import { bandColor } from '#console/ui/decision/outcome.tsx'
import { toWords } from '#console/ui/format.ts'

const known = ['low', 'medium', 'high', 'prohibited']

export function Distribution({ summary }: { readonly summary: Schemas['BatchSummary'] }) {
  const { bands, hits, failed } = summary
  const rank = (band: string) => (known.includes(band) ? known.indexOf(band) : known.length)
  const results = hits
    ? [
        { name: 'hit', count: hits.hit, color: 'red' },
        { name: 'no hit', count: hits.no_hit, color: 'teal' },
      ]
    : [...bands]
        .sort((a, b) => rank(a.band) - rank(b.band))
        .map(({ band, count }) => ({ name: band, count, color: bandColor(band) }))
  const all = [...results, ...(failed > 0 ? [{ name: 'failed', count: failed, color: 'gray' }] : [])]
  const total = all.reduce((sum, { count }) => sum + count, 0)
  const most = Math.max(1, ...all.map(({ count }) => count))
  return (
    <ul className="columns-chart plain-list" aria-label="Items by result">
      {all.map(({ name, count, color }) => (
        <li key={name}>
          <span>{toWords(name)}</span>
          <div className="bar-track" aria-hidden="true">
            <div
              className="bar-fill"
              style={{ width: `${(100 * count) / most}%`, background: `var(--mantine-color-${color}-6)` }}
            />
          </div>
          <span className="number">
            {count.toLocaleString('en')}{' '}
            <span className="quiet">{((100 * count) / Math.max(1, total)).toFixed(1)} %</span>
          </span>
        </li>
      ))}
    </ul>
  )
}
