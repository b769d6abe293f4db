/** What the user should know about a table before choosing how to read it. */
import type { TableGuess, TableRow } from './table-guess.ts'

export const quoteRow = (row: TableRow | null): string =>
  (row?.cells ?? [])
    .filter((cell) => cell !== '')
    .slice(0, 5)
    .map((cell) => (cell.length > 40 ? `${cell.slice(0, 40)}…` : cell))
    .join(', ')

export function noteUnnamed(unnamed: readonly string[]): string[] {
  if (unnamed.length === 0) return []
  const shown = unnamed.slice(0, 10).join(', ')
  return [`Columns without a name are called by their position: ${shown}${unnamed.length > 10 ? ' …' : ''}.`]
}

export function noteSkipped({ skipped, has_header }: TableGuess): string[] {
  if (skipped.length === 0) return []
  const shown = skipped.slice(0, 3).map((row) => `row ${row.line} (${quoteRow(row)})`)
  const where = has_header ? 'the names of the columns' : 'the first entry'
  return [`Not read as entries, above ${where}: ${shown.join('; ')}${skipped.length > 3 ? ' …' : ''}.`]
}
