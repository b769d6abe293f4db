/**
 * Undoes the escapes of JSON, of XML and of URLs in bytes, whichever they are in. It is for finding a text however it is written, not
 * for reading a document.
 */

const AMPERSAND = 0x26
const HASH = 0x23
const PERCENT = 0x25
const SEMICOLON = 0x3b
const BACKSLASH = 0x5c
const SMALL_U = 0x75
const SMALL_X = 0x78
const markers = [BACKSLASH, AMPERSAND, PERCENT]
const isMarker = (byte: number): boolean => byte === BACKSLASH || byte === AMPERSAND || byte === PERCENT
const MAX_CODE_POINT = 0x10_ffff
const MAX_NAME_LENGTH = 7

/** What a backslash makes of the byte after it; 0 where that is no escape of one character. */
const simpleEscapes = new Uint8Array(256)
for (const [written, meant] of ['""', '\\\\', '//', "''", 'b\b', 'f\f', 'n\n', 'r\r', 't\t']) {
  simpleEscapes[(written as string).charCodeAt(0)] = (meant as string).charCodeAt(0)
}

/** Entities of XML, and those that HTML has for characters that keys are made of. */
const entities = new Map(
  Object.entries({
    ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" },
    ...{ ast: '*', bsol: '\\', colon: ':', comma: ',', commat: '@', dollar: '$', equals: '=', excl: '!', grave: '`' },
    ...{ Hat: '^', lbrace: '{', lbrack: '[', lcub: '{', lowbar: '_', lpar: '(', lsqb: '[', num: '#', percnt: '%' },
    ...{ period: '.', plus: '+', quest: '?', rbrace: '}', rbrack: ']', rcub: '}', rpar: ')', rsqb: ']', semi: ';' },
    ...{ sol: '/', vert: '|', verbar: '|', Tab: '\t', NewLine: '\n' },
  }),
)

interface Escape {
  readonly code: number
  /** Where the text goes on. */
  readonly end: number
  /** A byte of a URL, not a character. */
  readonly isByte?: boolean
}

/**
 * The bytes with one level of escapes undone; the same object where there is none. Escapes may be nested, such as JSON in JSON: then it
 * is called again. Takes time in proportion to the bytes; the result is never longer.
 */
export function undoEscapes(bytes: Buffer): Buffer {
  if (!markers.some((marker) => bytes.includes(marker))) return bytes
  const result = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number
    const simple = byte === BACKSLASH ? simpleEscapes[bytes[at + 1] ?? 0] : 0
    const found = simple || !isMarker(byte) ? undefined : readEscape(bytes, at)
    if (found) {
      at = found.end
      if (found.isByte) result[length++] = found.code
      else length = writeCharacter(result, length, found.code)
    } else {
      result[length++] = simple || byte
      at += simple ? 2 : 1
    }
  }
  return length === bytes.length ? bytes : result.subarray(0, length)
}

function readEscape(bytes: Buffer, at: number): Escape | undefined {
  const next = bytes[at + 1]
  if (bytes[at] === PERCENT) return readHex(bytes, at + 1, 2, true)
  if (bytes[at] === AMPERSAND) return next === HASH ? readReference(bytes, at) : readEntity(bytes, at)
  if (next === SMALL_U) return readUnit(bytes, at)
  return next === SMALL_X ? readHex(bytes, at + 2, 2) : undefined
}

/** Two units of UTF-16 may be one character. */
function readUnit(bytes: Buffer, at: number): Escape | undefined {
  const first = readHex(bytes, at + 2, 4)
  if (!first || first.code < 0xd800 || first.code > 0xdbff) return first
  const second =
    bytes[first.end] === BACKSLASH && bytes[first.end + 1] === SMALL_U ? readHex(bytes, first.end + 2, 4) : undefined
  if (!second || second.code < 0xdc00 || second.code > 0xdfff) return first
  return { code: 0x1_0000 + (first.code - 0xd800) * 0x400 + (second.code - 0xdc00), end: second.end }
}

function readHex(bytes: Buffer, at: number, digits: number, isByte = false): Escape | undefined {
  let code = 0
  for (let index = at; index < at + digits; index++) {
    const digit = getDigit(bytes[index])
    if (digit === undefined) return undefined
    code = code * 16 + digit
  }
  return { code, end: at + digits, isByte }
}

function getDigit(byte = 0): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}

/** Decimal or hexadecimal, with any number of leading zeros. */
function readReference(bytes: Buffer, at: number): Escape | undefined {
  const base = ((bytes[at + 2] ?? 0) | 0x20) === SMALL_X ? 16 : 10
  const start = base === 16 ? at + 3 : at + 2
  let code = 0
  let end = start
  for (; ; end++) {
    const digit = getDigit(bytes[end])
    if (digit === undefined || digit >= base) break
    code = Math.min(code * base + digit, MAX_CODE_POINT + 1)
  }
  if (end === start || bytes[end] !== SEMICOLON || code > MAX_CODE_POINT) return undefined
  return { code, end: end + 1 }
}

function readEntity(bytes: Buffer, at: number): Escape | undefined {
  for (let end = at + 1; end <= at + 1 + MAX_NAME_LENGTH; end++) {
    if (bytes[end] !== SEMICOLON) continue
    const character = entities.get(bytes.toString('latin1', at + 1, end))
    return character === undefined ? undefined : { code: character.charCodeAt(0), end: end + 1 }
  }
  return undefined
}

/** As UTF-8, which is never longer than the escape. Half a pair of UTF-16 units is written as the units would be. */
function writeCharacter(result: Buffer, at: number, code: number): number {
  if (code < 0x80) {
    result[at] = code
    return at + 1
  }
  const more = code < 0x800 ? 1 : code < 0x1_0000 ? 2 : 3
  result[at] = (~(0xff >> (more + 1)) & 0xff) | (code >> (6 * more))
  for (let index = 1; index <= more; index++) result[at + index] = 0x80 | ((code >> (6 * (more - index))) & 0x3f)
  return at + more + 1
}
