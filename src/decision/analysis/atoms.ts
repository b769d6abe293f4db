/**
 * Partitions the values of one input into atoms: all values of an atom pass the same tests and are keys of the same lists, so one
 * example represents them all.
 */
import { createFieldReader } from '../engine-1/binder.ts'
import { formatValue } from '../engine-1/inputs.ts'
import { parseDate, parseScaled } from '../engine-1/scalars.ts'
import { type Column, type Scalar, type Term, toColumn, toInterval, type UnaryTest } from '../engine-1/unary.ts'
import type { BoundLists, Input, ListEntry } from '../model.ts'

/** One value, a range of integers, or all texts that the definition does not name; `value` is one of them. */
export interface Atom {
  readonly value: Scalar
  /** Both ends included; only numbers and dates have them. */
  readonly from?: number
  readonly to?: number
}

/** What distinguishes values of an input. */
export interface Distinctions {
  readonly tests: readonly UnaryTest[]
  /** Lists whose keys the values may be. */
  readonly list_keys: readonly string[]
  /** Values named elsewhere: keys of score maps, parts of composite keys. */
  readonly named: readonly string[]
}

/** Why the values of an input cannot be enumerated, as a message. */
export class NotAnalysable extends Error {
  override readonly name = 'NotAnalysable'
}

const MAX_ATOMS = 100_000
/** Limit for the keys of all lists together, including duplicates, to bound memory. */
const MAX_KEYS = 500_000
const FIRST_DATE = parseDate('0001-01-01') as number
const LAST_DATE = parseDate('9999-12-31') as number

/** Throws NotAnalysable when the values cannot be enumerated. */
export function buildAtoms(input: Input, by: Distinctions, lists: BoundLists): Atom[] {
  const column = toColumn(input)
  // A list that is not fully loaded cannot show that a value is not its key.
  const entries = by.list_keys.map((list_key) => requireEntries(list_key, lists))
  const count = entries.reduce((sum, { length }) => sum + length, 0)
  if (count > MAX_KEYS) throw new NotAnalysable(`its lists have ${count} keys together, more than ${MAX_KEYS}`)
  const keys = entries.flatMap((all) => all.map(({ key }) => key))
  const named = [...keys, ...by.named]
  const atoms = column.kind === 'text' ? textAtoms(input, by, named, lists) : orderedAtoms(input, column, by, named)
  if (atoms.length > MAX_ATOMS) {
    throw new NotAnalysable(`it has ${atoms.length} different values, more than ${MAX_ATOMS}`)
  }
  return atoms
}

function textAtoms(input: Input, by: Distinctions, named: readonly string[], lists: BoundLists): Atom[] {
  const allowed = allowedTexts(input, lists)
  if (allowed) return allowed.map((value) => ({ value }))
  const known = new Set(named)
  for (const test of by.tests) for (const text of listTestTexts(test)) known.add(text)
  return [...known, createUnusedText(known)].map((value) => ({ value }))
}

/** Null when any text is allowed. */
function allowedTexts(input: Input, lists: BoundLists): readonly string[] | null {
  if (input.values) return input.values
  if (!input.one_of) return null
  const { list_key, field } = input.one_of
  const entries = requireEntries(list_key, lists)
  if (field === undefined) return entries.map(({ key }) => key)
  const read = createFieldReader(field)
  const values = entries.map(({ entry }) => read(entry)).filter((value) => typeof value === 'string')
  return [...new Set(values)]
}

function requireEntries(list_key: string, lists: BoundLists): readonly ListEntry[] {
  const all = lists.get(list_key)?.all
  if (!all) throw new NotAnalysable(`the list ${list_key} is too large to be gone through`)
  return all
}

export function listTestTexts(test: UnaryTest): string[] {
  const inTerms = (terms: readonly Term[]): string[] =>
    terms.flatMap((term) => {
      if (term.form === 'not') return inTerms(term.terms)
      return term.form === 'equals' && typeof term.value === 'string' ? [term.value] : []
    })
  return test.form === 'any' ? [] : inTerms(test.terms)
}

function createUnusedText(known: ReadonlySet<string>): string {
  let other = 'any other text'
  while (known.has(other)) other += '.'
  return other
}

function orderedAtoms(input: Input, column: Column, by: Distinctions, named: readonly string[]): Atom[] {
  if (column.kind === 'boolean') return [{ value: true }, { value: false }]
  const { from, to } = getInputRange(input, column)
  const starts = new Set<number>([from])
  const add = (start: number): void => {
    if (start > from && start <= to) starts.add(start)
  }
  for (const test of by.tests) for (const start of listIntervalStarts(test)) add(start)
  for (const text of named) {
    const point = parseOrdered(text, column)
    if (point === undefined) continue
    add(point)
    add(point + 1)
  }
  const sorted = [...starts].sort((a, b) => a - b)
  return sorted.map((start, i) => {
    const end = (sorted[i + 1] ?? to + 1) - 1
    return { value: pickExample(start, end), from: start, to: end }
  })
}

/** Values where the result of a test on an ordered column may change, ascending; without list lookups. */
export function listIntervalStarts(test: UnaryTest): number[] {
  const inTerms = (terms: readonly Term[]): number[] =>
    terms.flatMap((term) => {
      if (term.form === 'not') return inTerms(term.terms)
      if (term.form === 'in_list') return []
      const value = term.form === 'equals' ? (term.value as number) : 0
      const { from, to } = term.form === 'equals' ? { from: value, to: value } : toInterval(term)
      return [from, to + 1]
    })
  return test.form === 'any' ? [] : inTerms(test.terms).sort((a, b) => a - b)
}

/** Prefers a realistic value over the limit of the number range. */
function pickExample(from: number, to: number): number {
  const isEdge = (value: number): boolean =>
    Math.abs(value) === Number.MAX_SAFE_INTEGER || value === FIRST_DATE || value === LAST_DATE
  if (isEdge(from) && isEdge(to)) return 0
  return isEdge(from) ? to : from
}

function getInputRange(input: Input, column: Column): { from: number; to: number } {
  const widest =
    column.kind === 'date'
      ? { from: FIRST_DATE, to: LAST_DATE }
      : { from: -Number.MAX_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }
  const limit = (text: number | string | undefined): number | undefined =>
    text === undefined ? undefined : parseOrdered(String(text), column)
  return { from: limit(input.minimum) ?? widest.from, to: limit(input.maximum) ?? widest.to }
}

const parseOrdered = (text: string, column: Column): number | undefined =>
  column.kind === 'date' ? parseDate(text) : parseScaled(text, column.scale)

/** The value in the form of the API. */
export const toWireValue = (value: Scalar, column: Column): Scalar =>
  column.kind === 'date' || column.kind === 'decimal' ? formatValue(value, column) : value

export function passesTest(test: UnaryTest, value: Scalar, column: Column, lists: BoundLists): boolean {
  return test.form === 'any' || test.terms.some((term) => termHolds(term, value, column, lists))
}

function termHolds(term: Term, value: Scalar, column: Column, lists: BoundLists): boolean {
  switch (term.form) {
    case 'equals':
      return term.value === value
    case 'in_list':
      return lists.get(term.list_key)?.get(formatValue(value, column)) !== undefined
    case 'not':
      return !term.terms.some((inner) => termHolds(inner, value, column, lists))
    default: {
      const { from, to } = toInterval(term)
      return from <= (value as number) && (value as number) <= to
    }
  }
}
