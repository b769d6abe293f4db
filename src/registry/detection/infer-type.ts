/** Infers a type from the columns of a table or the members of JSON records, for a file that fits no type. */
import { isObject } from '../content/json-pointer.ts'
import type { TypeDefinition } from '../types/type-definition.ts'

export interface InferredType {
  readonly definition: Omit<TypeDefinition, 'type_version'>
  /** For each column the member it becomes, with the kind of its values. */
  readonly columns: readonly { readonly column: string; readonly member: string; readonly kind: InferredKind }[]
}

export type InferredKind = 'text' | 'integer' | 'decimal' | 'boolean' | 'texts'

const MAX_TEXT_CHARS = 2000
export const MAX_COLUMNS = 200
const MAX_ELEMENTS = 1000
const BOUNDS = { minimum: -1e15, maximum: 1e15 }
const KEY_NAME = /^(?:id|uid|uuid|key|code|number|no|nr|iso.*|.*_(?:id|code|key|no|number))$/

const foldName = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()

/** Lower case with underscores; numbered when two columns would have one name. */
export function toMemberNames(columns: readonly string[]): string[] {
  const taken = new Set<string>()
  return columns.map((column, index) => {
    const plain = foldName(column)
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, 60)
    const base = plain === '' ? `column_${index + 1}` : /^\d/.test(plain) ? `column_${plain}` : plain
    let name = base
    for (let count = 2; taken.has(name); count++) name = `${base}_${count}`
    taken.add(name)
    return name
  })
}

/** A key for a list or type made of a name, such as a file name without its extension. */
export function toSlug(name: string, fallback: string): string {
  const slug = foldName(name)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '')
  return slug.length < 2 ? fallback : slug
}

/**
 * `name` is what the file is called; `values` has the values of each column, in rows. Null without a possible key. Only the key is
 * required where the values are not all: a column that is filled at the beginning of a file may be empty later.
 */
export function inferType(
  name: string,
  columns: readonly string[],
  values: readonly (readonly unknown[])[],
  { is_table, is_complete }: { readonly is_table: boolean; readonly is_complete: boolean },
): InferredType | null {
  if (columns.length === 0 || columns.length > MAX_COLUMNS || values.length === 0) return null
  const members = toMemberNames(columns)
  const described = columns.flatMap((column, index) => {
    const found = values
      .map((row) => row[index])
      .filter((value) => value !== undefined && value !== null && value !== '')
    const kind = inferKind(found, is_table)
    if (kind === null) return []
    return [{ column, member: members[index] as string, kind, blanks: values.length - found.length, index }]
  })
  const key = findKey(described, values)
  if (key === null) return null
  const example = described.flatMap(({ member, kind, index }) => {
    const value = toValue(values[0]?.[index], kind)
    return value === undefined ? [] : [[member, value] as const]
  })
  return {
    columns: described.map(({ column, member, kind }) => ({ column, member, kind })),
    definition: {
      type_key: toSlug(name, 'own-type'),
      title: name.slice(0, 200),
      description: `Inferred from the columns of ${name.slice(0, 200)}.`,
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        additionalProperties: false,
        required: described
          .filter(({ blanks, member }) => key.includes(member) || (is_complete && blanks === 0))
          .map(({ member }) => member),
        properties: Object.fromEntries(described.map(({ member, kind }) => [member, toSchema(kind)])),
      },
      key_pointers: key.map((member) => `/${member}`),
      trim: true,
      list_rules: {},
      fields: Object.fromEntries(
        described.map(({ column, member }) => [`/${member}`, { title: column.trim().slice(0, 120) || member }]),
      ),
      examples: [Object.fromEntries(example)],
    },
  }
}

/** Null: values that no simple member can hold. Cells of a table are texts; in JSON a text stays one. */
function inferKind(values: readonly unknown[], is_table: boolean): InferredKind | null {
  const every = (test: (value: unknown) => boolean) => values.length > 0 && values.every(test)
  const isText = (value: unknown) => typeof value === 'string' && value.length <= MAX_TEXT_CHARS
  if (every((value) => Array.isArray(value) && value.length <= MAX_ELEMENTS && value.every(isText))) return 'texts'
  if (values.some((value) => typeof value === 'object')) return null
  const isWritten = (value: unknown, pattern: RegExp, type: string) =>
    is_table ? pattern.test(String(value)) : typeof value === type && pattern.test(String(value))
  if (every((value) => isWritten(value, /^(?:true|false)$/i, 'boolean'))) return 'boolean'
  // A leading zero belongs to a code, not to a number.
  if (every((value) => isWritten(value, /^-?(?:0|[1-9]\d{0,14})$/, 'number'))) return 'integer'
  if (every((value) => isWritten(value, /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?$/, 'number'))) return 'decimal'
  return every((value) => is_table || isText(value)) || values.length === 0 ? 'text' : null
}

const textSchema = { type: 'string', minLength: 1, maxLength: MAX_TEXT_CHARS }

const toSchema = (kind: InferredKind): object => {
  if (kind === 'text') return textSchema
  if (kind === 'texts') return { type: 'array', maxItems: MAX_ELEMENTS, items: textSchema }
  return kind === 'boolean' ? { type: kind } : { type: kind === 'decimal' ? 'number' : kind, ...BOUNDS }
}

function toValue(value: unknown, kind: InferredKind): unknown {
  if (value === undefined || value === null || value === '') return undefined
  if (kind === 'integer' || kind === 'decimal') return Number(value)
  if (kind === 'boolean') return String(value).toLowerCase() === 'true'
  return kind === 'text' ? String(value).slice(0, MAX_TEXT_CHARS) : value
}

interface DescribedColumn {
  readonly member: string
  readonly kind: InferredKind
  /** Rows without a value in it. */
  readonly blanks: number
  readonly index: number
}

/** A column is filled in nearly every row when at most one row in so many is without a value. */
const ROWS_PER_BLANK = 20
const MIN_ROWS_OF_BLANK = 4
const MAX_KEY_COLUMNS = 5

const isNearlyFilled = ({ blanks }: DescribedColumn, rows: number): boolean =>
  blanks > 0 && (blanks * ROWS_PER_BLANK <= rows || (blanks === 1 && rows >= MIN_ROWS_OF_BLANK))

/**
 * The first filled column without repetition, one that is named like a key first; otherwise one that is filled in nearly every row,
 * unless filled columns before it identify every row together.
 */
function findKey(columns: readonly DescribedColumn[], values: readonly (readonly unknown[])[]): string[] | null {
  const isUnique = (some: readonly DescribedColumn[]) => {
    const keys = values.map((row) => some.map(({ index }) => row[index]))
    const whole = keys.filter((key) => key.every((value) => value !== undefined && value !== null && value !== ''))
    return new Set(whole.map((key) => JSON.stringify(key))).size === whole.length
  }
  const isKeyName = ({ member }: DescribedColumn) => KEY_NAME.test(member)
  const possible = columns.filter(({ kind }) => kind !== 'texts' && kind !== 'decimal')
  const ordered = [...possible.filter(isKeyName), ...possible.filter((column) => !isKeyName(column))]
  const filled = ordered.filter(({ blanks }) => blanks === 0)
  const single = filled.find((column) => isUnique([column]))
  if (single) return [single.member]
  const counts = Array.from({ length: Math.max(0, Math.min(MAX_KEY_COLUMNS, filled.length) - 1) }, (_, at) => at + 2)
  const several = counts.map((count) => filled.slice(0, count)).find(isUnique)
  const nearly = ordered.find((column) => isNearlyFilled(column, values.length) && isUnique([column]))
  if (nearly && (!several || isKeyName(nearly) || several.every(({ index }) => index > nearly.index))) {
    return [nearly.member]
  }
  return filled.length === 0 ? null : (several ?? filled.slice(0, MAX_KEY_COLUMNS)).map(({ member }) => member)
}

/** The union of the members of records, in the order they are first seen, and the values by record. */
export function toRows(records: readonly Record<string, unknown>[]): { columns: string[]; values: unknown[][] } {
  const columns = [...new Set(records.filter(isObject).flatMap((record) => Object.keys(record)))]
  return { columns, values: records.map((record) => columns.map((name) => record[name])) }
}
