/** Describes a JSON Schema in short phrases. Pure. */
import { listMembers, type TypeText } from '#console/ui/type-texts.ts'

export interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

export interface FieldRow {
  readonly pointer: string
  readonly depth: number
  readonly schema: Schema
  readonly isRequired: boolean
}

const MAX_DEPTH = 3

/** Every field of an entry with its subfields, in display order. */
export function listFields(type: TypeText): FieldRow[] {
  const root = type.schema as Schema
  return listMembers(type).flatMap((name) => toRows(`/${name}`, root.properties?.[name] ?? {}, requires(root, name), 0))
}

const requires = (schema: Schema, name: string): boolean => schema.required?.includes(name) ?? false

function toRows(pointer: string, schema: Schema, isRequired: boolean, depth: number): FieldRow[] {
  const inner = schema.items?.properties ? schema.items : schema
  const below = inner === schema ? pointer : `${pointer}/*`
  const rows = Object.entries(depth < MAX_DEPTH ? (inner.properties ?? {}) : {}).flatMap(([name, member]) =>
    toRows(`${below}/${name}`, member, requires(inner, name), depth + 1),
  )
  return [{ pointer, depth, schema, isRequired }, ...rows]
}

const kindTexts: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'yes or no',
  object: 'group of fields',
  null: 'nothing',
}

export function describeKind(schema: Schema): string {
  const types = [schema.type ?? (schema.enum ? 'string' : 'any')].flat()
  if (schema.format === 'date') return 'date'
  if (schema.format === 'date-time') return 'instant'
  return types
    .map((type) =>
      type === 'array'
        ? `list of ${schema.items ? describeKind(schema.items) : 'anything'}`
        : (kindTexts[type] ?? type),
    )
    .join(' or ')
}

export function describeLimits(schema: Schema): string {
  const { minimum, maximum, maxLength, minItems, maxItems, pattern } = schema
  const values = schema.enum ?? schema.items?.enum
  if (schema.const !== undefined) return `always ${String(schema.const)}`
  if (values) return values.map(String).join(', ')
  return [
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum}`,
    minimum !== undefined && maximum === undefined && `at least ${minimum}`,
    minimum === undefined && maximum !== undefined && `at most ${maximum}`,
    maxLength !== undefined && schema.format === undefined && `up to ${maxLength} characters`,
    minItems !== undefined && minItems > 0 && `at least ${minItems}`,
    maxItems !== undefined && `at most ${maxItems}`,
    // The pattern of every text field: no U+0000, which cannot be stored.
    pattern !== undefined && pattern !== '^[^\\u0000]*$' && `like ${pattern}`,
  ]
    .filter((limit) => typeof limit === 'string')
    .join(', ')
}
