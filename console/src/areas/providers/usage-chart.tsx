/** Requests per day as stacked bars. The table below holds the sums. */
import './providers.css'
import type { Schemas } from '@probity/client'
import { ChartFrame } from '#console/ui/chart/chart-frame.tsx'
import { formatChartDay } from '#console/ui/date-format.ts'
import { formatCount } from '#console/ui/format.ts'
import { listDays, toScaleEnd } from './usage-days.ts'

export function UsageChart({ usage }: { readonly usage: Schemas['ProviderUsage'] }) {
  const bars = listDays(usage)
  const most = Math.max(1, ...bars.map(({ answered, other }) => answered + other))
  const end = toScaleEnd(most)
  const total = bars.reduce((sum, { answered, other }) => sum + answered + other, 0)
  const width = 1 / bars.length
  const named = bars.flatMap(({ day }, place) =>
    place % Math.max(1, Math.ceil(bars.length / 5)) === 0 ? [{ day, place }] : [],
  )
  return (
    <figure className="usage-chart">
      <ChartFrame
        title={`Requests per day: ${formatCount(total, 'request')} in ${formatCount(bars.length, 'day')}, at most ${most} on one day.`}
        height={170}
        scale={[0, 0.5, 1]
          .filter((place) => Number.isInteger(place * end))
          .map((place) => ({ place, label: (place * end).toLocaleString('en') }))}
        axis={named.map(({ day, place }) => ({ place: (place + 0.5) * width, label: formatChartDay(day) }))}
        names={{ scale: 'Requests', axis: 'Day (UTC)' }}
      >
        {bars.map(({ day, answered, other }, place) => (
          <g key={day}>
            <rect
              className="usage-answered"
              x={(place + 0.15) * width}
              width={0.7 * width}
              y={0}
              height={answered / end}
            />
            <rect
              className="usage-other"
              x={(place + 0.15) * width}
              width={0.7 * width}
              y={answered / end}
              height={other / end}
            />
          </g>
        ))}
      </ChartFrame>
      <figcaption className="usage-legend">
        <span className="usage-key usage-answered" aria-hidden="true" /> answered
        <span className="usage-key usage-other" aria-hidden="true" /> not answered
      </figcaption>
    </figure>
  )
}
