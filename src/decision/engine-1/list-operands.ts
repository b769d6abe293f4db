/**
 * Resolves list references in tests: each becomes a literal, or a finding at its cell when the value is missing or does not fit the
 * column.
 */
import type { BoundList, UsedEntry } from '../model.ts'
import type { Binder } from './binder.ts'
import { getParser } from './inputs.ts'
import type { Condition, Subject } from './layout.ts'
import { formatDate, formatScaled } from './scalars.ts'
import { formatForMessage } from './shape.ts'
import {
  type Column,
  findOperands,
  isListOperand,
  type ListOperand,
  renderTest,
  type Scalar,
  type Term,
  toInterval,
  type UnaryTest,
  type UnboundTerm,
} from './unary.ts'

export interface BoundTest {
  readonly test: UnaryTest
  /** The list values it was compared with. */
  readonly used: readonly UsedEntry[]
  /** `Amount ≥ 10,000.00 (thresholds v3, cash-structuring)`; null when the test has only literals. */
  readonly words: string | null
}

const ANY_TEST: BoundTest = { test: { form: 'any' }, used: [], words: null }

export function bindTest({ subject, test }: Condition<ListOperand>, pointer: string, binder: Binder): BoundTest {
  if (findOperands(test).length === 0) return { test: test as UnaryTest, used: [], words: null }
  const before = binder.findings.count
  const operands = new OperandBinder(subject, pointer, binder)
  const terms = test.form === 'any' ? [] : test.terms.map(operands.term)
  // A finding was added; a definition with findings is never run.
  if (binder.findings.count > before) return ANY_TEST
  const words = `${subject.title} ${renderTest(test, { compare: formatComparison, value: operands.words })}`
  return { test: { form: 'terms', terms }, used: operands.used, words }
}

const SYMBOLS = { '=': '=', '<': '<', '<=': '≤', '>': '>', '>=': '≥' } as const
const formatComparison = (sign: keyof typeof SYMBOLS, value: string): string => `${SYMBOLS[sign]} ${value}`

/** Binds the list references of one test. */
class OperandBinder {
  readonly used: UsedEntry[] = []
  private readonly subject: Subject
  private readonly pointer: string
  private readonly binder: Binder

  constructor(subject: Subject, pointer: string, binder: Binder) {
    this.subject = subject
    this.pointer = pointer
    this.binder = binder
  }

  readonly term = (term: UnboundTerm): Term => {
    switch (term.form) {
      case 'equals':
        return { form: 'equals', value: this.plain(term.value) }
      case 'compare':
        return { ...term, value: this.plain(term.value) as number }
      case 'range':
        return this.range(term)
      case 'in_list':
        return term
      case 'not':
        return { form: 'not', terms: term.terms.map(this.term) }
    }
  }

  private range(written: Extract<UnboundTerm, { form: 'range' }>): Term {
    const { findings } = this.binder
    const before = findings.count
    const first = this.used.length
    const [from, to] = [this.plain(written.from) as number, this.plain(written.to) as number]
    const term = { ...written, from, to }
    const whole = toInterval(term)
    if (whole.from > whole.to && findings.count === before) {
      const ends = [from, to].map((end) => formatReadable(end, this.subject.column)).join(' to ')
      const sources = this.used.slice(first).map(({ list_key, key }) => `the entry "${key}" of the list "${list_key}"`)
      const message = `${this.subject.title}: no value lies in the range from ${ends}, by ${[...new Set(sources)].join(' and ')}.`
      findings.error('range_empty', this.pointer, message)
    }
    return term
  }

  private plain(value: Scalar | ListOperand): Scalar {
    if (!isListOperand(value)) return value
    const { findings } = this.binder
    const before = findings.count
    const bound = this.binder.bindValue(value, this.pointer)
    if (findings.count > before || !bound.used) return bound.value
    this.used.push(bound.used)
    return toColumnValue(bound.value, value, this.subject.column) ?? this.refuse(bound.value, value)
  }

  private refuse(value: Scalar, { list_key, key, field, minor }: ListOperand): Scalar {
    const { title, column } = this.subject
    const said = `The list "${list_key}" says ${formatForMessage(value)} at "${field}" of "${key}"`
    if (column.kind === 'text' && typeof value === 'string') {
      this.binder.findings.error('test_value', this.pointer, `${said}, which is not a value that ${title} may have.`)
      return value
    }
    const hint =
      column.kind === 'decimal' && !minor && Number.isSafeInteger(value)
        ? '; if it counts the smallest unit, write minor(…)'
        : ''
    const message = `${said}, but ${title} is compared with ${minor ? EXPECTED_TEXTS.minor : EXPECTED_TEXTS[column.kind]}${hint}.`
    this.binder.findings.error('test_type', this.pointer, message)
    return value
  }

  /** Called after binding only. */
  readonly words = (value: Scalar | ListOperand): string => {
    const { column } = this.subject
    if (!isListOperand(value)) return formatReadable(value, column)
    const list = this.binder.bindList(value.list_key, this.pointer)
    const found = toColumnValue(this.binder.bindValue(value, this.pointer).value, value, column) as Scalar
    return `${formatReadable(found, column)} (${formatListVersion(list)}, ${value.key})`
  }
}

const EXPECTED_TEXTS = {
  text: 'a text',
  boolean: 'true or false',
  integer: 'a whole number',
  decimal: 'a number as text, such as "12.50", with no more digits after the point than it has itself',
  date: 'a date as text, such as "2024-01-31"',
  minor: 'a whole number of its smallest unit',
} as const

/** The value in the form of the column; undefined when it does not fit. JSON numbers are accepted only when no scaling is needed. */
function toColumnValue(value: Scalar, { minor }: ListOperand, { kind, scale, values }: Column): Scalar | undefined {
  switch (kind) {
    case 'text':
      return typeof value === 'string' && (!values || values.includes(value)) ? value : undefined
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    default:
      return getParser(minor ? 'integer' : kind, scale)(value)
  }
}

const formatListVersion = ({ list_key, version, overlay_hash }: BoundList): string =>
  `${list_key} v${version}${overlay_hash === null ? '' : ' with its overlay'}`

/** With thousands separators. */
function formatReadable(value: Scalar, { kind, scale }: Column): string {
  if (typeof value !== 'number') return typeof value === 'string' ? JSON.stringify(value) : String(value)
  if (kind === 'date') return formatDate(value)
  const [whole, ...digits] = formatScaled(value, scale).split('.')
  return [whole?.replace(/\B(?=(?:\d{3})+$)/g, ','), ...digits].join('.')
}

/** The sentence about list values of rows or triggers; null when there are none. */
export function formatListsSentence(words: readonly (string | null)[]): string | null {
  const said = words.filter((text) => text !== null)
  return said.length === 0 ? null : `By the lists: ${said.join(', ')}.`
}

/** Appends the sentence about list values. */
export const appendListsSentence = (reason: string, by_lists: string | null): string =>
  by_lists === null ? reason : `${reason} ${by_lists}`
