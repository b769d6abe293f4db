/** Titles and display order of the fields of an entry, from its type. Pure. */
import { toSentence } from './format.ts'

export interface FieldText {
  readonly title: string
  readonly unit?: string
  readonly description?: string
}
/** The members of a type that texts are built from. */
export interface TypeText {
  readonly key_pointers: readonly string[]
  readonly schema: object
  readonly fields: object
}

const unescapePointer = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~')
export const parsePointer = (pointer: string): string[] => pointer.split('/').slice(1).map(unescapePointer)

export function findField(type: Pick<TypeText, 'fields'>, pointer: string): FieldText | undefined {
  const fields = type.fields as Readonly<Record<string, FieldText>>
  return fields[pointer] ?? fields[pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*')]
}

/** `/birth_dates/0/date` → `Dates of birth 1, date`: each level by its title if it has one. */
export function getFieldTitle(type: Pick<TypeText, 'fields'>, pointer: string): string {
  const whole = findField(type, pointer)
  if (whole) return whole.title
  const segments = pointer.split('/').slice(1)
  const last = unescapePointer(segments.at(-1) ?? '')
  if (segments.length < 2) return toSentence(last)
  const parent = getFieldTitle(type, `/${segments.slice(0, -1).join('/')}`)
  if (last === '*') return parent
  return /^\d+$/.test(last) ? `${parent} ${Number(last) + 1}` : `${parent}, ${toSentence(last).toLowerCase()}`
}

const NAMES = ['name', 'title', 'label', 'term']

interface MemberSchema {
  readonly type?: string | readonly string[]
}
const isNested = ({ type }: MemberSchema): boolean => type === 'array' || type === 'object'

/** Fields of an entry in display order: key, name, plain values, then groups. */
export function listMembers(type: TypeText): string[] {
  const { properties = {}, required = [] } = type.schema as {
    properties?: Readonly<Record<string, MemberSchema>>
    required?: readonly string[]
  }
  const keys = type.key_pointers.map((pointer) => parsePointer(pointer)[0] ?? '')
  const rank = (name: string): number => {
    if (keys.includes(name)) return keys.indexOf(name)
    if (NAMES.includes(name)) return 10 + NAMES.indexOf(name)
    return (isNested(properties[name] ?? {}) ? 200 : 100) + (required.includes(name) ? 0 : 50)
  }
  return Object.keys(properties).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

/** The name of an entry, if it has one besides its key. */
export function getEntryName(entry: Readonly<Record<string, unknown>> | null): string | null {
  for (const member of NAMES) {
    const value = entry?.[member]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

/** A value as short text for a table cell. */
export function formatEntryValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return value.toLocaleString('en', { maximumFractionDigits: 20, useGrouping: false })
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(formatEntryValue).join(', ')
  if (typeof value === 'object') {
    const parts = Object.entries(value).filter(([, part]) => part !== null && part !== '')
    return (
      getEntryName(value as Readonly<Record<string, unknown>>) ??
      parts.map(([, part]) => formatEntryValue(part)).join(', ')
    )
  }
  return String(value)
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

/** The non-empty fields of an entry in display order, followed by those its type does not describe. */
export function listFilledMembers(type: TypeText, entry: Readonly<Record<string, unknown>>): string[] {
  const known = listMembers(type)
  const others = Object.keys(entry).filter((name) => !known.includes(name))
  return [...known, ...others].filter((name) => !isEmpty(entry[name]))
}
