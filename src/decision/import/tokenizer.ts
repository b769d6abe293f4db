/**
 * Tokenizes FEEL and ZEN expressions of decision table cells, and names the construct of a text that is more than a simple test. One
 * pass, no recursion.
 */

export type Dialect = 'feel' | 'zen'

export interface Token {
  readonly kind: 'text' | 'number' | 'name' | 'sign' | 'unknown'
  /** A text without its quotes, a number without separators. */
  readonly text: string
}

const SPACE = /\s+/y
const NUMBER = { feel: /\d+(?:\.\d+)?|\.\d+/y, zen: /\d[\d_]*(?:\.\d+)?/y }
const STRING = { feel: /"(?:[^"\\]|\\.)*"/sy, zen: /"[^"\\]*"|'[^'\\]*'/sy }
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy
const SIGN = /\.\.|<=|>=|==|!=|\*\*|[<>=()[\],{}+\-*/.@?:;!$#%^]/y

/** Never throws; unknown text is an `unknown` token to the end. */
export function tokenize(text: string, dialect: Dialect): Token[] {
  const tokens: Token[] = []
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    at += found?.length ?? 0
    return found
  }
  while (at < text.length) {
    if (take(SPACE)) continue
    const string = take(STRING[dialect])
    const unquoted = string === undefined ? undefined : unquote(string, dialect)
    if (unquoted !== undefined) {
      tokens.push({ kind: 'text', text: unquoted })
      continue
    }
    if (string !== undefined) return [...tokens, { kind: 'unknown', text: string }]
    const number = take(NUMBER[dialect])
    const name = number === undefined ? take(NAME) : undefined
    const sign = number === undefined && name === undefined ? take(SIGN) : undefined
    if (number !== undefined) tokens.push({ kind: 'number', text: plainNumber(number) })
    else if (name !== undefined) tokens.push({ kind: 'name', text: name })
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign })
    else return [...tokens, { kind: 'unknown', text: text.slice(at) }]
  }
  return tokens
}

function unquote(quoted: string, dialect: Dialect): string | undefined {
  if (dialect === 'zen') return quoted.slice(1, -1)
  try {
    // A FEEL string may contain a line break.
    return JSON.parse(quoted.replace(/\r?\n/g, '\\n').replace(/\t/g, '\\t')) as string
  } catch {
    return undefined
  }
}

function plainNumber(number: string): string {
  const plain = number.replaceAll('_', '').replace(/^0+(?=\d)/, '')
  return plain.startsWith('.') ? `0${plain}` : plain
}

const CONTROL = new Set(['if', 'then', 'else', 'for', 'return', 'some', 'every', 'satisfies', 'function', 'instance'])
const LOGIC = new Set(['and', 'or', 'not', 'between', 'in'])
const LITERAL = new Set(['true', 'false', 'date'])

/** The name of the construct that is not a simple test. */
export function describeConstruct(text: string, dialect: Dialect): string {
  const tokens = tokenize(text, dialect)
  const isName = (token: Token | undefined, among: ReadonlySet<string>): boolean =>
    token?.kind === 'name' && among.has(token.text)
  const isSign = (token: Token | undefined, among: string): boolean =>
    token?.kind === 'sign' && among.split(' ').includes(token.text)
  const control = tokens.find((token) => isName(token, CONTROL) && token.text !== 'some')
  if (control) return `the expression "${control.text}"`
  const called = tokens.findIndex(
    (token, i) =>
      token.kind === 'name' && isSign(tokens[i + 1], '(') && !LOGIC.has(token.text) && !LITERAL.has(token.text),
  )
  if (called !== -1) return `the function ${tokens[called]?.text}()`
  const operator = tokens.find(
    (token, i) => isSign(token, '+ * / ** % ^') || (isSign(token, '-') && isOperand(tokens[i - 1])),
  )
  if (operator) return `arithmetic with "${operator.text}"`
  if (tokens.some((token) => isSign(token, '{'))) return 'a context'
  if (tokens.some((token) => isName(token, new Set(['null'])))) return 'null'
  const logic = tokens.find((token) => isName(token, LOGIC))
  if (logic) return `the operator "${logic.text}"`
  if (tokens.some((token) => isSign(token, '[')) && !tokens.some((token) => isSign(token, '..'))) return 'a list'
  const name = tokens.find((token) => token.kind === 'name' && !LITERAL.has(token.text))
  if (name) return `the name "${name.text}"`
  if (tokens.some((token) => isSign(token, '? $ #'))) return 'the tested value itself'
  return 'something that is not a simple test'
}

const isOperand = (token: Token | undefined): boolean =>
  token !== undefined && (token.kind !== 'sign' || token.text === ')' || token.text === ']')
