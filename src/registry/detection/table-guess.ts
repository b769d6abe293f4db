/** Guesses how a table is written: its delimiter, and which row names the columns. */
import { SourceFault } from '../adapter.ts'
import { readCsv } from '../formats/csv.ts'

export interface TableRow {
  readonly cells: readonly string[]
  /** Its line in the text or its row in the sheet, from 1. */
  readonly line: number
}

export interface TableGuess {
  /** Null for a sheet of a workbook. */
  readonly delimiter: string | null
  /** The names of the columns, each once; '1', '2', … when no row names them. */
  readonly header: readonly string[]
  readonly has_header: boolean
  /** Why the names cannot be used: then the columns are read by their position. */
  readonly name_fault: string | null
  /** The row of names has the same shape as the rows below, so that it may be an entry. */
  readonly is_doubtful: boolean
  /** The row of names. */
  readonly header_row: TableRow | null
  /** Line of the header, or of the first row where there is none. */
  readonly header_line: number
  readonly rows: readonly TableRow[]
}

export interface GuessedText {
  /** Null when the text has no rows. */
  readonly table: TableGuess | null
  /** Why the text could not be read to its end. */
  readonly fault: string | null
}

export const delimiterNames: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
  '@': '@ signs',
}
/** Rows that are kept for a guess. */
export const MAX_ROWS = 200
const MAX_PREAMBLE_ROWS = 20
/** At least this share of rows has as many columns as most rows. */
const MIN_REGULAR_SHARE = 0.6
/** The header fills at least this share of the columns; a title above it fills fewer. */
const MIN_HEADER_SHARE = 0.6

/** The table that most rows agree on. */
export async function guessTable(text: string): Promise<GuessedText> {
  let best: { score: number; delimiter: string; rows: TableRow[]; fault: string | null } | null = null
  for (const delimiter of Object.keys(delimiterNames)) {
    const { rows, fault } = await parseRows(text, delimiter)
    const width = findCommonWidth(rows)
    const regular = rows.filter(({ cells }) => cells.length === width).length
    if (width < 2 || regular < rows.length * MIN_REGULAR_SHARE) continue
    const score = regular * (width - 1)
    if (best === null || score > best.score) best = { score, delimiter, rows, fault }
  }
  if (best) return { table: readHeader(best.rows, best.delimiter), fault: best.fault }
  const { rows, fault } = await parseRows(text, ',')
  return { table: rows.length === 0 ? null : readHeader(rows, ','), fault }
}

interface ParsedRows {
  readonly rows: TableRow[]
  readonly fault: string | null
}

async function parseRows(text: string, delimiter: string): Promise<ParsedRows> {
  const rows: TableRow[] = []
  let fault: string | null = null
  try {
    for await (const records of readCsv(toPieces(text), { delimiter })) {
      for (const { fields, line } of records) rows.push({ cells: fields.map((cell) => cell.trim()), line })
      if (rows.length >= MAX_ROWS) break
    }
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
    // What was read before the fault is enough for a guess.
    fault = error.message
  }
  return { rows: rows.slice(0, MAX_ROWS), fault }
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
  const has_header = found !== undefined && isHeader(names)
  const entries = rows.slice(has_header ? at + 1 : at)
  return {
    delimiter,
    has_header,
    header: has_header ? toUniqueNames(names) : numberColumns(width),
    name_fault: has_header ? findNameFault(names) : null,
    is_doubtful: has_header && looksLikeEntry(names, entries),
    header_row: has_header ? found : null,
    header_line: found?.line ?? 1,
    rows: entries,
  }
}

/** The same table, its row of names read as an entry. */
export function withoutHeader(table: TableGuess): TableGuess {
  if (table.header_row === null) return table
  const rows = [table.header_row, ...table.rows]
  const width = Math.max(findCommonWidth(rows), table.header.length)
  return { ...table, has_header: false, header: numberColumns(width), name_fault: null, rows }
}

const numberColumns = (width: number): string[] => Array.from({ length: width }, (_, index) => String(index + 1))

const MAX_NAME_CHARS = 100

/** Repeated and some overlong names are names nevertheless. */
const isHeader = (names: readonly string[]): boolean =>
  names.length > 0 &&
  names.every(isName) &&
  names.filter((name) => name.length > MAX_NAME_CHARS).length * 2 < names.length &&
  (names.length === 1 || new Set(names).size > 1)

function findNameFault(names: readonly string[]): string | null {
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) < index))
  if (repeated.size > 0) return `Column names repeat: ${[...repeated].slice(0, 10).map(shorten).join(', ')}.`
  const long = names.find((name) => name.length > MAX_NAME_CHARS)
  return long === undefined ? null : `A column name is longer than ${MAX_NAME_CHARS} characters: ${shorten(long)}.`
}

const shorten = (name: string): string => (name.length > MAX_NAME_CHARS ? `${name.slice(0, 60)}…` : name)

const toUniqueNames = (names: readonly string[]): string[] =>
  names.map((name, index) => (names.indexOf(name) < index ? `${shorten(name)} (column ${index + 1})` : shorten(name)))

/** A year may name a column; other numbers and dates are values. */
const isName = (cell: string): boolean =>
  cell !== '' && (/^(?:19|20)\d\d$/.test(cell) || !/^[-+]?[\d.,]+%?$|^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/.test(cell))

const HEADER_WORD =
  /^(?:.*[_\s.-])?(?:id|ids|nr|no|number|code|key|name|title|label|country|value|type|kind|date|status|state|score|rating|band|level|text|note|comment|remarks?|description|category|currency|amount|iso\w*|since|until|from|to)$/i
/** At least this share of a column has the shape of its first cell. */
const SAME_SHAPE_SHARE = 0.7

/** Codes, words in capitals, capitalised and small words and digits are shapes; how long they are does not count. */
const toShape = (cell: string): string =>
  cell
    .replace(/\p{Lu}[\p{Ll}\p{M}]+/gu, 'W')
    .replace(/\p{Ll}+/gu, 'w')
    .replace(/\p{Lu}{2,}/gu, 'U')
    .replace(/\d+/g, '9')
    .replace(/[^\p{L}\d]+/gu, ' ')
    .replace(/(\S+)(?: \1)+/g, '$1')

/** Whether nothing distinguishes the row of names from the entries below: no usual name, and every cell has the shape of its column. */
function looksLikeEntry(names: readonly string[], entries: readonly TableRow[]): boolean {
  if (entries.length === 0 || names.some((name) => HEADER_WORD.test(name))) return false
  return names.every((name, index) => {
    const values = entries.flatMap(({ cells }) => (cells[index] ? [cells[index]] : []))
    const same = values.filter((value) => toShape(value) === toShape(name)).length
    // Names of people and firms have many shapes, and a single column has no other cell that distinguishes its first row.
    return names.length === 1 ? same > 0 : same >= values.length * SAME_SHAPE_SHARE
  })
}
