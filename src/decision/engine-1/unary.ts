/**
 * Unary tests as a typed tree: what a cell of a decision table or a condition of a trigger says about one value. The text is
 * read by unary-parser.ts; here are the tree, the columns that type it, and its canonical text.
 */
import type { Input } from '../model.ts'
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

export type Term =
  | { readonly form: 'equals'; readonly value: Scalar }
  | { readonly form: 'compare'; readonly sign: Sign; readonly value: number }
  | {
      readonly form: 'range'
      readonly from: number
      readonly from_included: boolean
      readonly to: number
      readonly to_included: boolean
    }
  /** The value, as text, is the key of an entry of the list. */
  | { readonly form: 'in_list'; readonly list_key: string }
  /** None of the terms holds. */
  | { readonly form: 'not'; readonly terms: readonly Term[] }

/** `-`, or terms of which at least one holds. */
export type UnaryTest = { readonly form: 'any' } | { readonly form: 'terms'; readonly terms: readonly Term[] }

/** A score in basis points: that of an earlier factor, or of the whole. */
export const SCORE_COLUMN: Column = { kind: 'integer', scale: 0, values: null, many: false }

export const DEFAULT_SCALE = 2

export function columnOf(input: Input): Column {
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
export function intervalOf(term: Extract<Term, { form: 'compare' | 'range' }>): { from: number; to: number } {
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

/** Every list the test asks, in the order they are named. */
export function listsOf(test: UnaryTest): string[] {
  const inTerms = (terms: readonly Term[]): string[] =>
    terms.flatMap((term) =>
      term.form === 'in_list' ? [term.list_key] : term.form === 'not' ? inTerms(term.terms) : [],
    )
  return test.form === 'any' ? [] : inTerms(test.terms)
}

/** The one text of a test: reading it gives the same tree again. */
export function printTest(test: UnaryTest, column: Column): string {
  return test.form === 'any' ? '-' : printTerms(test.terms, column)
}

const printTerms = (terms: readonly Term[], column: Column): string =>
  terms.map((term) => printTerm(term, column)).join(', ')

function printTerm(term: Term, column: Column): string {
  switch (term.form) {
    case 'equals':
      return printScalar(term.value, column)
    case 'compare':
      return `${term.sign} ${printScalar(term.value, column)}`
    case 'range': {
      const ends = `${printScalar(term.from, column)}..${printScalar(term.to, column)}`
      return `${term.from_included ? '[' : '('}${ends}${term.to_included ? ']' : ')'}`
    }
    case 'in_list':
      return `in list(${term.list_key})`
    case 'not':
      return `not(${printTerms(term.terms, column)})`
  }
}

export function printScalar(value: Scalar, column: Column): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'boolean') return String(value)
  return column.kind === 'date' ? `date("${formatDate(value)}")` : formatScaled(value, column.scale)
}
