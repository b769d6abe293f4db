/** Bands over time as stacked areas with a labelled axis of subjects and of dates, and the same figures as a table. */
import './home.css'
import '../../ui/decision/decision.css'
import { Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useCallback, useId, useRef, useState } from 'react'
import { formatUtcDay } from '#console/ui/date-format.ts'
import { getSeverity } from '#console/ui/decision/band-chart.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { buildAreas, pickDateTicks, pickTableDays, pickTicks } from './portfolio-scale.ts'

type Distribution = Schemas['RiskDistribution']

const HEIGHT = 234
const EDGE = { top: 24, right: 8, bottom: 26, left: 48 } as const
/** Space that the label of a date needs. */
const DATE_WIDTH = 90

/** The width of an element in pixels: texts of the chart keep their size whatever the width is. */
function useWidth() {
  const [width, setWidth] = useState(0)
  const observer = useRef<ResizeObserver | null>(null)
  const ref = useCallback((element: HTMLElement | null) => {
    observer.current?.disconnect()
    if (element === null) return
    setWidth(element.clientWidth)
    observer.current = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.current.observe(element)
  }, [])
  return { ref, width }
}

type Figures = Pick<Distribution, 'bands' | 'days' | 'matrix_key'>

export function PortfolioChart({ bands, days, matrix_key }: Figures) {
  const id = useId()
  const { ref, width } = useWidth()
  const [first, last] = [days[0], days.at(-1)]
  if (days.length < 2 || !first || !last) {
    return (
      <Text size="sm" c="dimmed" my="xs">
        The movement over time appears from the second day on.
      </Text>
    )
  }
  const most = Math.max(...days.map(({ subjects }) => subjects))
  const ticks = pickTicks(most)
  const top = ticks.at(-1) as number
  const inner = Math.max(0, width - EDGE.left - EDGE.right)
  const x = (place: number) => EDGE.left + (place / (days.length - 1)) * inner
  const y = (count: number) => HEIGHT - EDGE.bottom - (count / top) * (HEIGHT - EDGE.top - EDGE.bottom)
  const names = bands.map(({ band }) => band)
  const movement = bands
    .map(({ title, subjects, change }) => `${title} from ${subjects - change} to ${subjects}`)
    .join(', ')
  return (
    <figure className="portfolio-chart" ref={ref}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} role="img" aria-labelledby={id}>
          <title
            id={id}
          >{`Active subjects by band, ${formatUtcDay(first.on)} to ${formatUtcDay(last.on)}: ${movement}.`}</title>
          {buildAreas(days, names, { x, y }).map(({ band, path }, place) => (
            <path key={band} d={path} className={`area severity-${getSeverity(place, names.length)}`} />
          ))}
          <text x={0} y={11}>
            Subjects
          </text>
          {ticks.map((count) => (
            <g key={count}>
              <line className="grid" x1={EDGE.left} x2={width - EDGE.right} y1={y(count)} y2={y(count)} />
              <text x={EDGE.left - 6} y={y(count) + 4} textAnchor="end">
                {count.toLocaleString('en')}
              </text>
            </g>
          ))}
          {pickDateTicks(days.length, Math.floor(inner / DATE_WIDTH)).map((place, index, all) => (
            <g key={place}>
              <line
                className="tick"
                x1={x(place)}
                x2={x(place)}
                y1={HEIGHT - EDGE.bottom}
                y2={HEIGHT - EDGE.bottom + 4}
              />
              <text
                x={x(place)}
                y={HEIGHT - 8}
                textAnchor={index === 0 ? 'start' : index === all.length - 1 ? 'end' : 'middle'}
              >
                {formatUtcDay((days[place] as { on: string }).on)}
              </text>
            </g>
          ))}
        </svg>
      )}
      <figcaption>
        <DayTable bands={bands} days={days} matrix_key={matrix_key} />
      </figcaption>
    </figure>
  )
}

/** The figures of the chart as a table, also for screen readers. Each opens its subjects. */
function DayTable({ bands, days, matrix_key }: Figures) {
  return (
    <details>
      <summary>Subjects per day as a table</summary>
      <Table aria-label="Active subjects by band and day" tabularNums verticalSpacing={4} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Day</Table.Th>
            {bands.map(({ band, title }) => (
              <Table.Th key={band}>{title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {pickTableDays(days).map(({ on, bands: counts }) => (
            <Table.Tr key={on}>
              <Table.Td className="nowrap">{formatUtcDay(on)}</Table.Td>
              {bands.map(({ band }) => (
                <Table.Td key={band}>
                  <SearchLink
                    to="/subjects/bands"
                    search={{ band, on, ...(matrix_key !== null && { matrix_key }) }}
                    inherit
                  >
                    {(counts.find((count) => count.band === band)?.subjects ?? 0).toLocaleString('en')}
                  </SearchLink>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </details>
  )
}
