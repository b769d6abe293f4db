/** The options passed to an adapter: those of the request, with a mapping derived from the type. */
import { formatPointer, parsePointer } from '#registry/content/json-pointer.ts'
import { buildColumnMapping } from '#registry/export.ts'
import type { RemovalMarkerOptions } from '#registry/import/removal-marker.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'

const TABLES = new Set(['csv', 'tsv', 'xlsx'])

/**
 * Without a stated mapping, the headers of a table are the member names of the type. Members filled by constants or elements
 * get no column.
 */
export function withDefaultColumns(
  adapter_key: string,
  options: Record<string, unknown>,
  type: TypeDefinition | null,
  marker: RemovalMarkerOptions | null = null,
): Record<string, unknown> {
  const isMapped = options['columns'] !== undefined || options['header'] === false
  if (!TABLES.has(adapter_key) || type === null || isMapped)
    return marker ? addMarker(options, marker.pointer) : options
  const { constants = {}, elements = [] } = options as {
    constants?: Record<string, unknown>
    elements?: readonly { readonly pointer: string }[]
  }
  const filled = [
    ...Object.keys(constants).map((name) => formatPointer([name])),
    ...elements.map(({ pointer }) => pointer),
  ]
  const isFilled = (pointer: string) =>
    filled.some((one) => pointer === one || pointer.startsWith(`${one}/`) || one.startsWith(`${pointer}/`))
  const columns = buildColumnMapping(type).filter(({ pointer }) => pointer === '' || !isFilled(pointer))
  return { ...options, columns: marker ? withMarker(columns, marker.pointer) : columns }
}

/** Adds the column that marks removed rows, which the type does not declare. */
function withMarker(
  columns: ReturnType<typeof buildColumnMapping>,
  pointer: string,
): ReturnType<typeof buildColumnMapping> {
  const steps = parsePointer(pointer)
  if (steps.length > 1 || columns.some((column) => column.pointer === pointer)) return columns
  return [...columns, { column: steps[0] as string, pointer, optional: true, required: false, kind: 'text' }]
}

/** A stated mapping that does not read the marker, such as a detected one, would read removed rows as changed ones. */
function addMarker(options: Record<string, unknown>, pointer: string): Record<string, unknown> {
  const { members, columns } = options as Partial<
    Record<'members' | 'columns', readonly { readonly pointer: string }[]>
  >
  const reads = (mapping: readonly { readonly pointer: string }[]) =>
    mapping.some((one) => pointer === one.pointer || pointer.startsWith(`${one.pointer}/`))
  if (members && !reads(members)) return { ...options, members: [...members, { from: pointer, pointer }] }
  const steps = parsePointer(pointer)
  if (!columns || reads(columns) || steps.length > 1 || options['header'] === false) return options
  return { ...options, columns: [...columns, { column: steps[0] as string, pointer, optional: true }] }
}
