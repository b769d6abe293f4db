/** Migration from one result to another as a table. Colour only repeats the numbers. */
import { ScrollRegion } from '../scroll-region.tsx'
import './decision.css'

interface Move {
  readonly from: string | null
  readonly to: string | null
  readonly count: number
}

interface HeatMapProps {
  readonly label: string
  readonly moves: readonly Move[]
  /** Known results in order; others follow. */
  readonly order?: readonly string[]
  readonly nothing: { readonly from: string; readonly to: string }
  /** Makes each count a button that opens its rows. */
  readonly onOpen?: (move: Pick<Move, 'from' | 'to'>) => void
  /** Whether a move has rows to open; every move has by default. */
  readonly canOpen?: (move: Pick<Move, 'from' | 'to'>) => boolean
  /** The move whose rows are shown. */
  readonly opened?: Pick<Move, 'from' | 'to'> | null
}

const knownResults = ['low', 'medium', 'high', 'prohibited', 'no hit', 'hit']

export function HeatMap({ label, moves, order = knownResults, nothing, onOpen, canOpen, opened }: HeatMapProps) {
  const results = [...new Set(moves.flatMap(({ from, to }) => [from, to]))]
  const rank = (result: string | null) =>
    result === null ? -1 : order.includes(result) ? order.indexOf(result) : order.length
  const sorted = results.sort((a, b) => rank(a) - rank(b) || String(a).localeCompare(String(b)))
  const froms = sorted.filter((result) => moves.some(({ from }) => from === result))
  const tos = sorted.filter((result) => moves.some(({ to }) => to === result))
  const most = Math.max(1, ...moves.map(({ count }) => count))
  const getCount = (from: string | null, to: string | null) =>
    moves.filter((move) => move.from === from && move.to === to).reduce((sum, { count }) => sum + count, 0)
  return (
    <ScrollRegion label={label}>
      <table className="heat" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">from ↓ to →</th>
            {tos.map((to) => (
              <th scope="col" key={String(to)}>
                {to ?? nothing.to}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {froms.map((from) => (
            <tr key={String(from)}>
              <th scope="row">{from ?? nothing.from}</th>
              {tos.map((to) => (
                <Cell
                  key={String(to)}
                  count={getCount(from, to)}
                  most={most}
                  direction={from === null ? 0 : to === null ? 1 : Math.sign(rank(to) - rank(from))}
                  name={`${from ?? nothing.from} to ${to ?? nothing.to}`}
                  isOpened={opened?.from === from && opened?.to === to}
                  {...(onOpen && (canOpen?.({ from, to }) ?? true) && { onOpen: () => onOpen({ from, to }) })}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}

const tints = { '-1': 'var(--severity-0)', '0': 'var(--heat-neutral)', '1': 'var(--severity-3)' } as const

interface CellProps {
  readonly count: number
  readonly most: number
  readonly direction: number
  readonly name: string
  readonly isOpened: boolean
  readonly onOpen?: () => void
}

function Cell({ count, most, direction, name, isOpened, onOpen }: CellProps) {
  if (count === 0) return <td className="quiet">·</td>
  const share = Math.round(12 + (38 * count) / most)
  const tint = tints[String(direction) as keyof typeof tints]
  return (
    <td className="heat-tinted" style={{ background: `color-mix(in srgb, ${tint} ${share}%, transparent)` }}>
      {onOpen ? (
        <button
          type="button"
          className="heat-open"
          aria-pressed={isOpened}
          aria-label={`${count.toLocaleString('en')} from ${name}, show them`}
          onClick={onOpen}
        >
          {count.toLocaleString('en')}
        </button>
      ) : (
        count.toLocaleString('en')
      )}
    </td>
  )
}
