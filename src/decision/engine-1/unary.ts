/**
 * Unary tests as a typed tree: what a cell of a decision table or a condition of a trigger says about one value. The text is
 * read by unary-parser.ts; here are the tree, the columns that type it, and its canonical text.
 */
import type { Input, ListValue } from '../model.ts'
import { formatDate, formatScaled } from './scalars.ts'

/**
 * What is tested. Integers, decimals and dates are held as whole numbers: decimals scaled by `scale` digits, dates as days
 * since 1970-01-01. So between two neighbours there is nothing, and every range is one of integers.
 */
export interface Column {
  readonly kind: 'text' | 'boolean' | 'integer' | 'decimal' | 'date'
  /** Digits after the point; 0 for everything but decimals. */
  readonly scale: number
  /** The allowed texts where the definition lists them; null where any text may come, or where a list says which. */
  readonly values: readonly string[] | null
  /** The input is a list: the test holds when any one of its items passes it, so no test but `-` holds for an empty list. */
  readonly many: boolean
}

export type Scalar = string | number | boolean
export type Sign = '<' | '<=' | '>' | '>='

/** A value that stands in a list. With `minor` it is a whole number of the column's smallest unit: 1250 is 12.50. */
export interface ListOperand extends ListValue {
  readonly minor?: true
}

/** `L` is what may stand in place of a value: nothing once lists are bound. */
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

/** As it is written: values may stand in lists. */
export type UnboundTerm = Term<ListOperand>
export type UnboundTest = UnaryTest<ListOperand>

/** A score in basis points: that of an earlier factor, or of the whole. */
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

/** The whole numbers a comparison or range lets through, both ends included; infinite where it is open. */
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

/** Every list whose keys the test asks for, in the order they are named. */
export function findListKeys(test: UnboundTest): string[] {
  const inTerms = (terms: readonly UnboundTerm[]): string[] =>
    terms.flatMap((term) =>
      term.form === 'in_list' ? [term.list_key] : term.form === 'not' ? inTerms(term.terms) : [],
    )
  return test.form === 'any' ? [] : inTerms(test.terms)
}

/** Every value that the test takes from a list, in the order they stand. */
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

/** How the parts of a test are put into text. */
export interface TestPrinter {
  compare(sign: Sign | '=', value: string): string
  value(value: Scalar | ListOperand): string
}

/** The one text of a test: reading it gives the same tree again. */
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
