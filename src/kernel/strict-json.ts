/**
 * Parses untrusted JSON: one linear scan refuses what `JSON.parse` would accept silently or fail on (duplicate names, lone
 * surrogates, rounded integers, deep nesting), then `JSON.parse` builds the value. It knows no schema.
 */
import { isUtf8 } from 'node:buffer'
import { fail, Problem } from './problem.ts'

export const MAX_JSON_DEPTH = 64
/** Tokens as a streaming parser counts them: brackets, names and scalars, not commas and colons. */
export const MAX_JSON_TOKENS = 200_000

interface Limits {
  readonly depth: number
  readonly tokens: number
}
const BODY_LIMITS: Limits = { depth: MAX_JSON_DEPTH, tokens: MAX_JSON_TOKENS }
/** Files that this product wrote nest accepted documents and list many of them; the depth only bounds the recursion. */
const FILE_LIMITS: Limits = { depth: 500, tokens: Number.POSITIVE_INFINITY }

/** Below this number of members comparing names one by one is cheaper than a set; above it only a set is linear. */
const FEW_NAMES = 12
/** A literal of at most this many characters, without an exponent, is always a safe integer or an ordinary fraction. */
const SAFE_LITERAL_CHARS = 15
const MAX_POINTER_CHARS = 200
const MAX_NAME_CHARS = 60

export function parseStrictJson(bytes: Buffer): unknown {
  if (bytes.length === 0) refuse('The body is empty. Send a JSON document.')
  if (!isUtf8(bytes)) refuse('The body is not valid UTF-8. Encode it as UTF-8.')
  const text = bytes.toString('utf8')
  new JsonScanner(text, BODY_LIMITS).document()
  return JSON.parse(text)
}

/** Says in one sentence why the text of a file is not JSON that every reader reads alike. */
export class InvalidJson extends Error {
  override readonly name = 'InvalidJson'
}

/** For files that are verified: of two members with one name a person may read the first, `JSON.parse` takes the last. */
export function parseJsonFile(text: string): unknown {
  try {
    new JsonScanner(text, FILE_LIMITS).document()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new InvalidJson(error.extra.detail, { cause: error })
  }
  return JSON.parse(text)
}

/** `#/a/0/b`, shortened to the nearest ancestor that fits in a response. */
export function toJsonPointer(path: readonly (string | number)[]): string {
  let pointer = '#'
  for (const step of path) {
    const next = `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (next.length > MAX_POINTER_CHARS) break
    pointer = next
  }
  return pointer
}

function refuse(detail: string, path: readonly (string | number)[] = []): never {
  fail('malformed_request', { detail, errors: [{ in: 'body', pointer: toJsonPointer(path), detail }] })
}

/** Recursive descent over RFC 8259; the depth limit makes the recursion safe. */
class JsonScanner {
  private readonly text: string
  private readonly limits: Limits
  private at = 0
  private depth = 0
  private tokens = 0
  /** Path of the current value: the first `steps` entries; the others are left from earlier values. */
  private readonly path: (string | number)[] = []
  private steps = 0
  /** Whether the last string contains an escape, so that a name must be unescaped before it is compared. */
  private escaped = false

  constructor(text: string, limits: Limits) {
    this.text = text
    this.limits = limits
  }

  document(): void {
    if (this.text.charCodeAt(0) === 0xfeff) this.refuse('The JSON starts with a byte order mark. Remove it.')
    if (Number.isNaN(this.next())) this.refuse('There is only white space. Put a JSON document.')
    this.value()
    if (!Number.isNaN(this.next())) this.unexpected('Send exactly one JSON value')
  }

  private value(): void {
    const code = this.next()
    if (code === 0x7b) this.object()
    else if (code === 0x5b) this.array()
    else {
      this.token()
      if (code === 0x22) this.string()
      else if (code === 0x2d || isDigit(code)) this.number()
      else if (code === 0x74) this.literal('true')
      else if (code === 0x66) this.literal('false')
      else if (code === 0x6e) this.literal('null')
      else this.unexpected('Put a JSON value')
    }
  }

  private object(): void {
    this.open()
    if (this.next() !== 0x7d) this.members()
    this.close()
  }

  private members(): void {
    const names: string[] = []
    let set: Set<string> | undefined
    for (;;) {
      if (this.next() !== 0x22) this.unexpected('Put a name in double quotes')
      const name = this.name()
      this.step(name)
      if (set ? set.has(name) : names.includes(name)) {
        this.refuse(`The name ${quote(name)} appears twice in one object. Only one of them may be there.`)
      }
      if (set) set.add(name)
      else if (names.push(name) > FEW_NAMES) set = new Set(names)
      if (this.next() !== 0x3a) this.unexpected('Put a colon after the name')
      this.at++
      this.value()
      if (this.next() !== 0x2c) break
      this.at++
    }
    if (this.next() !== 0x7d) this.unexpected('Put a comma or "}" after the member')
  }

  private array(): void {
    this.open()
    if (this.next() !== 0x5d) this.elements()
    this.close()
  }

  private elements(): void {
    for (let index = 0; ; index++) {
      this.step(index)
      this.value()
      if (this.next() !== 0x2c) break
      this.at++
    }
    if (this.next() !== 0x5d) this.unexpected('Put a comma or "]" after the element')
  }

  private open(): void {
    this.token()
    if (this.depth === this.limits.depth) {
      this.refuse(`The document is nested deeper than ${this.limits.depth} levels. Flatten it.`)
    }
    this.at++
    this.depth++
  }

  private close(): void {
    this.token()
    this.at++
    this.depth--
    this.steps = this.depth
  }

  private step(to: string | number): void {
    this.path[this.depth - 1] = to
    this.steps = this.depth
  }

  private name(): string {
    this.token()
    const start = this.at
    // A fault inside a name belongs to the object, not to the member before it.
    this.steps = this.depth - 1
    this.string()
    // Two spellings of one name, such as "a" and "\u0061", are duplicates: compare what JSON.parse will see.
    return this.escaped ? JSON.parse(this.text.slice(start, this.at)) : this.text.slice(start + 1, this.at - 1)
  }

  private string(): void {
    // Bounded and with local variables: reading past the end of a string makes V8 deoptimize the whole loop.
    const text = this.text
    const end = text.length
    this.escaped = false
    let at = this.at + 1
    while (at < end) {
      const code = text.charCodeAt(at)
      if (code === 0x22) {
        this.at = at + 1
        return
      }
      if (code === 0x5c) {
        this.at = at
        this.escape()
        at = this.at
      } else if (code < 0x20) {
        this.at = at
        this.unexpected('Escape control characters in strings')
      } else at++
    }
    this.at = end
    this.unexpected('Close the string')
  }

  private escape(): void {
    this.escaped = true
    const code = this.text.charCodeAt(this.at + 1)
    if (code !== 0x75) {
      if (!isShortEscape(code)) this.unexpected('Use only the escapes JSON knows')
      this.at += 2
      return
    }
    const unit = this.hex4(this.at + 2)
    if (unit < 0xd800 || unit > 0xdfff) {
      this.at += 6
      return
    }
    const paired = unit < 0xdc00 && this.text.startsWith('\\u', this.at + 6) && isLow(this.hex4(this.at + 8))
    if (!paired)
      this.refuse(`A lone surrogate is escaped ${this.describePosition()}. Send both halves of the pair, or neither.`)
    this.at += 12
  }

  private hex4(start: number): number {
    let unit = 0
    for (let at = start; at < start + 4; at++) {
      const digit = hexDigit(this.text.charCodeAt(at))
      if (digit < 0) this.unexpected('Put four hexadecimal digits after \\u')
      unit = unit * 16 + digit
    }
    return unit
  }

  private number(): void {
    const text = this.text
    const start = this.at
    let plain = true
    if (text.charCodeAt(this.at) === 0x2d) this.at++
    if (text.charCodeAt(this.at) === 0x30) this.at++
    else this.digits()
    if (text.charCodeAt(this.at) === 0x2e) {
      this.at++
      this.digits()
    }
    if ((text.charCodeAt(this.at) | 0x20) === 0x65) {
      plain = false
      this.at++
      const sign = text.charCodeAt(this.at)
      if (sign === 0x2b || sign === 0x2d) this.at++
      this.digits()
    }
    if (plain && this.at - start <= SAFE_LITERAL_CHARS) return
    // Every double beyond 2^53 is an integer and rounding is monotone, so the rounded magnitude decides exactly.
    if (Math.abs(Number(text.slice(start, this.at))) > Number.MAX_SAFE_INTEGER) {
      this.refuse('The number is beyond ±9007199254740991 and would be rounded. Send a smaller one, or a string.')
    }
  }

  private digits(): void {
    const start = this.at
    while (isDigit(this.text.charCodeAt(this.at))) this.at++
    if (this.at === start) this.unexpected('Put a digit')
  }

  private literal(word: string): void {
    if (!this.text.startsWith(word, this.at)) this.unexpected('Put a JSON value')
    this.at += word.length
  }

  private token(): void {
    if (++this.tokens > this.limits.tokens) {
      this.refuse(`The document has more than ${this.limits.tokens} tokens. Split it, or store it as an upload.`)
    }
  }

  /** Skips white space; returns the code of the next character, NaN at the end. */
  private next(): number {
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code
      this.at++
    }
  }

  private describePosition(): string {
    const before = this.text.slice(0, this.at)
    const line = before.split('\n').length
    return `at line ${line}, column ${before.length - before.lastIndexOf('\n')}`
  }

  private unexpected(advice: string): never {
    const found = this.at < this.text.length ? 'The JSON is not well-formed' : 'The JSON ends too early'
    this.refuse(`${found}. ${advice} ${this.describePosition()}.`)
  }

  private refuse(detail: string): never {
    refuse(detail, this.path.slice(0, this.steps))
  }
}

/** Names may be as long as the document. */
const quote = (name: string): string =>
  JSON.stringify(name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name)

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** One of `" \ / b f n r t`. */
function isShortEscape(code: number): boolean {
  return '"\\/bfnrt'.includes(String.fromCharCode(code))
}

function hexDigit(code: number): number {
  if (isDigit(code)) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
