/** Counts as horizontal bars on one scale. A bar opens its rows. */
import './chart.css'
import '../decision/decision.css'
import { toWords } from '../format.ts'

export interface Bar {
  readonly name: string
  readonly count: number
  /** A colour of the theme. */
  readonly color: string
}

interface BarRowsProps {
  readonly label: string
  readonly bars: readonly Bar[]
  /** The count that fills a track, for charts side by side; the largest count by default. */
  readonly most?: number
  readonly opened?: string | null
  readonly onOpen?: (bar: Bar) => void
}

export function BarRows({ label, bars, most, opened = null, onOpen }: BarRowsProps) {
  const total = bars.reduce((sum, { count }) => sum + count, 0)
  const full = Math.max(1, most ?? Math.max(0, ...bars.map(({ count }) => count)))
  return (
    <ul className="bar-rows plain-list" aria-label={label}>
      {bars.map((bar) => {
        const content = <BarContent bar={bar} full={full} total={total} />
        return (
          <li key={bar.name}>
            {onOpen ? (
              <button type="button" aria-pressed={opened === bar.name} onClick={() => onOpen(bar)}>
                {content}
              </button>
            ) : (
              content
            )}
          </li>
        )
      })}
    </ul>
  )
}

interface BarContentProps {
  readonly bar: Bar
  readonly full: number
  readonly total: number
}

function BarContent({ bar: { name, count, color }, full, total }: BarContentProps) {
  return (
    <>
      <span>{toWords(name)}</span>
      <div className="bar-track" aria-hidden="true">
        <div
          className="bar-fill"
          style={{ width: `${(100 * count) / full}%`, background: `var(--mantine-color-${color}-6)` }}
        />
      </div>
      <span className="bar-count">
        {count.toLocaleString('en')} <span className="quiet">{((100 * count) / Math.max(1, total)).toFixed(1)} %</span>
      </span>
    </>
  )
}
