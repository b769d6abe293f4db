/**
 * Unary tests as a typed tree: the cells of decision tables and the conditions of triggers. unary-parser.ts parses the text; this file
 * has the tree, the columns that type it, and its canonical text.
 */
import type { Input, ListValue } from '../model.ts'
import { formatDate, formatScaled } from './scalars.ts'

/**
 * The type of a tested value. Integers, decimals and dates are represented as integers: decimals scaled by `scale` digits, dates as
 * days since 1970-01-01. So every range is a range of integers.
 */
export interface Column {
  readonly kind: 'text' | 'boolean' | 'integer' | 'decimal' | 'date'
  /** Digits after the point; 0 for everything but decimals. */
  readonly scale: number
  /** The allowed texts of the definition; null when any text is allowed or a list has the allowed ones. */
  readonly values: readonly string[] | null
  /** The input is a list: the test holds when any one of its items passes it, so no test but `-` holds for an empty list. */
  readonly many: boolean
}

export type Scalar = string | number | boolean
export type Sign = '<' | '<=' | '>' | '>='

/** A reference to a value in a list. With `minor` it is an integer of the column's smallest unit: 1250 is 12.50. */
export interface ListOperand extends ListValue {
  readonly minor?: true
}

/** `L` is the type of list references; `never` when lists are bound. */
export type Term<L = never> =
  | { readonly form: 'equals'; readonly value: Scalar | L }
  | { readonly form: 'compare'; readonly sign: Sign; readonly value: number | L }
  | {
      readonly form: 'range'
      readonly from: number | L
      readonly from_included: boolean
      readonly to: number | L
      readonly to_included: boolean
    }
  /** The value, as text, is the key of an entry of the list. */
  | { readonly form: 'in_list'; readonly list_key: string }
  /** None of the terms holds. */
  | { readonly form: 'not'; readonly terms: readonly Term<L>[] }

/** `-`, or terms of which at least one holds. */
export type UnaryTest<L = never> =
  | { readonly form: 'any' }
  | { readonly form: 'terms'; readonly terms: readonly Term<L>[] }

/** As written, with references to lists. */
export type UnboundTerm = Term<ListOperand>
export type UnboundTest = UnaryTest<ListOperand>

/** A score in basis points: of an earlier factor, or the total. */
export const SCORE_COLUMN: Column = { kind: 'integer', scale: 0, values: null, many: false }

export const DEFAULT_SCALE = 2

export function toColumn(input: Input): Column {
  const values = input.values ?? null
  switch (input.type) {
    case 'enum':
      return { kind: 'text', scale: 0, values, many: false }
    case 'list':
      return { kind: 'text', scale: 0, values, many: true }
    case 'string':
      return { kind: 'text', scale: 0, values: null, many: false }
    case 'decimal':
      return { kind: 'decimal', scale: input.scale ?? DEFAULT_SCALE, values: null, many: false }
    default:
      return { kind: input.type, scale: 0, values: null, many: false }
  }
}

/** The integers that pass a comparison or range, both ends included; infinite for an open end. */
export function toInterval(term: Extract<Term, { form: 'compare' | 'range' }>): { from: number; to: number } {
  if (term.form === 'range') {
    return { from: term.from + (term.from_included ? 0 : 1), to: term.to - (term.to_included ? 0 : 1) }
  }
  switch (term.sign) {
    case '<':
      return { from: Number.NEGATIVE_INFINITY, to: term.value - 1 }
    case '<=':
      return { from: Number.NEGATIVE_INFINITY, to: term.value }
    case '>':
      return { from: term.value + 1, to: Number.POSITIVE_INFINITY }
    case '>=':
      return { from: term.value, to: Number.POSITIVE_INFINITY }
  }
}

/** Every list whose keys the test looks up, in order. */
export function findListKeys(test: UnboundTest): string[] {
  const inTerms = (terms: readonly UnboundTerm[]): string[] =>
    terms.flatMap((term) =>
      term.form === 'in_list' ? [term.list_key] : term.form === 'not' ? inTerms(term.terms) : [],
    )
  return test.form === 'any' ? [] : inTerms(test.terms)
}

/** Every list reference of the test, in order. */
export function findOperands(test: UnboundTest): ListOperand[] {
  return test.form === 'any' ? [] : test.terms.flatMap(listTermValues).filter(isListOperand)
}

function listTermValues(term: UnboundTerm): (Scalar | ListOperand)[] {
  switch (term.form) {
    case 'equals':
    case 'compare':
      return [term.value]
    case 'range':
      return [term.from, term.to]
    case 'in_list':
      return []
    case 'not':
      return term.terms.flatMap(listTermValues)
  }
}

export const isListOperand = (value: Scalar | ListOperand): value is ListOperand => typeof value === 'object'

/** Prints the parts of a test. */
export interface TestPrinter {
  compare(sign: Sign | '=', value: string): string
  value(value: Scalar | ListOperand): string
}

/** The canonical text of a test: parsing it gives the same tree. */
export function printTest(test: UnboundTest, column: Column): string {
  return renderTest(test, {
    compare: (sign, value) => (sign === '=' ? value : `${sign} ${value}`),
    value: (value) => (isListOperand(value) ? printOperand(value) : printScalar(value, column)),
  })
}

export function renderTest(test: UnboundTest, script: TestPrinter): string {
  return test.form === 'any' ? '-' : renderTerms(test.terms, script)
}

const renderTerms = (terms: readonly UnboundTerm[], script: TestPrinter): string =>
  terms.map((term) => renderTerm(term, script)).join(', ')

function renderTerm(term: UnboundTerm, script: TestPrinter): string {
  switch (term.form) {
    case 'equals':
      return script.compare('=', script.value(term.value))
    case 'compare':
      return script.compare(term.sign, script.value(term.value))
    case 'range': {
      const ends = `${script.value(term.from)}..${script.value(term.to)}`
      return `${term.from_included ? '[' : '('}${ends}${term.to_included ? ']' : ')'}`
    }
    case 'in_list':
      return `in list(${term.list_key})`
    case 'not':
      return `not(${renderTerms(term.terms, script)})`
  }
}

/** Keys and fields that need no quotes. */
export const PLAIN_KEY = /[A-Za-z0-9][A-Za-z0-9_.|:-]*/y
export const PLAIN_FIELD = /[A-Za-z][A-Za-z0-9_]*/y

export function printOperand({ list_key, key, field, minor }: ListOperand): string {
  const value = `list(${list_key}, ${quoteIfNeeded(key, PLAIN_KEY)}).${quoteIfNeeded(field, PLAIN_FIELD)}`
  return minor ? `minor(${value})` : value
}

function quoteIfNeeded(text: string, plain: RegExp): string {
  plain.lastIndex = 0
  return plain.exec(text)?.[0] === text ? text : JSON.stringify(text)
}

export function printScalar(value: Scalar, column: Column): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'boolean') return String(value)
  return column.kind === 'date' ? `date("${formatDate(value)}")` : formatScaled(value, column.scale)
}
