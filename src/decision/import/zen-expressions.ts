/**
 * Converts ZEN expressions that compare fields with literals, combine such comparisons, and choose between literals to rows of a
 * decision table with the same meaning. Everything else is refused with the name of the construct.
 */
import { type ImportedCell, parseTests } from './cell.ts'
import { excerpt, UnsupportedConstruct } from './import-result.ts'
import { describeConstruct, type Token, tokenize } from './tokenizer.ts'

/** A field as the expression names it; `$.field` is an earlier output of the same node. */
export interface Field {
  readonly path: string
  readonly is_sibling: boolean
}
interface Test extends Field {
  /** As a table cell. */
  readonly cell: ImportedCell
  readonly form: 'equals' | 'differs' | 'above' | 'below' | 'other'
}
/** Tests that must hold together, at most one for each field. */
export type Conjunction = ReadonlyMap<string, Test>

/** The first conjunction that holds gives the value; `otherwise` when none does. */
export interface DecisionList {
  readonly rows: readonly { readonly when: Conjunction; readonly then: string }[]
  readonly otherwise: string
}

type Condition =
  | { readonly form: 'test'; readonly test: Test; readonly negated: Test }
  | { readonly form: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly form: 'constant'; readonly holds: boolean }
type Expression =
  | { readonly form: 'literal'; readonly text: string }
  | { readonly form: 'field'; readonly field: Field }
  | { readonly form: 'condition'; readonly condition: Condition }
  | { readonly form: 'choice'; readonly of: Condition; readonly then: Expression; readonly otherwise: Expression }

type Compared = Extract<Expression, { form: 'condition' }>

const MAX_CHARS = 4000
const MAX_DEPTH = 20
const MAX_ROWS = 200
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='] as const
type Comparison = (typeof COMPARISONS)[number]
const OPPOSITE = { '==': '!=', '!=': '==', '<': '>=', '>=': '<', '>': '<=', '<=': '>' } as const
const MIRRORED = { '==': '==', '!=': '!=', '<': '>', '>': '<', '<=': '>=', '>=': '<=' } as const
const FORMS = { '==': 'equals', '!=': 'differs', '<': 'below', '<=': 'below', '>': 'above', '>=': 'above' } as const
const RESERVED = new Set(['and', 'or', 'not', 'in', 'true', 'false', 'null'])

/** A condition of a switch, or in a column that reads no field. */
export function parseCondition(source: string, place: string): Conjunction[] {
  const reader = new ExpressionReader(source, place)
  return boundedAlternatives(reader.condition(), reader)
}

/** A cell of a column that reads a field, written as `$`. */
export function parseCellCondition(source: string, place: string, field: string): Conjunction[] {
  const reader = new ExpressionReader(source, place, field)
  return boundedAlternatives(reader.parseCell(), reader)
}

function boundedAlternatives(condition: Condition, reader: ExpressionReader): Conjunction[] {
  const conjunctions = toAlternatives(condition, reader)
  if (conjunctions.length > MAX_ROWS) reader.refuse('more alternatives than can be written as rows')
  return conjunctions
}

export function parseDecisionList(source: string, place: string): DecisionList {
  const reader = new ExpressionReader(source, place)
  const list = toDecisionList(reader.expression(), reader)
  if (list.rows.length > MAX_ROWS) reader.refuse('more alternatives than can be written as rows')
  return list
}

function toDecisionList(expression: Expression, reader: ExpressionReader): DecisionList {
  switch (expression.form) {
    case 'literal':
      return { rows: [], otherwise: expression.text }
    case 'field':
      return reader.refuse(`the value of the field "${expression.field.path}"`)
    case 'condition': {
      const rows = toAlternatives(expression.condition, reader).map((when) => ({ when, then: 'true' }))
      return { rows, otherwise: 'false' }
    }
    case 'choice': {
      const inner = toDecisionList(expression.then, reader)
      const rest = toDecisionList(expression.otherwise, reader)
      const rows = toAlternatives(expression.of, reader).flatMap((when) => [
        ...inner.rows.map((row) => ({ when: mergeConjunctions(when, row.when, reader), then: row.then })),
        { when, then: inner.otherwise },
      ])
      return { rows: [...rows, ...rest.rows], otherwise: rest.otherwise }
    }
  }
}

/** Disjunctive normal form; bounded, since joining alternatives multiplies them. */
function toAlternatives(condition: Condition, reader: ExpressionReader): Conjunction[] {
  switch (condition.form) {
    case 'constant':
      return condition.holds ? [new Map()] : []
    case 'test':
      return [new Map([[toKey(condition.test), condition.test]])]
    case 'any':
      return condition.of.flatMap((each) => toAlternatives(each, reader))
    case 'all': {
      let joined: Conjunction[] = [new Map()]
      for (const each of condition.of) {
        const further = toAlternatives(each, reader)
        if (joined.length * further.length > MAX_ROWS) reader.refuse('more alternatives than can be written as rows')
        joined = joined.flatMap((one) => further.map((other) => mergeConjunctions(one, other, reader)))
      }
      return joined
    }
  }
}

const toKey = ({ path, is_sibling }: Field): string => `${is_sibling ? '$.' : ''}${path}`

const FORM_PATTERNS: readonly [RegExp, Test['form']][] = [
  [/^>=? -?[\d.]+$/, 'above'],
  [/^<=? -?[\d.]+$/, 'below'],
  [/^not\((?:"[^"\\]*"|-?[\d.]+|true|false)\)$/, 'differs'],
]

/** A cell of a column, as a test of the field that the column reads. */
export const toConjunction = (path: string, cell: ImportedCell): Conjunction => {
  const form = FORM_PATTERNS.find(([pattern]) => pattern.test(cell.test))?.[1] ?? 'other'
  return new Map([[path, { path, is_sibling: false, form, cell }]])
}

export function mergeConjunctions(
  one: Conjunction,
  other: Conjunction,
  by: { refuse(construct: string): never },
): Conjunction {
  const joined = new Map(one)
  for (const [key, test] of other) {
    const known = joined.get(key)
    joined.set(key, known ? mergeTests(known, test, by) : test)
  }
  return joined
}

/** Merges two tests of one field when that is exact: a range, or a longer exclusion. */
function mergeTests(one: Test, other: Test, by: { refuse(construct: string): never }): Test {
  if (one.cell.test === other.cell.test) return one
  const cell = (test: string): ImportedCell => ({
    test,
    kinds: new Set([...one.cell.kinds, ...other.cell.kinds]),
    scale: Math.max(one.cell.scale, other.cell.scale),
    whole_digits: Math.max(one.cell.whole_digits, other.cell.whole_digits),
  })
  if (one.form === 'differs' && other.form === 'differs') {
    const listed = [one, other].map(({ cell: { test } }) => test.slice('not('.length, -1))
    return { ...one, cell: cell(`not(${listed.join(', ')})`) }
  }
  const lower = [one, other].find(({ form }) => form === 'above')?.cell.test
  const upper = [one, other].find(({ form }) => form === 'below')?.cell.test
  if (lower === undefined || upper === undefined) return by.refuse(`two tests of "${one.path}" at once`)
  const [opening, closing] = [lower.startsWith('>=') ? '[' : '(', upper.startsWith('<=') ? ']' : ')']
  const bound = (test: string) => test.replace(/^[<>]=? /, '')
  return { ...one, form: 'other', cell: cell(`${opening}${bound(lower)}..${bound(upper)}${closing}`) }
}

class ExpressionReader {
  private readonly source: string
  private readonly place: string
  private readonly self: string | undefined
  private readonly tokens: readonly Token[]
  private at = 0

  constructor(source: string, place: string, self?: string) {
    this.source = source.trim()
    this.place = place
    this.self = self
    if (source.length > MAX_CHARS) {
      throw new UnsupportedConstruct('cell_too_long', place, `An expression may have ${MAX_CHARS} characters.`)
    }
    this.tokens = tokenize(this.source, 'zen')
  }

  expression(): Expression {
    const read = this.choice(0)
    if (this.at < this.tokens.length) this.refuse()
    return read
  }

  condition(): Condition {
    return this.asCondition(this.expression())
  }

  /** Tests of a cell are evaluated from left to right: `and`, `or` and the comma have the same precedence. */
  parseCell(): Condition {
    let read = this.cellTest()
    while (this.at < this.tokens.length) {
      const form = this.acceptWord('and') ? 'all' : this.acceptWord('or') || this.accept(',') ? 'any' : this.refuse()
      read = { form, of: [read, this.cellTest()] }
    }
    return read
  }

  /** A value is compared with the field of the column; a Boolean expression is used as it is. */
  private cellTest(): Condition {
    const self = { path: this.self as string, is_sibling: false }
    const next = this.tokens[this.at]
    if (next?.kind === 'sign' && COMPARISONS.includes(next.text as Comparison)) {
      this.at++
      return this.compared(self, next.text as Comparison, this.literal()).condition
    }
    if (next?.kind === 'sign' && next.text === '[') return this.membership(self, this.literals(), false).condition
    const is_negated = next?.text === 'not' || next?.text === '!'
    const read = this.negation(0)
    if (read.form === 'literal') return this.compared(self, '==', read.text).condition
    if (read.form !== 'condition')
      return this.refuse(read.form === 'field' ? 'a comparison with another field' : undefined)
    // Without brackets, a negated field would be compared with the column's field.
    if (is_negated && this.tokens[this.at - 1]?.text !== ')') this.refuse('the negation of a field')
    return read.condition
  }

  refuse(construct?: string): never {
    const what = construct ?? describeConstruct(this.source, 'zen')
    const message = `${excerpt(this.source)} uses ${what}; only comparisons with literals and choices between literals are taken over.`
    throw new UnsupportedConstruct('construct_refused', this.place, message)
  }

  private choice(depth: number): Expression {
    if (depth > MAX_DEPTH) this.refuse('too deep a nesting')
    const read = this.any(depth)
    if (!this.accept('?')) return read
    const then = this.choice(depth + 1)
    if (!this.accept(':')) this.refuse()
    return { form: 'choice', of: this.asCondition(read), then, otherwise: this.choice(depth + 1) }
  }

  private any(depth: number): Expression {
    return this.joined('or', 'any', () => this.joined('and', 'all', () => this.negation(depth)))
  }

  private joined(word: 'and' | 'or', form: 'all' | 'any', read: () => Expression): Expression {
    const first = read()
    const of = [first]
    while (this.acceptWord(word)) of.push(read())
    if (of.length === 1) return first
    return { form: 'condition', condition: { form, of: of.map((each) => this.asCondition(each)) } }
  }

  private negation(depth: number): Expression {
    if (depth > MAX_DEPTH) this.refuse('too deep a nesting')
    if (!this.acceptWord('not') && !this.accept('!')) return this.comparison(depth)
    // It has a higher precedence than comparison: `not a == b` negates a alone.
    const operand = this.primary(depth + 1)
    const next = this.tokens[this.at]
    if (next?.text === 'in' || COMPARISONS.includes(next?.text as Comparison))
      this.refuse('a comparison with a negation')
    return { form: 'condition', condition: negated(this.asCondition(operand)) }
  }

  private comparison(depth: number): Expression {
    const left = this.primary(depth)
    const sign = this.tokens[this.at]
    const is_not_in = sign?.text === 'not' && sign.kind === 'name' && this.tokens[this.at + 1]?.text === 'in'
    if (is_not_in || (sign?.kind === 'name' && sign.text === 'in')) {
      this.at += is_not_in ? 2 : 1
      return this.membership(this.fieldOf(left), this.literals(), is_not_in)
    }
    if (sign?.kind !== 'sign' || !COMPARISONS.includes(sign.text as Comparison)) return left
    this.at++
    const right = this.primary(depth)
    const comparison = sign.text as Comparison
    if (left.form === 'field' && right.form === 'literal') return this.compared(left.field, comparison, right.text)
    if (left.form === 'literal' && right.form === 'field')
      return this.compared(right.field, MIRRORED[comparison], left.text)
    return this.refuse(left.form === 'field' && right.form === 'field' ? 'a comparison of two fields' : undefined)
  }

  private compared(field: Field, sign: Comparison, literal: string): Compared {
    const test = (by: Comparison): Test => ({
      ...field,
      form: FORMS[by],
      cell: parseTests(`${by} ${literal}`, 'zen', this.place),
    })
    return { form: 'condition', condition: { form: 'test', test: test(sign), negated: test(OPPOSITE[sign]) } }
  }

  private membership(field: Field, literals: readonly string[], is_negated: boolean): Compared {
    const cell = parseTests(literals.join(', '), 'zen', this.place)
    const inside: Test = { ...field, form: 'other', cell }
    const outside: Test = { ...field, form: 'differs', cell: { ...cell, test: `not(${cell.test})` } }
    const [test, opposite] = is_negated ? [outside, inside] : [inside, outside]
    return { form: 'condition', condition: { form: 'test', test, negated: opposite } }
  }

  private primary(depth: number): Expression {
    if (this.accept('(')) {
      const inner = this.choice(depth + 1)
      if (!this.accept(')')) this.refuse()
      return inner
    }
    const token = this.tokens[this.at]
    if (token?.kind === 'name' && token.text === 'contains' && this.tokens[this.at + 1]?.text === '(') {
      return this.parseContains(depth)
    }
    if (token?.kind === 'sign' && token.text === '$') return { form: 'field', field: this.parseSelfField() }
    if (token?.kind === 'name' && !RESERVED.has(token.text)) return { form: 'field', field: this.field() }
    return { form: 'literal', text: this.literal() }
  }

  /** `contains([…], field)`; with a field as first argument it is ambiguous and refused. */
  private parseContains(depth: number): Expression {
    this.at += 2
    if (this.tokens[this.at]?.text !== '[') this.refuse()
    const literals = this.literals()
    if (!this.accept(',')) this.refuse()
    const field = this.fieldOf(this.primary(depth + 1))
    if (!this.accept(')')) this.refuse()
    return this.membership(field, literals, false)
  }

  private literals(): string[] {
    if (!this.accept('[')) this.refuse()
    const found = [this.literal()]
    while (this.accept(',')) found.push(this.literal())
    if (!this.accept(']')) this.refuse()
    return found
  }

  /** As the language writes it. */
  private literal(): string {
    const sign = this.accept('-') ? '-' : ''
    const token = this.tokens[this.at++]
    if (token?.kind === 'number') return `${sign}${token.text}`
    if (sign === '' && token?.kind === 'text') return token.text.includes('"') ? `'${token.text}'` : `"${token.text}"`
    if (sign === '' && token?.kind === 'name' && (token.text === 'true' || token.text === 'false')) return token.text
    return this.refuse()
  }

  private parseSelfField(): Field {
    this.at++
    if (this.accept('.')) return { ...this.field(), is_sibling: true }
    return this.self === undefined ? this.refuse('the tested value itself') : { path: this.self, is_sibling: false }
  }

  private field(): Field {
    const names: string[] = []
    do {
      const token = this.tokens[this.at++]
      if (token?.kind !== 'name') this.refuse()
      names.push(token.text)
    } while (this.accept('.'))
    // A call, an index or another operation on the field.
    if (['(', '[', '{'].includes(this.tokens[this.at]?.text ?? '')) this.refuse()
    return { path: names.join('.'), is_sibling: false }
  }

  private fieldOf(expression: Expression): Field {
    return expression.form === 'field' ? expression.field : this.refuse()
  }

  /** A field alone is a Boolean. */
  private asCondition(expression: Expression): Condition {
    if (expression.form === 'condition') return expression.condition
    if (expression.form === 'literal' && (expression.text === 'true' || expression.text === 'false'))
      return { form: 'constant', holds: expression.text === 'true' }
    if (expression.form !== 'field') this.refuse()
    const [test, opposite] = ['true', 'false'].map((text) => ({
      ...expression.field,
      form: 'equals' as const,
      cell: parseTests(text, 'zen', this.place),
    })) as [Test, Test]
    return { form: 'test', test, negated: opposite }
  }

  private accept(sign: string): boolean {
    const token = this.tokens[this.at]
    if (token?.kind !== 'sign' || token.text !== sign) return false
    this.at++
    return true
  }

  private acceptWord(word: string): boolean {
    const token = this.tokens[this.at]
    if (token?.kind !== 'name' || token.text !== word) return false
    this.at++
    return true
  }
}

function negated(condition: Condition): Condition {
  if (condition.form === 'constant') return { form: 'constant', holds: !condition.holds }
  if (condition.form === 'test') return { form: 'test', test: condition.negated, negated: condition.test }
  return { form: condition.form === 'all' ? 'any' : 'all', of: condition.of.map(negated) }
}
