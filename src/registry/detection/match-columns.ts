/** Matches the columns of a table, or the members of JSON records, with the members of a type by their names. */
import { buildColumnMapping } from '../export.ts'
import type { TypeDefinition } from '../types/type-definition.ts'

export interface MatchedColumn {
  readonly column: string
  readonly pointer: string
  readonly kind: string
  readonly required: boolean
}

export interface ColumnMatch {
  readonly matched: readonly MatchedColumn[]
  readonly unread: readonly string[]
  /** Every match is by the exact name, so that no mapping has to be stated. */
  readonly is_exact: boolean
}

/** Names are compared without case, accents, spaces and punctuation. */
const simplify = (name: string): string =>
  name
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

/** Null when a required member of the type has no column, so that no row could be read. */
export function matchColumns(names: readonly string[], type: TypeDefinition): ColumnMatch | null {
  const members = buildColumnMapping(type).filter(({ pointer }) => pointer !== '')
  const byName = new Map<string, (typeof members)[number]>()
  for (const member of members) {
    const title = type.fields[member.pointer]?.title
    if (title !== undefined && !byName.has(simplify(title))) byName.set(simplify(title), member)
  }
  for (const member of members) byName.set(simplify(member.column), member)
  const exact = new Map(members.map((member) => [member.column, member]))
  const taken = new Set<string>()
  const matched: MatchedColumn[] = []
  for (const name of names) {
    const member = exact.get(name) ?? byName.get(simplify(name))
    if (member === undefined || taken.has(member.pointer)) continue
    taken.add(member.pointer)
    matched.push({ column: name, pointer: member.pointer, kind: member.kind, required: member.required })
  }
  const required = (type.schema['required'] as readonly string[] | undefined) ?? []
  const isMissing = members.some(({ column, pointer }) => required.includes(column) && !taken.has(pointer))
  if (matched.length === 0 || isMissing) return null
  const columns = new Set(matched.map(({ column }) => column))
  return {
    matched,
    unread: names.filter((name) => name !== '' && !columns.has(name)),
    is_exact: matched.every(({ column }) => exact.has(column)),
  }
}
