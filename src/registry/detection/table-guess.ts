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
  /** Names in `header` of columns that have another or none in the file. */
  readonly unnamed: ReadonlySet<string>
  /** The row of names may be an entry, so that both ways to read it are offered. */
  readonly is_doubtful: boolean
  /** Of the two ways the row of names is likelier one. */
  readonly is_likely_header: boolean
  /** The row of names. */
  readonly header_row: TableRow | null
  /** Line of the header, or of the first row where there is none. */
  readonly header_line: number
  /** Rows with text above the header or the first entry, which are no entries. */
  readonly skipped: readonly TableRow[]
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

interface Split extends ParsedRows {
  readonly delimiter: string
  /** Rows above the first one of the common width. */
  readonly above: number
  /** Every row has the common width. */
  readonly is_even: boolean
  readonly score: number
}

/** The table that most rows agree on. A character that is no delimiter does not split the header as it splits the rows below. */
export async function guessTable(text: string): Promise<GuessedText> {
  let best: Split | null = null
  for (const delimiter of Object.keys(delimiterNames)) {
    const { rows, fault } = await parseRows(text, delimiter)
    const width = findCommonWidth(rows)
    const regular = rows.filter(({ cells }) => cells.length === width).length
    if (width < 2 || regular < rows.length * MIN_REGULAR_SHARE) continue
    const above = rows.findIndex(({ cells }) => cells.length === width)
    const is_even = regular === rows.length
    const split = { delimiter, rows, fault, above, is_even, score: regular * (width - 1) }
    if (best === null || compareSplits(split, best) < 0) best = split
  }
  if (best) return { table: readHeader(best.rows, best.delimiter), fault: best.fault }
  const { rows, fault } = await parseRows(text, ',')
  return { table: rows.length === 0 ? null : readHeader(rows, ','), fault }
}

const compareSplits = (a: Split, b: Split): number =>
  a.above - b.above || Number(b.is_even) - Number(a.is_even) || b.score - a.score

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
  const at = findHeaderRow(rows, width, delimiter !== null)
  const found = rows[at]
  const below = rows.slice(at + 1)
  const { names, is_cut } = found ? readNames(found, below, delimiter !== null) : { names: [], is_cut: false }
  const reading = judgeNames(names, below)
  const has_header = reading !== 'entry'
  const above = has_header ? findNamesAbove(rows, at, names) : null
  const called = names.map((name, index) => name || above?.cells[index] || '')
  const header = has_header ? toUniqueNames(called) : numberColumns(width)
  return {
    delimiter,
    has_header,
    header,
    unnamed: new Set(has_header ? header.filter((name, index) => name !== names[index]) : []),
    name_fault: has_header ? findNameFault(called, { is_cut, has_above: above !== null }) : null,
    is_doubtful: reading === 'rather names' || reading === 'rather entry',
    is_likely_header: reading === 'names' || reading === 'rather names',
    header_row: has_header ? (found ?? null) : null,
    header_line: found?.line ?? 1,
    skipped: rows.slice(0, at).filter(({ cells }) => countCells(cells) > 0),
    rows: has_header ? below : rows.slice(at),
  }
}

/** Up to its last cell with text. */
const countCells = (cells: readonly string[]): number => cells.findLastIndex((cell) => cell !== '') + 1

/** How many rows below the first full one are looked at for names of more columns: titles of groups are above them. */
const MAX_GROUP_ROWS = 2

/** The first row that fills the columns as rows of the common width do, or one just below that names more of them. */
function findHeaderRow(rows: readonly TableRow[], width: number, is_text: boolean): number {
  const regular = rows.filter(({ cells }) => cells.length === width)
  const used = numberColumns(width)
    .map((_, index) => index)
    .filter((index) => regular.filter(({ cells }) => cells[index] !== '').length * 2 >= regular.length)
  const countFilled = ({ cells }: TableRow) => used.filter((index) => (cells[index] ?? '') !== '').length
  // In text a row with fewer columns is a title; workbooks omit blank cells at the end of a row.
  const isFull = (row: TableRow) =>
    (!is_text || row.cells.length > Math.max(...used)) &&
    countFilled(row) >= Math.max(1, used.length * MIN_HEADER_SHARE)
  const first = Math.max(rows.slice(0, MAX_PREAMBLE_ROWS).findIndex(isFull), 0)
  const namesMore = (one: number, other: number): boolean => {
    const [row, above] = [rows[one] as TableRow, rows[other] as TableRow]
    const below = rows.slice(one + 1)
    if (!row.cells.every((cell) => cell === '' || isName(cell))) return false
    return (
      countFilled(row) > countFilled(above) && countNames(row.cells, below).all > countNames(above.cells, below).all
    )
  }
  let at = first
  for (let next = first + 1; next < Math.min(rows.length, first + 1 + MAX_GROUP_ROWS); next++) {
    if (namesMore(next, at)) at = next
  }
  return at
}

/** The row above, where it names columns that the row of names leaves blank: cells of both rows are merged. A single cell is a title. */
function findNamesAbove(rows: readonly TableRow[], at: number, names: readonly string[]): TableRow | null {
  const above = rows[at - 1]
  if (above === undefined || above.line + 1 !== rows[at]?.line) return null
  const given = above.cells.filter((cell) => cell !== '')
  const isUsed = above.cells.some((cell, index) => cell !== '' && names[index] === '')
  return given.length > 1 && given.every(isName) && isUsed ? above : null
}

/** With blank ones for columns that hold text below. `is_cut`: a workbook ends its row of names before such a column. */
function readNames(
  { cells }: TableRow,
  below: readonly TableRow[],
  is_text: boolean,
): { names: readonly string[]; is_cut: boolean } {
  const named = countCells(cells)
  const reaches = is_text
    ? below.map((row) => Math.min(countCells(row.cells), cells.length))
    : below.slice(0, 1).map((row) => countCells(row.cells))
  const count = Math.max(named, ...reaches)
  const names = Array.from({ length: count }, (_, index) => cells[index] ?? '')
  return { names, is_cut: !is_text && count > named }
}

/** The same table, its row of names read as an entry. */
export function withoutHeader(table: TableGuess): TableGuess {
  if (table.header_row === null) return table
  const rows = [table.header_row, ...table.rows]
  const width = Math.max(findCommonWidth(rows), table.header.length)
  return { ...table, has_header: false, header: numberColumns(width), unnamed: new Set(), name_fault: null, rows }
}

/** Without blank columns before the table. Without names, the first row says how many columns there are. */
export function keepColumns({ header, has_header, unnamed, rows }: TableGuess, is_by_position: boolean): number[] {
  const count = is_by_position ? Math.min(header.length, rows[0]?.cells.length ?? header.length) : header.length
  const indexes = Array.from({ length: count }, (_, index) => index)
  const isUsed = (index: number) =>
    (has_header && !unnamed.has(header[index] as string)) || rows.some(({ cells }) => (cells[index] ?? '') !== '')
  return indexes.slice(Math.max(0, indexes.findIndex(isUsed)))
}

const numberColumns = (width: number): string[] => Array.from({ length: width }, (_, index) => String(index + 1))

const MAX_NAME_CHARS = 100

function findNameFault(
  names: readonly string[],
  { is_cut, has_above }: { readonly is_cut: boolean; readonly has_above: boolean },
): string | null {
  const given = names.filter((name) => name !== '')
  const repeated = new Set(given.filter(isRepeated()))
  if (repeated.size > 0) return `Column names repeat: ${[...repeated].slice(0, 10).map(shorten).join(', ')}.`
  if (has_above) return 'Some columns have their name in the row above.'
  if (is_cut) return `Column ${names.length} has no name.`
  const long = names.find((name) => name.length > MAX_NAME_CHARS)
  return long === undefined ? null : `A column name is longer than ${MAX_NAME_CHARS} characters: ${shorten(long)}.`
}

const shorten = (name: string): string => (name.length > MAX_NAME_CHARS ? `${name.slice(0, 60)}…` : name)

/** Says of each name whether it was there before. */
function isRepeated(): (name: string) => boolean {
  const seen = new Set<string>()
  return (name) => seen.size === seen.add(name).size
}

/** A column without a name is called by its position. */
function toUniqueNames(names: readonly string[]): string[] {
  const wasSeen = isRepeated()
  return names.map((given, index) => {
    const name = given || `column ${index + 1}`
    return wasSeen(name) ? `${shorten(name)} (column ${index + 1})` : shorten(name)
  })
}

const YEAR = /^(?:19|20)\d\d$/
const NUMBER_OR_DATE = /^[-+]?[\d.,]+%?$|^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/
/** What stands for a missing value. */
const NO_VALUE = /^(?:#?n\/a|na|nan|null|none|nil|[-–—?]|\.\.+)$/i

/** A year may name a column; other numbers and dates are values. */
const isName = (cell: string): boolean =>
  cell !== '' && (YEAR.test(cell) || !(NUMBER_OR_DATE.test(cell) || NO_VALUE.test(cell)))

const HEADER_WORD =
  /^(?:.*[_\s.-])?(?:id|ids|nr|no|number|code|key|name|title|label|country|value|type|kind|date|status|state|score|rating|band|level|text|note|comment|remarks?|description|category|currency|amount|iso\w*|since|until|from|to)$/i
/** At least this share of a column has the shape of its first cell. */
const SAME_SHAPE_SHARE = 0.7

const SHAPES = /\p{Lu}[\p{Ll}\p{M}]+|\p{Ll}+|\p{Lu}+(?!\p{Ll})|\d+/gu

/** Codes, words in capitals, capitalised and small words and digits are shapes; how long they are does not count. */
const toShape = (cell: string): string =>
  cell
    .replace(SHAPES, (run) => (/^\d/.test(run) ? '9' : /^\p{Ll}/u.test(run) ? 'w' : /\p{Ll}/u.test(run) ? 'W' : 'U'))
    .replace(/[^\p{L}\d]+/gu, ' ')
    .replace(/(\S+)(?: \1)+/g, '$1')

const listValues = (rows: readonly TableRow[], index: number): string[] =>
  rows.flatMap(({ cells }) => (cells[index] ? [cells[index]] : []))

const isMost = (values: readonly string[], test: (value: string) => boolean): boolean =>
  values.length > 0 && values.filter(test).length >= values.length * SAME_SHAPE_SHARE

/** How many of the cells are usual names, and how many are names for another reason too: words above numbers. */
function countNames(cells: readonly string[], below: readonly TableRow[]): { usual: number; all: number } {
  let [usual, all] = [0, 0]
  for (const [index, cell] of cells.entries()) {
    if (!isName(cell)) continue
    const values = listValues(below, index)
    // "NO" and "ID" are countries where other codes are below, and "No" is a value where it returns.
    const isValue =
      values.includes(cell) || (/^\p{Lu}{2}$/u.test(cell) && isMost(values, (value) => /^\p{Lu}{2}$/u.test(value)))
    const isUsual = !isValue && HEADER_WORD.test(cell)
    if (isUsual) usual++
    if (isUsual || (/^\p{L}/u.test(cell) && isMost(values, (value) => NUMBER_OR_DATE.test(value)))) all++
  }
  return { usual, all }
}

/** How a row is read that may name the columns; the two in the middle are doubtful. */
type Reading = 'names' | 'rather names' | 'rather entry' | 'entry'

/** Repeated and some overlong names are names nevertheless. */
function judgeNames(names: readonly string[], below: readonly TableRow[]): Reading {
  const given = names.filter((name) => name !== '')
  const isPossible =
    given.length > 0 &&
    given.filter((name) => name.length > MAX_NAME_CHARS).length * 2 < given.length &&
    (given.length === 1 || new Set(given).size > 1)
  if (!isPossible) return 'entry'
  const { usual, all } = countNames(names, below)
  if (given.every(isName)) {
    if (usual === 0 && looksLikeEntry(names, below)) return 'rather entry'
    if (given.length === names.length || usual > 0) return 'names'
    return all > 0 ? 'rather names' : 'rather entry'
  }
  if (all === 0 || below.length === 0) return 'entry'
  return usual * 2 > given.filter(isName).length ? 'rather names' : 'rather entry'
}

/** Whether nothing distinguishes the row of names from the entries below: a name is a value too, or every one has the shape of its column. */
function looksLikeEntry(names: readonly string[], below: readonly TableRow[]): boolean {
  if (below.length === 0) return false
  const columns = names.flatMap((name, index) => (name === '' ? [] : [{ name, values: listValues(below, index) }]))
  if (columns.some(({ name, values }) => values.includes(name))) return true
  return columns.every(({ name, values }) => {
    const same = values.filter((value) => toShape(value) === toShape(name)).length
    // Names of people and firms have many shapes, and a single column has no other cell that distinguishes its first row.
    return columns.length === 1 ? same > 0 : same >= values.length * SAME_SHAPE_SHARE
  })
}
