/**
 * Converts texts to the kind a mapping declares: text, number, boolean, date or JSON. A text that does not fit is refused with a
 * reason and never coerced.
 */
import { isObject } from '../content/json-pointer.ts'
import { parseRecord, RecordFault } from '../formats/json-record.ts'
import { parseDate } from './dates.ts'

export const kinds = ['text', 'integer', 'decimal', 'boolean', 'date', 'json'] as const
export type Kind = (typeof kinds)[number]

export interface MappingRules {
  readonly null_values?: readonly string[] | undefined
  readonly trim?: boolean | undefined
}

export interface ValueRules {
  readonly kind?: Kind | undefined
  readonly formats?: readonly string[] | undefined
  readonly decimal_separator?: '.' | ',' | undefined
  readonly true_values?: readonly string[] | undefined
  readonly false_values?: readonly string[] | undefined
  readonly null_values?: readonly string[] | undefined
  readonly values?: Readonly<Record<string, string>> | undefined
}

/** Why a text does not fit its kind; a sentence without its column. */
export class Unreadable {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

export type Convert = (text: string) => unknown

/** Returns the value, undefined for none, or an Unreadable. */
export function createConverter(rules: ValueRules, shared: MappingRules): Convert {
  // Only texts keep the white space around them.
  const trim = (shared.trim ?? false) || (rules.kind ?? 'text') !== 'text'
  const nulls = new Set(rules.null_values ?? shared.null_values ?? [''])
  nulls.add('')
  const read = readers[rules.kind ?? 'text'](rules)
  const translated = rules.values && new Map(Object.entries(rules.values))
  return (given) => {
    const trimmed = given.trim()
    const value = trim ? trimmed : given
    // A blank cell is no value, even where white space is kept: tables cannot distinguish it from an empty text.
    return trimmed === '' || nulls.has(trimmed) || nulls.has(value)
      ? undefined
      : read(translated?.get(trimmed) ?? value)
  }
}

/** A number in the form that exports write, with an exponent or to the last digit. */
function parseExportedNumber(text: string): number | undefined {
  const number = Number(text)
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER && String(number) === text ? number : undefined
}

const readers: Record<Kind, (rules: ValueRules) => Convert> = {
  text: () => (value) => value,
  integer: () => (value) => {
    if (!/^[+-]?\d{1,20}$/.test(value)) return new Unreadable('is not a whole number')
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : new Unreadable('is beyond the numbers that can be kept exactly')
  },
  decimal: ({ decimal_separator = '.' }) => {
    const pattern = decimal_separator === ',' ? /^[+-]?\d+(,\d+)?$/ : /^[+-]?\d+(\.\d+)?$/
    return (value) => {
      if (!pattern.test(value)) return parseExportedNumber(value) ?? new Unreadable('is not a decimal number')
      const digits = value.replace(/^[+-]?0*|[.,]/g, '')
      return digits.length > 15
        ? (parseExportedNumber(value) ?? new Unreadable('has more digits than can be kept exactly'))
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

/** Members of the entry itself, as one JSON object. */
export const members: Convert = (text) => {
  if (text.trim() === '') return undefined
  const value = readers.json({})(text)
  return isObject(value) || value instanceof Unreadable ? value : new Unreadable('is not a JSON object')
}

/** Accepts a value that is not text only when it already has the declared type. */
export function typed(value: unknown, kind: Kind): unknown {
  if (value === undefined || kind === 'json') return value
  if (kind === 'boolean' && typeof value === 'boolean') return value
  if (kind === 'integer' && Number.isSafeInteger(value)) return value
  if (kind === 'decimal' && typeof value === 'number') return value
  return new Unreadable(`is not ${kind === 'integer' ? 'an' : 'a'} ${kind}`)
}

type Read = (given: unknown) => unknown

/** Reads each part of a text, or each element of an array; parts without a value are left out. */
export const splitting =
  (read: Read, separator: string): Read =>
  (given) => {
    const parts = typeof given === 'string' ? given.split(separator) : Array.isArray(given) ? given : [given]
    const values: unknown[] = []
    for (const part of parts) {
      const value = read(typeof part === 'string' ? part.trim() : part)
      if (value instanceof Unreadable) return new Unreadable(`has a part that ${value.message}`)
      if (value !== undefined && value !== null) values.push(value)
    }
    return values.length === 0 ? undefined : values
  }
