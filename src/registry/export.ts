/**
 * A version written out as JSON, NDJSON, CSV or XLSX, as its entries come. JSON and NDJSON read back to the same content;
 * CSV and XLSX do with the formula guard off, through the mapping of the type's own members.
 */
import type { Entry } from './adapter.ts'
import { writeXlsx, type XlsxCell } from './formats/xlsx-writer.ts'
import type { TypeDefinition } from './types/definition.ts'

export type ExportFormat = 'json' | 'ndjson' | 'csv' | 'xlsx'

/** Canonical texts of entries, in key order. */
export type EntryTexts = AsyncIterable<readonly string[]>

export function writeEntries(
  texts: EntryTexts,
  type: Pick<TypeDefinition, 'schema'>,
  format: ExportFormat,
  formula_guard: boolean,
): AsyncIterable<Buffer> {
  if (format === 'json') return asJson(texts)
  if (format === 'ndjson') return asNdjson(texts)
  const columns = columnsOf(type)
  const guard = formula_guard ? guarded : (cell: XlsxCell) => cell
  return format === 'csv' ? asCsv(texts, columns, guard) : writeXlsx(asRows(texts, columns, guard), 'Entries')
}

async function* asJson(texts: EntryTexts): AsyncGenerator<Buffer> {
  let separator = '[\n'
  for await (const batch of texts) {
    if (batch.length === 0) continue
    yield Buffer.from(separator + batch.join(',\n'))
    separator = ',\n'
  }
  yield Buffer.from(separator === '[\n' ? '[]\n' : '\n]\n')
}

async function* asNdjson(texts: EntryTexts): AsyncGenerator<Buffer> {
  for await (const batch of texts) if (batch.length > 0) yield Buffer.from(`${batch.join('\n')}\n`)
}

/** Members in the order the schema names them; what it does not name goes into one last column. */
export const columnsOf = ({ schema }: Pick<TypeDefinition, 'schema'>): string[] =>
  Object.keys((schema['properties'] as Record<string, unknown> | undefined) ?? {})

const REST = '_other'

type Guard = (cell: XlsxCell) => XlsxCell
const guarded: Guard = (cell) => (typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)

function cellsOf(entry: Entry, columns: readonly string[], guard: Guard): XlsxCell[] {
  const rest: Record<string, unknown> = { ...entry }
  const cells = columns.map((name): XlsxCell => {
    const value = Object.hasOwn(entry, name) ? entry[name] : undefined
    delete rest[name]
    if (value === undefined || value === null) return null
    return guard(typeof value === 'object' ? JSON.stringify(value) : (value as XlsxCell))
  })
  return [...cells, Object.keys(rest).length > 0 ? JSON.stringify(rest) : null]
}

async function* asRows(texts: EntryTexts, columns: readonly string[], guard: Guard): AsyncGenerator<XlsxCell[]> {
  let head = true
  for await (const batch of texts) {
    if (head) yield [...columns, REST]
    head = false
    for (const text of batch) yield cellsOf(JSON.parse(text) as Entry, columns, guard)
  }
  if (head) yield [...columns, REST]
}

const quoted = (cell: XlsxCell): string => {
  const text = cell === null || cell === undefined ? '' : String(cell)
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

async function* asCsv(texts: EntryTexts, columns: readonly string[], guard: Guard): AsyncGenerator<Buffer> {
  let lines = ''
  for await (const row of asRows(texts, columns, guard)) {
    lines += `${row.map(quoted).join(',')}\r\n`
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
  readonly kind: 'text' | 'integer' | 'decimal' | 'boolean' | 'json'
}

/**
 * How a table whose headers are the members of the type is read: what the export writes, and what people type. An empty cell
 * under a part of the key is refused with its column.
 */
export function mappingOf({ schema, key_pointers }: Pick<TypeDefinition, 'schema' | 'key_pointers'>): MappedColumn[] {
  const properties = (schema['properties'] as Record<string, { type?: unknown }> | undefined) ?? {}
  const kinds = { string: 'text', integer: 'integer', number: 'decimal', boolean: 'boolean' } as const
  return Object.entries(properties).map(([name, { type }]) => {
    const stated = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null')
    const kind = stated.length === 1 ? (kinds[stated[0] as keyof typeof kinds] ?? 'json') : textual(properties[name])
    const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return { column: name, pointer, optional: true, required: key_pointers.includes(pointer), kind }
  })
}

/** Enumerations often state no type. */
const textual = (schema: unknown): 'text' | 'json' => {
  const values = (schema as { enum?: unknown[]; const?: unknown }).enum ?? [(schema as { const?: unknown }).const]
  return values.every((value) => typeof value === 'string') ? 'text' : 'json'
}
