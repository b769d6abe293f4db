/**
 * Where each value of a flat record goes in an entry and what it is: text, number, boolean, date or JSON. A value that does
 * not read as what it is said to be is rejected with its column; none is bent to fit.
 */

import { closed, integer, listOf, oneOf, type Static, Type, text } from '../../kernel/schema.ts'
import type { Entry, Reject, SourceLocation } from '../adapter.ts'
import { isObject, setMember } from '../content/pointer.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import { parseRecord, RecordFault } from '../formats/json-record.ts'
import { dateFormatPattern, parseDate } from './dates.ts'

const Pointer = Type.String({
  pattern: '^(/([^~/]|~0|~1)+)+$',
  maxLength: 500,
  description: 'JSON pointer of the member of the entry, such as /name or /address/city.',
})

const words = (description: string) => listOf(Type.String({ maxLength: 100 }), 50, { description })

const kinds = ['text', 'integer', 'decimal', 'boolean', 'date', 'json'] as const

const valueOptions = {
  kind: Type.Optional(oneOf(kinds, { default: 'text', description: 'What the value is.' })),
  formats: Type.Optional(
    listOf(Type.String({ pattern: dateFormatPattern, maxLength: 20 }), 10, {
      description: 'Formats a date may have, tried in this order, such as DD/MM/YYYY. Default: YYYY-MM-DD.',
    }),
  ),
  decimal_separator: Type.Optional(oneOf(['.', ','], { default: '.' })),
  true_values: Type.Optional(words('What a boolean writes for true. Default: true, yes, y, 1, x, in any case.')),
  false_values: Type.Optional(words('What a boolean writes for false. Default: false, no, n, 0, in any case.')),
  null_values: Type.Optional(words('What stands for no value in this column, instead of null_values of the source.')),
  required: Type.Optional(Type.Boolean({ default: false, description: 'Reject a record without this value.' })),
}

export const ColumnMapping = closed({
  column: Type.Union([text(500), integer(1, 16_384)], { description: 'Header of the column, or its number from 1.' }),
  pointer: Pointer,
  optional: Type.Optional(Type.Boolean({ default: false, description: 'The source may lack this column.' })),
  ...valueOptions,
})
export type ColumnMapping = Static<typeof ColumnMapping>

export const MemberMapping = closed({
  from: Type.String({ pattern: '^(/([^~/]|~0|~1)*)+$', maxLength: 500, description: 'JSON pointer into the record.' }),
  pointer: Pointer,
  ...valueOptions,
  // No default here: without a kind a member keeps whatever it is.
  kind: Type.Optional(oneOf(kinds, { description: 'What the value is. Default: as it is in the record.' })),
})
export type MemberMapping = Static<typeof MemberMapping>

/** Options every mapped source shares. */
export const mappingOptions = {
  null_values: Type.Optional(words('What stands for no value. Default: only the empty text. NA is Namibia, not null.')),
  trim: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Drop white space around texts, whatever the type says. By default the type decides.',
    }),
  ),
}

export interface MappingRules {
  readonly null_values?: readonly string[] | undefined
  readonly trim?: boolean | undefined
}

type ValueRules = Pick<
  ColumnMapping,
  'kind' | 'formats' | 'decimal_separator' | 'true_values' | 'false_values' | 'null_values' | 'required'
>

/** Why a text is not what it should be; a sentence without its column. */
class Unreadable {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

type Convert = (text: string) => unknown

/** Gives the value, undefined for none, or an Unreadable. */
function converter(rules: ValueRules, shared: MappingRules): Convert {
  // Only a text can mean the white space around it.
  const trim = (shared.trim ?? false) || (rules.kind ?? 'text') !== 'text'
  const nulls = new Set(rules.null_values ?? shared.null_values ?? [''])
  nulls.add('')
  const read = readers[rules.kind ?? 'text'](rules)
  return (given) => {
    const trimmed = given.trim()
    const value = trim ? trimmed : given
    // A blank cell holds no value even where white space is kept: it would be an empty text, which no table can mean.
    return trimmed === '' || nulls.has(trimmed) || nulls.has(value) ? undefined : read(value)
  }
}

/** A number in the very form in which numbers are written out here, with an exponent or to the last digit. */
function asWritten(text: string): number | undefined {
  const number = Number(text)
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER && String(number) === text ? number : undefined
}

const readers: Record<NonNullable<ValueRules['kind']>, (rules: ValueRules) => Convert> = {
  text: () => (value) => value,
  integer: () => (value) => {
    if (!/^[+-]?\d{1,20}$/.test(value)) return new Unreadable('is not a whole number')
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : new Unreadable('is beyond the numbers that can be kept exactly')
  },
  decimal: ({ decimal_separator = '.' }) => {
    const pattern = decimal_separator === ',' ? /^[+-]?\d+(,\d+)?$/ : /^[+-]?\d+(\.\d+)?$/
    return (value) => {
      if (!pattern.test(value)) return asWritten(value) ?? new Unreadable('is not a decimal number')
      const digits = value.replace(/^[+-]?0*|[.,]/g, '')
      return digits.length > 15
        ? (asWritten(value) ?? new Unreadable('has more digits than can be kept exactly'))
        : Number(value.replace(',', '.')) || 0
    }
  },
  boolean: ({ true_values = ['true', 'yes', 'y', '1', 'x'], false_values = ['false', 'no', 'n', '0'] }) => {
    const known = new Map<string, boolean>()
    for (const word of false_values) known.set(word.toLowerCase(), false)
    for (const word of true_values) known.set(word.toLowerCase(), true)
    return (value) => known.get(value.toLowerCase()) ?? new Unreadable('is neither yes nor no')
  },
  json: () => (value) => {
    try {
      return parseRecord(value)
    } catch (fault) {
      if (fault instanceof RecordFault) return new Unreadable('is not a JSON text')
      throw fault
    }
  },
  date: ({ formats = ['YYYY-MM-DD'] }) => {
    const wanted = formats.join(' or ')
    return (value) => parseDate(value, formats) ?? new Unreadable(`is not a date in the form ${wanted}`)
  },
}

export const pointerSteps = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

interface Target {
  readonly pointer: string
  readonly steps: readonly string[]
  /** The only step, when there is one: the common case is a plain assignment. */
  readonly only: string | undefined
}

function target(pointer: string): Target {
  const steps = pointerSteps(pointer)
  if (steps.includes('__proto__')) refuseSource('layout_unknown', 'A member cannot be called "__proto__".')
  return { pointer, steps, only: steps.length === 1 ? steps[0] : undefined }
}

function put(entry: Entry, { steps, only }: Target, value: unknown): void {
  if (only !== undefined) {
    entry[only] = value
    return
  }
  if (steps.length === 0) {
    for (const [name, member] of Object.entries(value as Entry)) setMember(entry, name, member)
    return
  }
  let inside = entry
  for (const step of steps.slice(0, -1)) {
    if (!Object.hasOwn(inside, step)) inside[step] = {}
    inside = inside[step] as Entry
  }
  inside[steps.at(-1) as string] = value
}

/** Members of the entry itself, as one JSON object. */
const members: Convert = (text) => {
  if (text.trim() === '') return undefined
  const value = readers.json({})(text)
  return isObject(value) || value instanceof Unreadable ? value : new Unreadable('is not a JSON object')
}

export type MapRecord = (fields: readonly string[], at: SourceLocation) => Entry | Reject[]

/** A function from the fields of a record to its entry. Without `columns` every header becomes a member of the same name. */
export function mapColumns(
  header: readonly string[],
  columns: readonly ColumnMapping[] | undefined,
  shared: MappingRules,
): MapRecord {
  const mappings: readonly ColumnMapping[] = columns ?? everyColumn(header)
  const fields = mappings.flatMap((mapping) => {
    const index = columnIndex(header, mapping)
    if (index < 0) return []
    const name = header[index] as string
    return [
      {
        index,
        name,
        required: mapping.required ?? false,
        to: target(mapping.pointer),
        read: mapping.pointer === '' ? members : converter(mapping, shared),
      },
    ]
  })
  return (values, at) => {
    const entry: Entry = {}
    let rejects: Reject[] | undefined
    for (let each = 0; each < fields.length; each++) {
      const { index, name, required, to, read } = fields[each] as (typeof fields)[number]
      const given = values[index] ?? ''
      const value = read(given)
      if (value instanceof Unreadable || (value === undefined && required)) {
        rejects ??= []
        rejects.push(refusal(value, name, given, to.pointer, at))
      } else if (value !== undefined) put(entry, to, value)
    }
    return rejects ?? entry
  }
}

/** Columns that nothing is taken from, in a sentence; null when all are read, or the mapping was chosen by hand. */
export function unreadColumns(header: readonly string[], columns: readonly ColumnMapping[] | undefined): string | null {
  if (!columns?.every(({ column, optional }) => optional && typeof column === 'string')) return null
  const read = new Set<unknown>(columns.map(({ column }) => column))
  const names = header.filter((name) => name !== '' && !read.has(name))
  if (names.length === 0) return null
  const listed = names.slice(0, 20).map((name) => `"${name}"`)
  if (names.length > listed.length) listed.push('…')
  const what = names.length === 1 ? 'The column is not read' : `${names.length} columns are not read`
  return `${what}, since no member of the type has this name: ${listed.join(', ')}.`
}

function refusal(value: unknown, column: string, given: string, pointer: string, at: SourceLocation): Reject {
  const where = { ...at, column }
  return value instanceof Unreadable
    ? reject('value_unreadable', `"${column}" ${value.message}.`, where, given, pointer)
    : reject('value_missing', `"${column}" is empty, but required.`, where, given, pointer)
}

function everyColumn(header: readonly string[]): ColumnMapping[] {
  const seen = new Set<string>()
  return header.flatMap((name, index) => {
    if (name === '') return []
    if (seen.has(name)) refuseSource('column_duplicate', `Two columns are called "${name}". Map them by number.`)
    seen.add(name)
    return [{ column: index + 1, pointer: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` }]
  })
}

function columnIndex(header: readonly string[], { column, optional }: ColumnMapping): number {
  if (typeof column === 'number') {
    if (column <= header.length) return column - 1
  } else {
    const index = header.indexOf(column)
    if (index >= 0 && header.indexOf(column, index + 1) >= 0) {
      refuseSource('column_duplicate', `Two columns are called "${column}". Map them by number.`)
    }
    if (index >= 0) return index
  }
  if (optional) return -1
  const found = header.slice(0, 20).map((name) => `"${name}"`)
  refuseSource('column_missing', `There is no column "${column}". The columns are: ${found.join(', ')}.`)
}

/** The same for records that are objects already: members move, and texts are read as what they are said to be. */
export function mapMembers(members: readonly MemberMapping[] | undefined, shared: MappingRules) {
  if (members === undefined) return (record: Entry): Entry | Reject[] => record
  const fields = members.map((mapping) => {
    const { from, pointer, required = false, kind } = mapping
    const read = converter(mapping, shared)
    return { from: pointerSteps(from), name: from, required, kind, to: target(pointer), read }
  })
  return (record: Entry, at: SourceLocation): Entry | Reject[] => {
    const entry: Entry = {}
    const rejects: Reject[] = []
    for (const { from, name, required, kind, to, read } of fields) {
      const given = from.reduce<unknown>(stepInto, record) ?? undefined
      const value = typeof given === 'string' ? read(given) : kind === undefined ? given : typed(given, kind)
      if (value instanceof Unreadable || (value === undefined && required)) {
        rejects.push(
          refusal(value, name, typeof given === 'string' ? given : JSON.stringify(given ?? null), to.pointer, at),
        )
      } else if (value !== undefined) put(entry, to, value)
    }
    return rejects.length > 0 ? rejects : entry
  }
}

function stepInto(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
  return (value as Record<string, unknown>)[step]
}

/** A value that is not text keeps its own type, if that is the one asked for. */
function typed(value: unknown, kind: NonNullable<ValueRules['kind']>): unknown {
  if (value === undefined || kind === 'json') return value
  if (kind === 'boolean' && typeof value === 'boolean') return value
  if (kind === 'integer' && Number.isSafeInteger(value)) return value
  if (kind === 'decimal' && typeof value === 'number') return value
  return new Unreadable(`is not ${kind === 'integer' ? 'an' : 'a'} ${kind}`)
}
