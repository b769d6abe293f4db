/** Turns measurements into the table that is printed and kept: figures, and ratios with what they aim at. Judges, never fails. */
import { median } from './median.ts'

export interface Round {
  readonly per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly cpu_us: number
  readonly postgres_cpu_us: number
}

export interface MeasuredRow {
  readonly label: string
  /** Empty: could not be measured, for the reason in `note`. */
  readonly rounds: readonly Round[]
  readonly note?: string
}

export interface Ratio {
  readonly label: string
  /** Of pairs of neighbouring slices, so that what disturbs both disturbs neither. Empty: could not be measured. */
  readonly slices: readonly number[]
  readonly aim?: number
  readonly floor?: number
}

const renderLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [renderLine(head), renderLine(head.map((_, n) => (n === 0 ? '---' : '---:'))), ...rows.map(renderLine)].join('\n')

const formatInteger = (value: number): string => Math.round(value).toLocaleString('en')

export function renderFigures(rows: readonly MeasuredRow[]): string {
  return table(
    ['row', 'requests/s', 'lowest–highest', 'p50 ms', 'p99 ms', 'server CPU µs/request', 'PostgreSQL CPU µs/request'],
    rows.map(({ label, rounds, note }) => {
      if (rounds.length === 0) return [label, `not measured: ${note ?? 'left out'}`, '', '', '', '', '']
      const of = (pick: (round: Round) => number) => median(rounds.map(pick))
      const rates = rounds.map((round) => round.per_second)
      return [
        label,
        formatInteger(of((round) => round.per_second)),
        `${formatInteger(Math.min(...rates))}–${formatInteger(Math.max(...rates))}`,
        of((round) => round.p50_ms).toFixed(2),
        of((round) => round.p99_ms).toFixed(2),
        formatInteger(of((round) => round.cpu_us)),
        formatInteger(of((round) => round.postgres_cpu_us)),
      ]
    }),
  )
}

function verdict(value: number, { aim, floor }: Ratio): string {
  if (aim === undefined || floor === undefined) return '–'
  if (value >= aim) return 'aim met'
  return value >= floor ? 'floor met' : 'below the floor'
}

export function renderRatios(wanted: readonly Ratio[]): string {
  return table(
    ['ratio', 'measured', 'middle half', 'aim', 'floor', ''],
    wanted.map((ratio) => {
      const { label, slices, aim, floor } = ratio
      const limits = [String(aim ?? '–'), String(floor ?? '–')]
      if (slices.length === 0) return [label, 'not measured', '', ...limits, '–']
      const sorted = slices.toSorted((a, b) => a - b)
      const at = (share: number) => (sorted[Math.floor(share * sorted.length)] as number).toFixed(2)
      const value = median(slices)
      return [label, value.toFixed(2), `${at(0.25)}–${at(0.75)}`, ...limits, verdict(value, ratio)]
    }),
  )
}

export const renderTable = (head: readonly string[], rows: readonly (readonly string[])[]): string => table(head, rows)
