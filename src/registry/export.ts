/**
 * Streams a version as JSON, NDJSON, CSV or XLSX. An import of JSON or NDJSON gives the same content; so does one of CSV or XLSX
 * without the formula guard, with the mapping derived from the type.
 */
import type { Entry } from './adapter.ts'
import { escapeStep } from './content/json-pointer.ts'
import { writeXlsx, type XlsxCell } from './formats/xlsx-writer.ts'
import { SchemaTree } from './types/schema-tree.ts'
import type { TypeDefinition } from './types/type-definition.ts'

/** Without a key it is a report, which is not imported. */
type ExportedType = Pick<TypeDefinition, 'schema'> & { readonly key_pointers?: readonly string[] }

export type ExportFormat = 'json' | 'ndjson' | 'csv' | 'xlsx'

/** Canonical texts of entries in key order, one per line, in chunks that are never empty. */
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

/** The members of the schema, those of the key first; other members go into the last column. */
function buildColumns({ schema, key_pointers = [] }: ExportedType): Column[] {
  const tree = new SchemaTree(schema)
  const columns = Object.entries((schema['properties'] as Record<string, unknown> | undefined) ?? {}).map(
    ([name, member]): Column => ({ name, pointer: `/${escapeStep(name)}`, kind: getColumnKind(tree, member) }),
  )
  const isKey = ({ pointer }: Column) => key_pointers.includes(pointer)
  return [...columns.filter(isKey), ...columns.filter((column) => !isKey(column))]
}

/** How a member is written to its cell; a member of several kinds is written as JSON. */
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
 * What spreadsheets read as the start of a formula: the four signs, also in full-width and small forms and as U+2212, also after
 * white space or invisible characters; and a leading tab or line break, which spreadsheets strip first.
 */
const FORMULA_START = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20])/u
const escapeFormula: CellGuard = (cell) => (typeof cell === 'string' && FORMULA_START.test(cell) ? `'${cell}` : cell)

/** A blank cell is imported as no member, so null and blank texts go into the last column where that matters. */
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
  // Semicolons and tabs too: programs that use them as delimiters must not split a text.
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
 * The mapping for a table whose headers are the members of the type, as exports have them. An empty cell of a key member is
 * rejected with its column. The column of a member takes precedence over the last column.
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
