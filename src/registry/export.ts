/**
 * A version written out as JSON, NDJSON, CSV or XLSX, as its entries come. JSON and NDJSON read back to the same content;
 * CSV and XLSX do with the formula guard off, through the mapping of the type's own members.
 */
import type { Entry } from './adapter.ts'
import { escapeStep } from './content/json-pointer.ts'
import { writeXlsx, type XlsxCell } from './formats/xlsx-writer.ts'
import { SchemaTree } from './types/schema-tree.ts'
import type { TypeDefinition } from './types/type-definition.ts'

/** Without a key it is a report, which nobody reads back as a list. */
type ExportedType = Pick<TypeDefinition, 'schema'> & { readonly key_pointers?: readonly string[] }

export type ExportFormat = 'json' | 'ndjson' | 'csv' | 'xlsx'

/** Canonical texts of entries in key order, a line each, many at a time; never an empty text. */
export type EntryLines = AsyncIterable<string>

export function countLines(lines: string): number {
  let count = 1
  for (let at = lines.indexOf('\n'); at >= 0; at = lines.indexOf('\n', at + 1)) count++
  return count
}

export function writeEntries(
  texts: EntryLines,
  type: ExportedType,
  format: ExportFormat,
  formula_guard: boolean,
): AsyncIterable<Buffer> {
  if (format === 'json') return writeJson(texts)
  if (format === 'ndjson') return writeNdjson(texts)
  const guard = formula_guard ? escapeFormula : (cell: XlsxCell) => cell
  const sheet = { columns: buildColumns(type), guard, exact: type.key_pointers !== undefined }
  return format === 'csv' ? writeCsv(texts, sheet) : writeXlsx(toRows(texts, sheet), 'Entries')
}

async function* writeJson(texts: EntryLines): AsyncGenerator<Buffer> {
  let separator = '[\n'
  for await (const lines of texts) {
    yield Buffer.from(separator + lines.replaceAll('\n', ',\n'))
    separator = ',\n'
  }
  yield Buffer.from(separator === '[\n' ? '[]\n' : '\n]\n')
}

async function* writeNdjson(texts: EntryLines): AsyncGenerator<Buffer> {
  for await (const lines of texts) yield Buffer.from(`${lines}\n`)
}

interface Column {
  readonly name: string
  readonly pointer: string
  readonly kind: 'text' | 'integer' | 'decimal' | 'boolean' | 'json'
}

/** The members the schema names, those of the key first; what it does not name goes into one last column. */
function buildColumns({ schema, key_pointers = [] }: ExportedType): Column[] {
  const tree = new SchemaTree(schema)
  const columns = Object.entries((schema['properties'] as Record<string, unknown> | undefined) ?? {}).map(
    ([name, member]): Column => ({ name, pointer: `/${escapeStep(name)}`, kind: getColumnKind(tree, member) }),
  )
  const isKey = ({ pointer }: Column) => key_pointers.includes(pointer)
  return [...columns.filter(isKey), ...columns.filter((column) => !isKey(column))]
}

/** What a cell of a member holds; where that may be of several kinds, JSON tells them apart. */
function getColumnKind(tree: SchemaTree, member: unknown): Column['kind'] {
  const [only, ...others] = [...tree.getKinds(member)].filter((kind) => kind !== 'null')
  if (others.length > 0) return 'json'
  if (only === 'number') return tree.getFacets(member).some(({ type }) => type === 'integer') ? 'integer' : 'decimal'
  return only === 'string' ? 'text' : only === 'boolean' ? 'boolean' : 'json'
}

const REST_COLUMN = '_other'

type CellGuard = (cell: XlsxCell) => XlsxCell
interface SheetOptions {
  readonly columns: readonly Column[]
  readonly guard: CellGuard
  readonly exact: boolean
}
/**
 * What spreadsheets read as the start of a formula: the four signs also in their full-width and small forms and as the minus sign
 * proper, behind white space or invisible characters too; and a leading tab or line break, which is cut off before that is decided.
 */
const FORMULA_START = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20])/u
const escapeFormula: CellGuard = (cell) => (typeof cell === 'string' && FORMULA_START.test(cell) ? `'${cell}` : cell)

/** A blank cell is read back as no member, so where that matters one that is null or a blank text goes with the rest. */
function toCells(entry: Entry, { columns, guard, exact }: SheetOptions): XlsxCell[] {
  const rest: Record<string, unknown> = { ...entry }
  const cells = columns.map(({ name, kind }): XlsxCell => {
    const value = Object.hasOwn(entry, name) ? entry[name] : undefined
    const isEmpty = value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
    if (!(isEmpty && exact)) delete rest[name]
    if (isEmpty) return null
    return guard(kind === 'json' ? JSON.stringify(value) : (value as XlsxCell))
  })
  return [...cells, Object.keys(rest).length > 0 ? JSON.stringify(rest) : null]
}

async function* toRows(texts: EntryLines, sheet: SheetOptions): AsyncGenerator<XlsxCell[]> {
  const header = [...sheet.columns.map(({ name }) => sheet.guard(name)), REST_COLUMN]
  let head = true
  for await (const batch of texts) {
    if (head) yield header
    head = false
    for (const text of batch.split('\n')) yield toCells(JSON.parse(text) as Entry, sheet)
  }
  if (head) yield header
}

const quoteCell = (cell: XlsxCell): string => {
  const text = cell === null || cell === undefined ? '' : String(cell)
  // Semicolons and tabs too: where they separate cells, a text must not be split into a cell of its own making.
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

async function* writeCsv(texts: EntryLines, sheet: SheetOptions): AsyncGenerator<Buffer> {
  let lines = ''
  for await (const row of toRows(texts, sheet)) {
    lines += `${row.map(quoteCell).join(',')}\r\n`
    if (lines.length > 64 * 1024) {
      yield Buffer.from(lines)
      lines = ''
    }
  }
  if (lines !== '') yield Buffer.from(lines)
}

interface MappedColumn {
  readonly column: string
  readonly pointer: string
  readonly optional: true
  readonly required: boolean
  readonly kind: Column['kind']
}

/**
 * How a table whose headers are the members of the type is read: what the export writes, and what people type. An empty cell
 * under a part of the key is refused with its column. What a member's own column says outweighs the rest.
 */
export function buildColumnMapping(type: Pick<TypeDefinition, 'schema' | 'key_pointers'>): MappedColumn[] {
  const columns = buildColumns(type).map(
    ({ name, pointer, kind }): MappedColumn => ({
      column: name,
      pointer,
      optional: true,
      required: type.key_pointers.includes(pointer),
      kind,
    }),
  )
  const rest: MappedColumn = { column: REST_COLUMN, pointer: '', optional: true, required: false, kind: 'json' }
  return columns.some(({ column }) => column === REST_COLUMN) ? columns : [rest, ...columns]
}
