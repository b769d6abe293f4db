/** Guesses how a table is written: its delimiter, and which row names the columns. */
import { readCsv } from '../formats/csv.ts'

export interface TableRow {
  readonly cells: readonly string[]
  /** Its line in the text or its row in the sheet, from 1. */
  readonly line: number
}

export interface TableGuess {
  /** Null for a sheet of a workbook. */
  readonly delimiter: string | null
  /** The names of the columns; '1', '2', … when no row names them. */
  readonly header: readonly string[]
  readonly has_header: boolean
  /** Line of the header, or of the first row where there is none. */
  readonly header_line: number
  readonly rows: readonly TableRow[]
}

export const delimiterNames: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
  '@': '@ signs',
}
const MAX_ROWS = 200
const MAX_PREAMBLE_ROWS = 20
/** At least this share of rows has as many columns as most rows. */
const MIN_REGULAR_SHARE = 0.6
/** The header fills at least this share of the columns; a title above it fills fewer. */
const MIN_HEADER_SHARE = 0.6

/** The table that most rows agree on; null when the text has no rows. */
export async function guessTable(text: string): Promise<TableGuess | null> {
  let best: { score: number; delimiter: string; rows: TableRow[] } | null = null
  for (const delimiter of Object.keys(delimiterNames)) {
    const rows = await parseRows(text, delimiter)
    const width = findCommonWidth(rows)
    const regular = rows.filter(({ cells }) => cells.length === width).length
    if (width < 2 || regular < rows.length * MIN_REGULAR_SHARE) continue
    const score = regular * (width - 1)
    if (best === null || score > best.score) best = { score, delimiter, rows }
  }
  if (best) return readHeader(best.rows, best.delimiter)
  const rows = await parseRows(text, ',')
  return rows.length === 0 ? null : readHeader(rows, ',')
}

async function parseRows(text: string, delimiter: string): Promise<TableRow[]> {
  const rows: TableRow[] = []
  try {
    for await (const records of readCsv(toPieces(text), { delimiter })) {
      for (const { fields, line } of records) rows.push({ cells: fields.map((cell) => cell.trim()), line })
      if (rows.length >= MAX_ROWS) break
    }
  } catch {
    // What was read before the fault is enough for a guess.
  }
  return rows.slice(0, MAX_ROWS)
}

async function* toPieces(text: string): AsyncGenerator<string> {
  const PIECE_CHARS = 4096
  for (let at = 0; at < text.length; at += PIECE_CHARS) yield text.slice(at, at + PIECE_CHARS)
}

/** The number of columns most rows have. */
function findCommonWidth(rows: readonly TableRow[]): number {
  const counts = new Map<number, number>()
  for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1)
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0] as [number, number])[0]
}

export function readHeader(rows: readonly TableRow[], delimiter: string | null): TableGuess {
  const width = Math.max(findCommonWidth(rows), 1)
  const countFilled = ({ cells }: TableRow) => cells.filter((cell) => cell !== '').length
  const isFull = (row: TableRow) => countFilled(row) >= Math.max(1, width * MIN_HEADER_SHARE)
  const at = Math.max(rows.slice(0, MAX_PREAMBLE_ROWS).findIndex(isFull), 0)
  const found = rows[at]
  const cells = found?.cells ?? []
  const names = cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1)
  const has_header = names.length > 0 && new Set(names).size === names.length && names.every(isName)
  return {
    delimiter,
    has_header,
    header: has_header ? names : Array.from({ length: width }, (_, index) => String(index + 1)),
    header_line: found?.line ?? 1,
    rows: rows.slice(has_header ? at + 1 : at),
  }
}

/** A year may name a column; other numbers, dates and long texts are values. */
const isName = (cell: string): boolean =>
  cell !== '' &&
  cell.length <= 100 &&
  (/^(?:19|20)\d\d$/.test(cell) || !/^[-+]?[\d.,]+%?$|^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/.test(cell))
