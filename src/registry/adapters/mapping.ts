/**
 * Maps records to entries: the target of each value, and defaults for missing ones. A value that does not fit its declared kind is
 * rejected with its column.
 */

import type { Entry, Reject, SourceLocation } from '../adapter.ts'
import { setMember } from '../content/json-pointer.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import { findMappingFaults } from './mapping-check.ts'
import type { ColumnMapping, ElementMapping, EntryRules, MemberMapping } from './mapping-options.ts'
import { appendTo, cloneValue, mergeEntries, parseTarget, parseTargetSteps, type Target } from './mapping-targets.ts'
import { type Convert, createConverter, members, splitting, typed, Unreadable } from './mapping-values.ts'

/** One mapped value of a record. */
interface Field<R> {
  /** Its column or member in the source, as messages name it. */
  readonly name: string
  readonly given: (record: R) => unknown
  /** The value, undefined for none, or an Unreadable. */
  readonly read: (given: unknown) => unknown
  readonly to: Target
  readonly required: boolean
  readonly fallback: unknown
  /** The value is a list of parts. */
  readonly is_split: boolean
}

interface ElementPlan<R> {
  readonly to: Target
  readonly fields: readonly Field<R>[]
  readonly constants: Entry
}

/** A record with values that cannot be read or are missing. */
export class RejectedRecord {
  /** The readable part. */
  readonly entry: Entry
  readonly rejects: readonly Reject[]
  constructor(entry: Entry, rejects: readonly Reject[]) {
    this.entry = entry
    this.rejects = rejects
  }
}

/** From a record to its entry. */
export interface Mapping<R> {
  map(record: R, at: SourceLocation): Entry | RejectedRecord
  /** Applies defaults to a grouped entry, or returns what is missing. */
  complete(entry: Entry, at: SourceLocation): Reject[]
}

class FieldMapping<R> implements Mapping<R> {
  private readonly fields: readonly Field<R>[]
  private readonly elements: readonly ElementPlan<R>[]
  private readonly constants: Readonly<Record<string, unknown>> | undefined
  private readonly is_grouped: boolean
  /** The entry starts as a copy of the record. */
  private readonly begin: ((record: R) => Entry) | undefined

  constructor(
    fields: readonly Field<R>[],
    elements: readonly ElementPlan<R>[],
    rules: EntryRules<unknown>,
    begin?: (record: R) => Entry,
  ) {
    this.fields = fields
    this.elements = elements
    this.constants = rules.constants
    this.is_grouped = rules.group_rows !== undefined
    this.begin = begin
  }

  map(record: R, at: SourceLocation): Entry | RejectedRecord {
    const entry: Entry = this.begin?.(record) ?? {}
    const rejects: Reject[] = []
    if (this.constants !== undefined) rejects.push(...addConstants(entry, this.constants, at))
    for (const field of this.fields) {
      const given = field.given(record)
      const value = field.read(given)
      if (value instanceof Unreadable) rejects.push(createReject(value, field, given, at))
      else if (value !== undefined) put(entry, field, value)
      else if (this.is_grouped) continue
      else if (field.required) rejects.push(createReject(undefined, field, given, at))
      else if (field.fallback !== undefined) putDefault(entry, field)
    }
    for (const plan of this.elements) {
      const made = buildElements(plan, record, at)
      if (made.rejects.length > 0) rejects.push(...made.rejects)
      else if (made.elements.length > 0 && !appendTo(entry, plan.to, made.elements)) {
        rejects.push(reject('value_unreadable', `${plan.to.pointer} is not an array.`, at, null, plan.to.pointer))
      }
    }
    return rejects.length > 0 ? new RejectedRecord(entry, rejects) : entry
  }

  complete(entry: Entry, at: SourceLocation): Reject[] {
    const rejects: Reject[] = []
    for (const field of this.fields) {
      if (field.to.find(entry) !== undefined) continue
      if (field.required) {
        const message = `"${field.name}" is empty in every row of the entry, but required.`
        rejects.push(reject('value_missing', message, { ...at, column: field.name }, null, field.to.pointer))
      } else if (field.fallback !== undefined) putDefault(entry, field)
    }
    return rejects
  }
}

function put<R>(entry: Entry, { to, is_split }: Field<R>, value: unknown): void {
  if (to.only !== undefined) entry[to.only] = value
  else if (to.is_appended) appendTo(entry, to, is_split ? (value as unknown[]) : [value])
  else if (to.steps.length === 0) {
    for (const [name, member] of Object.entries(value as Entry)) setMember(entry, name, member)
  } else to.set(entry, value)
}

function putDefault<R>(entry: Entry, field: Field<R>): void {
  const value = cloneValue(field.fallback)
  put(entry, field, field.is_split && !Array.isArray(value) ? [value] : value)
}

function addConstants(entry: Entry, constants: Readonly<Record<string, unknown>>, at: SourceLocation): Reject[] {
  const conflicts = mergeEntries(entry, cloneValue(constants) as Entry)
  return conflicts.map(({ pointer }) =>
    reject('value_ambiguous', `The record has another ${pointer} than the constants.`, at, null, pointer),
  )
}

/** The elements of a record; none when all its values are empty. */
function buildElements<R>(plan: ElementPlan<R>, record: R, at: SourceLocation) {
  const rejects: Reject[] = []
  let parts: Entry[] = [cloneValue(plan.constants) as Entry]
  let has_value = false
  const missing: Field<R>[] = []
  for (const field of plan.fields) {
    const given = field.given(record)
    const value = field.read(given)
    if (value instanceof Unreadable) rejects.push(createReject(value, field, given, { ...at, array: plan.to.pointer }))
    else if (value === undefined) missing.push(field)
    else {
      has_value = true
      if (field.is_split) parts = (value as unknown[]).flatMap((part) => parts.map((one) => withPart(one, field, part)))
      else for (const part of parts) put(part, field, value)
    }
  }
  if (!has_value) return { elements: [], rejects }
  for (const field of missing) {
    if (field.required)
      rejects.push(createReject(undefined, field, field.given(record), { ...at, array: plan.to.pointer }))
    else if (field.fallback !== undefined) for (const part of parts) put(part, field, cloneValue(field.fallback))
  }
  return { elements: parts, rejects }
}

function withPart<R>(element: Entry, field: Field<R>, value: unknown): Entry {
  const copy = cloneValue(element) as Entry
  put(copy, { ...field, is_split: false }, value)
  return copy
}

/** `at` has the pointer of the array when the field belongs to an element. */
function createReject<R>(
  value: unknown,
  field: Field<R>,
  given: unknown,
  { array = '', ...at }: SourceLocation & { readonly array?: string },
): Reject {
  const where = { ...at, column: field.name }
  const found = typeof given === 'string' ? given : JSON.stringify(given ?? null)
  const pointer = array === '' ? field.to.pointer : `${array}/*${field.to.pointer}`
  return value instanceof Unreadable
    ? reject('value_unreadable', `"${field.name}" ${value.message}.`, where, found, pointer)
    : reject('value_missing', `"${field.name}" is empty, but required.`, where, found, pointer)
}

/** Imports check the mapping before they start; this covers other callers. */
function assertMapping(rules: object): void {
  const [fault] = findMappingFaults(rules)
  if (fault) refuseSource('layout_unknown', `The mapping cannot be used: ${fault.pointer} ${fault.detail}.`)
}

type Cells = readonly string[]
const toRead = (convert: Convert) => convert as (given: unknown) => unknown

/** Maps the cells of a row to an entry. Without `columns` every header becomes a member of the same name. */
export function mapColumns(
  header: Cells,
  columns: readonly ColumnMapping[] | undefined,
  rules: EntryRules<ColumnMapping>,
): Mapping<Cells> {
  const mappings = columns ?? mapEveryColumn(header)
  assertMapping({ ...rules, columns: mappings })
  const createField = (mapping: ColumnMapping): Field<Cells> | null => {
    const index = columnIndex(header, mapping)
    if (index < 0 && mapping.default === undefined) return null
    // Cells are texts.
    const read = toRead(mapping.pointer === '' ? members : createConverter(mapping, rules))
    return {
      name: header[index] ?? String(mapping.column),
      given: (cells) => cells[index] ?? '',
      read: mapping.split === undefined ? read : splitting(read, mapping.split),
      to: parseTarget(mapping.pointer),
      required: mapping.required ?? false,
      fallback: mapping.default,
      is_split: mapping.split !== undefined,
    }
  }
  const createFields = (mappings: readonly ColumnMapping[]) =>
    mappings.map(createField).filter((field) => field !== null)
  const elements = (rules.elements ?? []).map(
    (element): ElementPlan<Cells> => ({
      to: parseTarget(`${element.pointer}/-`),
      fields: createFields(element.columns ?? []),
      constants: { ...element.constants },
    }),
  )
  return new FieldMapping(createFields(mappings), elements, rules)
}

/** A sentence about columns that are not read; null when all are read, or the mapping is not derived from the type. */
export function describeUnreadColumns(
  header: readonly string[],
  columns: readonly ColumnMapping[] | undefined,
  elements: readonly ElementMapping<ColumnMapping>[] = [],
): string | null {
  if (!columns?.every(({ column, optional }) => optional && typeof column === 'string')) return null
  const of_elements = elements.flatMap((element) => element.columns ?? [])
  const read = new Set([...columns, ...of_elements].map(({ column }) => column))
  const names = header.filter((name, index) => name !== '' && !read.has(name) && !read.has(index + 1))
  if (names.length === 0) return null
  const listed = names.slice(0, 20).map((name) => `"${name}"`)
  if (names.length > listed.length) listed.push('…')
  const what = names.length === 1 ? 'The column is not read' : `${names.length} columns are not read`
  return `${what}, since no member of the type has this name: ${listed.join(', ')}.`
}

function mapEveryColumn(header: readonly string[]): ColumnMapping[] {
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

/** Maps records that are objects: moves members and converts texts to their declared kinds. */
export function mapMembers(
  mappings: readonly MemberMapping[] | undefined,
  rules: EntryRules<MemberMapping>,
): Mapping<Entry> {
  assertMapping({ ...rules, members: mappings })
  const createField = (mapping: MemberMapping): Field<Entry> => {
    const { from, pointer, required = false, kind, split } = mapping
    const [steps, convert] = [parseTargetSteps(from), createConverter(mapping, rules)]
    const readOne = (given: unknown) =>
      typeof given === 'string' ? convert(given) : kind === undefined ? given : typed(given, kind)
    return {
      name: from,
      given: (record) => steps.reduce<unknown>(stepInto, record) ?? undefined,
      read: split === undefined ? readOne : splitting(readOne, split),
      to: parseTarget(pointer),
      required,
      fallback: mapping.default,
      is_split: split !== undefined,
    }
  }
  const elements = (rules.elements ?? []).map(
    (element): ElementPlan<Entry> => ({
      to: parseTarget(`${element.pointer}/-`),
      fields: (element.members ?? []).map(createField),
      constants: { ...element.constants },
    }),
  )
  const begin = mappings === undefined ? (record: Entry) => record : undefined
  return new FieldMapping((mappings ?? []).map(createField), elements, rules, begin)
}

function stepInto(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
  return (value as Record<string, unknown>)[step]
}
