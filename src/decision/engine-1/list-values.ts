/**
 * Values that a test takes from lists: each becomes what it would be written out, or a finding at the cell that names it. What
 * a list lacks, or what does not fit the column, is never taken for anything else.
 */
import type { BoundList, UsedEntry } from '../model.ts'
import type { Binder } from './binder.ts'
import { parserOf } from './inputs.ts'
import type { Condition, Subject } from './layout.ts'
import { formatDate, formatScaled } from './scalars.ts'
import { shown } from './shape.ts'
import {
  type Column,
  intervalOf,
  isOperand,
  type ListOperand,
  operandsOf,
  type Scalar,
  type Term,
  type UnaryTest,
  type WrittenTerm,
  writeTest,
} from './unary.ts'

export interface BoundTest {
  readonly test: UnaryTest
  /** What it was compared with. */
  readonly used: readonly UsedEntry[]
  /** `Amount ≥ 10,000.00 (thresholds v3, cash-structuring)`; null where everything is written out. */
  readonly words: string | null
}

const ANYTHING: BoundTest = { test: { form: 'any' }, used: [], words: null }

export function bindTest({ subject, test }: Condition<ListOperand>, pointer: string, binder: Binder): BoundTest {
  if (operandsOf(test).length === 0) return { test: test as UnaryTest, used: [], words: null }
  const before = binder.findings.count
  const operands = new Operands(subject, pointer, binder)
  const terms = test.form === 'any' ? [] : test.terms.map(operands.term)
  // There is a finding; a definition with findings is never run.
  if (binder.findings.count > before) return ANYTHING
  const words = `${subject.title} ${writeTest(test, { compare: compareWords, value: operands.words })}`
  return { test: { form: 'terms', terms }, used: operands.used, words }
}

const SYMBOLS = { '=': '=', '<': '<', '<=': '≤', '>': '>', '>=': '≥' } as const
const compareWords = (sign: keyof typeof SYMBOLS, value: string): string => `${SYMBOLS[sign]} ${value}`

/** The values one test takes from lists. */
class Operands {
  readonly used: UsedEntry[] = []
  private readonly subject: Subject
  private readonly pointer: string
  private readonly binder: Binder

  constructor(subject: Subject, pointer: string, binder: Binder) {
    this.subject = subject
    this.pointer = pointer
    this.binder = binder
  }

  readonly term = (term: WrittenTerm): Term => {
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

  private range(written: Extract<WrittenTerm, { form: 'range' }>): Term {
    const { findings } = this.binder
    const before = findings.count
    const first = this.used.length
    const [from, to] = [this.plain(written.from) as number, this.plain(written.to) as number]
    const term = { ...written, from, to }
    const whole = intervalOf(term)
    if (whole.from > whole.to && findings.count === before) {
      const ends = [from, to].map((end) => valueText(end, this.subject.column)).join(' to ')
      const sources = this.used.slice(first).map(({ list_key, key }) => `the entry "${key}" of the list "${list_key}"`)
      const message = `${this.subject.title}: no value lies in the range from ${ends}, by ${[...new Set(sources)].join(' and ')}.`
      findings.error('range_empty', this.pointer, message)
    }
    return term
  }

  private plain(value: Scalar | ListOperand): Scalar {
    if (!isOperand(value)) return value
    const { findings } = this.binder
    const before = findings.count
    const bound = this.binder.value(value, this.pointer)
    if (findings.count > before || !bound.used) return bound.value
    this.used.push(bound.used)
    return fitting(bound.value, value, this.subject.column) ?? this.refuse(bound.value, value)
  }

  private refuse(value: Scalar, { list_key, key, field, minor }: ListOperand): Scalar {
    const { title, column } = this.subject
    const said = `The list "${list_key}" says ${shown(value)} at "${field}" of "${key}"`
    if (column.kind === 'text' && typeof value === 'string') {
      this.binder.findings.error('test_value', this.pointer, `${said}, which is not a value that ${title} may have.`)
      return value
    }
    const hint =
      column.kind === 'decimal' && !minor && Number.isSafeInteger(value)
        ? '; if it counts the smallest unit, write minor(…)'
        : ''
    const message = `${said}, but ${title} is compared with ${minor ? WANTED.minor : WANTED[column.kind]}${hint}.`
    this.binder.findings.error('test_type', this.pointer, message)
    return value
  }

  /** Only asked for once everything is bound. */
  readonly words = (value: Scalar | ListOperand): string => {
    const { column } = this.subject
    if (!isOperand(value)) return valueText(value, column)
    const list = this.binder.list(value.list_key, this.pointer)
    const found = fitting(this.binder.value(value, this.pointer).value, value, column) as Scalar
    return `${valueText(found, column)} (${versionText(list)}, ${value.key})`
  }
}

const WANTED = {
  text: 'a text',
  boolean: 'true or false',
  integer: 'a whole number',
  decimal: 'a number as text, such as "12.50", with no more digits after the point than it has itself',
  date: 'a date as text, such as "2024-01-31"',
  minor: 'a whole number of its smallest unit',
} as const

/** As the column is tested; undefined where it does not fit. Numbers mean themselves only where nothing has to be scaled. */
function fitting(value: Scalar, { minor }: ListOperand, { kind, scale, values }: Column): Scalar | undefined {
  switch (kind) {
    case 'text':
      return typeof value === 'string' && (!values || values.includes(value)) ? value : undefined
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    default:
      return parserOf(minor ? 'integer' : kind, scale)(value)
  }
}

const versionText = ({ list_key, version, overlay_hash }: BoundList): string =>
  `${list_key} v${version}${overlay_hash === null ? '' : ' with its overlay'}`

/** For reading: thousands apart. */
function valueText(value: Scalar, { kind, scale }: Column): string {
  if (typeof value !== 'number') return typeof value === 'string' ? JSON.stringify(value) : String(value)
  if (kind === 'date') return formatDate(value)
  const [whole, ...digits] = formatScaled(value, scale).split('.')
  return [whole?.replace(/\B(?=(?:\d{3})+$)/g, ','), ...digits].join('.')
}

/** The sentence that says what rows or triggers were compared with; null where nothing came from lists. */
export function listsSentence(words: readonly (string | null)[]): string | null {
  const said = words.filter((text) => text !== null)
  return said.length === 0 ? null : `By the lists: ${said.join(', ')}.`
}

/** What was written, and behind it what the lists had to do with it. */
export const withLists = (reason: string, by_lists: string | null): string =>
  by_lists === null ? reason : `${reason} ${by_lists}`
