/**
 * Parses the text of a unary test into a tree, typed by its column. One pass from left to right within fixed limits; it never throws,
 * and reports the position and what was expected.
 */
import { isPointer } from '#registry/content/json-pointer.ts'
import { parseDate, parseScaled } from './scalars.ts'
import {
  type Column,
  isListOperand,
  type ListOperand,
  PLAIN_FIELD,
  PLAIN_KEY,
  type Scalar,
  type Sign,
  type Term,
  toInterval,
  type UnboundTerm,
  type UnboundTest,
} from './unary.ts'

export const MAX_TEST_CHARS = 2000
export const MAX_TERMS = 200
export const MAX_DEPTH = 5
/** Equals `slugPattern` of the kernel. */
export const LIST_KEY = /^[a-z0-9][a-z0-9_-]{0,99}$/
export const MAX_ENTRY_KEY_CHARS = 500
export const MAX_FIELD_CHARS = 200
const MAX_FOUND_CHARS = 20

export interface TestFault {
  readonly code: 'test_syntax' | 'test_type' | 'test_value' | 'test_limit'
  /** Character of the text, counted from 0. */
  readonly offset: number
  readonly message: string
}

export function parseTest(text: string, column: Column): UnboundTest | TestFault {
  if (text.length > MAX_TEST_CHARS) {
    const message = `A test may have ${MAX_TEST_CHARS} characters; this one has ${text.length}.`
    return { code: 'test_limit', offset: MAX_TEST_CHARS, message }
  }
  try {
    return new Parser(text, column).test()
  } catch (error) {
    if (error instanceof TestSyntaxError) return error.fault
    throw error
  }
}

export const isTestFault = (parsed: UnboundTest | TestFault): parsed is TestFault => 'code' in parsed

class TestSyntaxError extends Error {
  readonly fault: TestFault
  constructor(fault: TestFault) {
    super(fault.message)
    this.fault = fault
  }
}

const SPACE = /[ \t\r\n]*/y
const NUMBER = /-?[0-9]+(?:\.[0-9]+)?/y
const WORD = /[A-Za-z][A-Za-z0-9_]*/y
const SLUG = /[a-z0-9_-]+/y
/** Up to the quote that no backslash escapes. */
const STRING = /"(?:[^"\\]|\\.)*"/sy
const UNSTORABLE = /[\0\p{Surrogate}]/u

const EXPECTED = {
  text: 'a text in double quotes',
  boolean: 'true or false',
  integer: 'a whole number',
  decimal: 'a number',
  date: 'a date such as date("2024-01-31")',
} as const

class Parser {
  private readonly text: string
  private readonly column: Column
  private at = 0
  private count = 0

  constructor(text: string, column: Column) {
    this.text = text
    this.column = column
  }

  test(): UnboundTest {
    if (this.text.trim() === '-') return { form: 'any' }
    const terms = this.terms(0)
    if (this.at < this.text.length) this.refuse('test_syntax', 'a comma or the end')
    return { form: 'terms', terms }
  }

  private terms(depth: number): UnboundTerm[] {
    const terms: UnboundTerm[] = []
    do {
      if (++this.count > MAX_TERMS) this.fail('test_limit', `A test may have ${MAX_TERMS} terms.`)
      this.skipSpace()
      terms.push(this.term(depth))
      this.skipSpace()
    } while (this.accept(','))
    return terms
  }

  private term(depth: number): UnboundTerm {
    const start = this.at
    const next = this.text[start]
    if (next === '<' || next === '>') return this.comparison()
    if (next === '[' || next === '(' || next === ']') return this.range()
    const word = this.match(WORD)
    if (word === 'not') return this.negation(depth)
    if (word === 'in') return this.membership(start)
    this.at = start
    return { form: 'equals', value: this.value() }
  }

  private comparison(): UnboundTerm {
    const start = this.at
    const first = this.text[this.at++] as '<' | '>'
    const sign: Sign = this.accept('=') ? `${first}=` : first
    return { form: 'compare', sign, value: this.ordered(start) }
  }

  private range(): UnboundTerm {
    const start = this.at
    const opening = this.text[this.at++]
    const from = this.ordered(start)
    this.skipSpace()
    if (!this.accept('..')) this.refuse('test_syntax', '".." between the ends of the range')
    const to = this.ordered(start)
    this.skipSpace()
    const closing = this.text[this.at] ?? ''
    if (closing === '' || !')]['.includes(closing)) this.refuse('test_syntax', '"]", ")" or "[" after the range')
    this.at++
    const ends = { from_included: opening === '[', to_included: closing === ']' }
    if (isListOperand(from) || isListOperand(to)) return { form: 'range', from, to, ...ends }
    const term: Term = { form: 'range', from, to, ...ends }
    const whole = toInterval(term)
    if (whole.from > whole.to) this.fail('test_value', 'No value lies in this range.', start)
    return term
  }

  private negation(depth: number): UnboundTerm {
    this.skipSpace()
    if (depth === MAX_DEPTH) this.fail('test_limit', `not(…) may be nested ${MAX_DEPTH} deep.`)
    if (!this.accept('(')) this.refuse('test_syntax', '"(" after not')
    const terms = this.terms(depth + 1)
    if (!this.accept(')')) this.refuse('test_syntax', 'a comma or ")"')
    return { form: 'not', terms }
  }

  private membership(start: number): UnboundTerm {
    if (this.column.kind === 'decimal') this.fail('test_type', 'A decimal is never the key of a list.', start)
    this.skipSpace()
    if (this.match(WORD) !== 'list') this.refuse('test_syntax', 'list(list_key) after in')
    const list_key = this.listKey()
    this.skipSpace()
    if (!this.accept(')')) this.refuse('test_syntax', '")" after the key of the list')
    return { form: 'in_list', list_key }
  }

  /** From the bracket on. */
  private listKey(): string {
    this.skipSpace()
    if (!this.accept('(')) this.refuse('test_syntax', '"(" after list')
    this.skipSpace()
    const at = this.at
    const list_key = this.match(SLUG) ?? ''
    if (LIST_KEY.test(list_key)) return list_key
    this.at = at
    this.refuse('test_syntax', 'the key of a list, without quotes')
  }

  /** A literal, or a list reference: `list(list_key, key).field`. */
  private value(): Scalar | ListOperand {
    const start = this.at
    const word = this.match(WORD)
    if (word === 'list') return this.operand()
    if (word === 'minor') return this.minor(start)
    this.at = start
    return this.literal()
  }

  private minor(start: number): ListOperand {
    if (this.column.kind !== 'decimal') {
      this.fail('test_type', 'minor(…) counts the smallest unit of a decimal; other columns have none.', start)
    }
    this.skipSpace()
    if (!this.accept('(')) this.refuse('test_syntax', '"(" after minor')
    this.skipSpace()
    if (this.match(WORD) !== 'list') this.refuse('test_syntax', 'list(list_key, key).field in minor(…)')
    const operand = this.operand()
    this.skipSpace()
    if (!this.accept(')')) this.refuse('test_syntax', '")" after the value')
    return { ...operand, minor: true }
  }

  /** From the bracket on. */
  private operand(): ListOperand {
    const list_key = this.listKey()
    this.skipSpace()
    if (!this.accept(','))
      this.refuse('test_syntax', 'a comma and the key of an entry, as in list(list_key, key).field')
    this.skipSpace()
    const key = this.name(PLAIN_KEY, MAX_ENTRY_KEY_CHARS, 'the key of an entry, in quotes if it has other characters')
    this.skipSpace()
    if (!this.accept(')')) this.refuse('test_syntax', '")" after the key of the entry')
    if (!this.accept('.')) this.refuse('test_syntax', '"." and the name of a field')
    const start = this.at
    const field = this.name(PLAIN_FIELD, MAX_FIELD_CHARS, 'the name of a field, in quotes if it is a pointer')
    if (field.startsWith('/') && !isPointer(field)) this.fail('test_syntax', 'This is not a JSON pointer.', start)
    return { list_key, key, field }
  }

  /** Plain or in quotes. */
  private name(plain: RegExp, max_chars: number, expected: string): string {
    const start = this.at
    const name = this.text[start] === '"' ? this.string(expected) : this.match(plain)
    if (name === undefined || name === '') {
      this.at = start
      this.refuse('test_syntax', expected)
    }
    if (name.length > max_chars) this.fail('test_limit', `This may have ${max_chars} characters.`, start)
    return name
  }

  /** A value of an ordered column. */
  private ordered(start: number): number | ListOperand {
    if (this.column.kind === 'text' || this.column.kind === 'boolean') {
      const what = this.column.kind === 'text' ? 'Texts' : 'true and false'
      this.fail('test_type', `${what} have no order: only numbers and dates can be compared.`, start)
    }
    this.skipSpace()
    return this.value() as number | ListOperand
  }

  private literal(): Scalar {
    switch (this.column.kind) {
      case 'text':
        return this.allowedText()
      case 'boolean':
        return this.boolean()
      case 'date':
        return this.date()
      default:
        return this.number()
    }
  }

  private allowedText(): string {
    const start = this.at
    const value = this.string()
    const { values } = this.column
    if (values && !values.includes(value)) {
      this.fail('test_value', `${JSON.stringify(value)} is not one of the values this input may have.`, start)
    }
    return value
  }

  private string(expected: string = EXPECTED[this.column.kind]): string {
    const start = this.at
    const quoted = this.match(STRING)
    if (quoted === undefined) {
      this.refuse(this.text[start] === '"' ? 'test_syntax' : 'test_type', expected)
    }
    const value = unescapeString(quoted)
    if (value === undefined || UNSTORABLE.test(value)) {
      this.fail('test_syntax', 'This text has an escape or a character that is not allowed.', start)
    }
    return value
  }

  private boolean(): boolean {
    const start = this.at
    const word = this.match(WORD)
    if (word === 'true' || word === 'false') return word === 'true'
    this.at = start
    this.refuse('test_type', EXPECTED.boolean)
  }

  private date(): number {
    const start = this.at
    const called = this.match(WORD)
    if (called === 'date') {
      this.skipSpace()
      if (!this.accept('(')) this.refuse('test_syntax', '"(" after date')
      this.skipSpace()
    } else this.at = start
    const text = this.string()
    if (called === 'date') {
      this.skipSpace()
      if (!this.accept(')')) this.refuse('test_syntax', '")" after the date')
    }
    return parseDate(text) ?? this.fail('test_value', `"${text}" is not a date.`, start)
  }

  private number(): number {
    const start = this.at
    const digits = this.match(NUMBER)
    if (digits === undefined) this.refuse('test_type', EXPECTED[this.column.kind])
    const value = parseScaled(digits, this.column.scale)
    if (value !== undefined) return value
    const places =
      this.column.scale === 0 ? 'a whole number' : `a number with at most ${this.column.scale} digits after the point`
    this.fail('test_value', `${digits} is not ${places} within what can be counted exactly.`, start)
  }

  private skipSpace(): void {
    this.match(SPACE)
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    if (found !== undefined) this.at += found.length
    return found
  }

  private accept(token: string): boolean {
    if (!this.text.startsWith(token, this.at)) return false
    this.at += token.length
    return true
  }

  private refuse(code: TestFault['code'], expected: string): never {
    const rest = this.text.slice(this.at, this.at + MAX_FOUND_CHARS)
    this.fail(code, `Expected ${expected}, found ${rest === '' ? 'the end' : JSON.stringify(rest)}.`)
  }

  private fail(code: TestFault['code'], message: string, offset = this.at): never {
    throw new TestSyntaxError({ code, offset, message: `At character ${offset + 1}: ${message}` })
  }
}

function unescapeString(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}
