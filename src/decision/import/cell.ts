/**
 * Converts cells of foreign decision tables to the dialect of the engine: simple unary tests for inputs, one literal for outputs.
 * Anything else is refused with the name of the construct.
 */
import type { PolicyValue } from '../model.ts'
import { excerpt, UnsupportedConstruct } from './import-result.ts'
import { type Dialect, describeConstruct, type Token, tokenize } from './tokenizer.ts'

export type LiteralKind = 'text' | 'number' | 'boolean' | 'date'

export interface ImportedCell {
  /** In the engine's dialect. */
  readonly test: string
  /** Kinds of its literals, which determine the type of the column. */
  readonly kinds: ReadonlySet<LiteralKind>
  /** Maximum number of digits after the decimal point. */
  readonly scale: number
  /** Maximum number of digits before the decimal point. */
  readonly whole_digits: number
}

interface Literal {
  readonly kind: LiteralKind
  readonly text: string
}

const MAX_CELL_CHARS = 2000
const MAX_NESTED_NOTS = 5
export const ANY_CELL: ImportedCell = { test: '-', kinds: new Set(), scale: 0, whole_digits: 0 }

export function parseTests(text: string, dialect: Dialect, place: string): ImportedCell {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed === '-') return ANY_CELL
  return new CellReader(trimmed, dialect, place).tests()
}

/** The literal of an output cell. */
export function parseOutput(text: string, dialect: Dialect, place: string): PolicyValue {
  const reader = new CellReader(text.trim(), dialect, place)
  const literal = reader.onlyLiteral()
  if (literal.kind === 'number') return parseExactNumber(literal.text, place)
  if (literal.kind === 'boolean') return literal.text === 'true'
  return literal.text
}

/** Outputs are JSON numbers: a number that would be rounded is refused. */
export function parseExactNumber(text: string, place: string): number {
  const number = Number(text)
  const shortest = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  if (Object.is(number, -0)) return 0
  if (String(number) === shortest) return number
  throw new UnsupportedConstruct('number_inexact', place, `${excerpt(text)} has more digits than are kept exactly.`)
}

/** Comma-separated literals, such as the allowed values of an input; null for any other text. */
export function parseValues(text: string, dialect: Dialect): { kind: LiteralKind; text: string }[] | null {
  try {
    return new CellReader(text.trim(), dialect, '').literals()
  } catch (error) {
    if (error instanceof UnsupportedConstruct) return null
    throw error
  }
}

const formatLiteral = ({ kind, text }: Literal): string => {
  if (kind === 'text') return JSON.stringify(text)
  return kind === 'date' ? `date(${JSON.stringify(text)})` : text
}

class CellReader {
  private readonly source: string
  private readonly dialect: Dialect
  private readonly place: string
  private readonly tokens: readonly Token[]
  private at = 0
  private readonly kinds = new Set<LiteralKind>()
  private scale = 0
  private has_comma = false
  private whole_digits = 0

  constructor(source: string, dialect: Dialect, place: string) {
    this.source = source
    this.dialect = dialect
    this.place = place
    if (source.length > MAX_CELL_CHARS) {
      throw new UnsupportedConstruct('cell_too_long', place, `A cell may have ${MAX_CELL_CHARS} characters.`)
    }
    this.tokens = tokenize(source, dialect)
  }

  tests(): ImportedCell {
    const test = this.terms(0)
    if (this.at < this.tokens.length) this.refuse()
    return { test, kinds: this.kinds, scale: this.scale, whole_digits: this.whole_digits }
  }

  onlyLiteral(): Literal {
    if (this.source === '') {
      throw new UnsupportedConstruct(
        'output_empty',
        this.place,
        'This output is empty; every row must say every output.',
      )
    }
    const literal = this.literal()
    if (this.at < this.tokens.length) this.refuse()
    return literal
  }

  literals(): Literal[] {
    const found = [this.literal()]
    while (this.accept(',')) found.push(this.literal())
    if (this.at < this.tokens.length) this.refuse()
    return found
  }

  private terms(depth: number): string {
    const terms = [this.term(depth)]
    while (this.accept(',')) {
      this.has_comma = true
      terms.push(this.term(depth))
    }
    return terms.join(', ')
  }

  private term(depth: number): string {
    const next = this.tokens[this.at]
    if (next?.kind === 'name' && next.text === 'not' && this.dialect === 'feel') return this.negation(depth)
    if (next?.kind !== 'sign') return formatLiteral(this.literal())
    if (this.accept('==') || this.accept('=')) return formatLiteral(this.literal())
    if (this.accept('!=')) return `not(${formatLiteral(this.literal())})`
    if (['<', '<=', '>', '>='].includes(next.text)) return this.comparison()
    if (['[', '(', ']'].includes(next.text)) return this.range()
    return formatLiteral(this.literal())
  }

  private negation(depth: number): string {
    this.at++
    if (depth === MAX_NESTED_NOTS || !this.accept('(')) this.refuse()
    const inner = this.terms(depth + 1)
    if (!this.accept(')')) this.refuse()
    return `not(${inner})`
  }

  /** `> 2`, and in ZEN also `> 2 and <= 4`, which is a range. */
  private comparison(): string {
    const first = this.bound()
    const joined = this.tokens[this.at]
    if (this.dialect === 'feel' || joined?.kind !== 'name' || joined.text !== 'and') {
      return `${first.sign} ${formatLiteral(first.literal)}`
    }
    // ZEN evaluates from left to right: after a comma, `and` would apply to everything before it.
    if (this.has_comma) this.refuse()
    this.at++
    const second = this.bound()
    const [lower, upper] = first.sign.startsWith('>') ? [first, second] : [second, first]
    if (!lower.sign.startsWith('>') || !upper.sign.startsWith('<')) this.refuse()
    const [opening, closing] = [lower.sign === '>=' ? '[' : '(', upper.sign === '<=' ? ']' : ')']
    return `${opening}${formatLiteral(lower.literal)}..${formatLiteral(upper.literal)}${closing}`
  }

  private bound(): { sign: string; literal: Literal } {
    const sign = this.tokens[this.at]?.text ?? ''
    if (!['<', '<=', '>', '>='].includes(sign)) this.refuse()
    this.at++
    return { sign, literal: this.literal() }
  }

  private range(): string {
    const opening = this.tokens[this.at++]?.text as string
    const from = this.literal()
    if (!this.accept('..')) this.refuse()
    const to = this.literal()
    const closing = this.tokens[this.at++]?.text ?? ''
    if (![']', ')', '['].includes(closing)) this.refuse()
    return `${opening}${formatLiteral(from)}..${formatLiteral(to)}${closing}`
  }

  private literal(): Literal {
    const literal = this.plainLiteral()
    this.kinds.add(literal.kind)
    if (literal.kind === 'number') {
      const [whole = '', digits = ''] = literal.text.replace('-', '').split('.')
      this.scale = Math.max(this.scale, digits.length)
      this.whole_digits = Math.max(this.whole_digits, whole.length)
    }
    return literal
  }

  private plainLiteral(): Literal {
    const token = this.tokens[this.at++]
    if (token?.kind === 'text') return { kind: 'text', text: token.text }
    if (token?.kind === 'number') return { kind: 'number', text: token.text }
    if (token?.kind === 'name' && (token.text === 'true' || token.text === 'false')) {
      return { kind: 'boolean', text: token.text }
    }
    const following = this.tokens[this.at]
    if (token?.kind === 'sign' && token.text === '-' && following?.kind === 'number') {
      this.at++
      return { kind: 'number', text: `-${following.text}` }
    }
    if (token?.kind === 'sign' && token.text === '@' && following?.kind === 'text') {
      this.at++
      return this.date(following.text)
    }
    if (token?.kind === 'name' && token.text === 'date' && this.accept('(')) {
      const inside = this.tokens[this.at++]
      if (inside?.kind === 'text' && this.accept(')')) return this.date(inside.text)
    }
    this.refuse()
  }

  private date(text: string): Literal {
    return /^\d{4}-\d{2}-\d{2}$/.test(text) ? { kind: 'date', text } : this.refuse()
  }

  private accept(sign: string): boolean {
    const token = this.tokens[this.at]
    if (token?.kind !== 'sign' || token.text !== sign) return false
    this.at++
    return true
  }

  private refuse(): never {
    const construct = describeConstruct(this.source, this.dialect)
    const message = `${excerpt(this.source)} uses ${construct}; only simple tests and literal values are taken over.`
    throw new UnsupportedConstruct('construct_refused', this.place, message)
  }
}
