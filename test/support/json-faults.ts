/** For tests: generated JSON documents, and the first character of a text at which it can no longer become JSON. */

type Random = (below: number) => number

const space = (random: Random): string => ['', '', ' ', '\n', '\r\n  ', '\n\n'][random(6)] as string

function randomValue(random: Random, depth: number): string {
  const gap = () => space(random)
  switch (random(depth > 2 ? 5 : 7)) {
    case 0:
      return '"te\\"x\\\\t é \\u00e9"'
    case 1:
      return String(random(1000) - 500)
    case 2:
      return '-1.5e+3'
    case 3:
      return ['true', 'false', 'null'][random(3)] as string
    case 4:
      return '""'
    case 5:
      return `[${gap()}${Array.from({ length: random(4) }, () => randomValue(random, depth + 1)).join(`${gap()},${gap()}`)}${gap()}]`
    default:
      return `{${gap()}${Array.from({ length: random(4) }, (_, at) => `"name ${at}"${gap()}:${gap()}${randomValue(random, depth + 1)}`).join(`${gap()},${gap()}`)}${gap()}}`
  }
}

/** An array of records, at /data/items of an object where it is `nested`. */
export function randomJson(random: Random, nested: boolean): string {
  const records = Array.from({ length: 3 + random(8) }, (_, id) => `{"id":${id},\n"v":${randomValue(random, 0)}}`)
  const list = `[${space(random)}${records.join(`,${space(random)}`)}${space(random)}]`
  return nested
    ? `{"meta": {"a":\n[1, {"b": "]"}]},\n"data": {"before": 1,\n"items": ${list},\n"after": [{}]}}\n`
    : `${list}\n`
}

class Fault {
  readonly offset: number
  constructor(offset: number) {
    this.offset = offset
  }
}

/** RFC 8259, character by character. null for JSON; the length of the text where only more text is missing. */
export function firstJsonFault(text: string): number | null {
  let at = 0
  const blank = () => {
    while (/[ \t\r\n]/.test(text.charAt(at))) at++
  }
  const expectChars = (pattern: RegExp, count = 1) => {
    for (let each = 0; each < count; each++, at++) if (!pattern.test(text.charAt(at))) throw new Fault(at)
  }
  const word = (letters: string) => {
    for (const letter of letters) {
      // A word is known by its first letter, and refused as a whole.
      if (text.charAt(at) !== letter) throw new Fault(at)
      at++
    }
  }
  const digits = () => {
    expectChars(/\d/)
    while (/\d/.test(text.charAt(at))) at++
  }
  const string = () => {
    expectChars(/"/)
    while (text.charAt(at) !== '"') {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what JSON refuses
      if (at >= text.length || /[\0-\x1f]/.test(text.charAt(at))) throw new Fault(at)
      if (text.charAt(at++) !== '\\') continue
      if (text.charAt(at) === 'u') {
        at++
        expectChars(/[\dA-Fa-f]/, 4)
      } else expectChars(/["\\/bfnrt]/)
    }
    at++
  }
  const number = () => {
    if (text.charAt(at) === '-') at++
    if (text.charAt(at) === '0') at++
    else digits()
    if (text.charAt(at) === '.') {
      at++
      digits()
    }
    if (/[eE]/.test(text.charAt(at))) {
      at++
      if (/[+-]/.test(text.charAt(at))) at++
      digits()
    }
  }
  const list = (close: string, item: () => void) => {
    at++
    blank()
    if (text.charAt(at) !== close) {
      for (;;) {
        item()
        blank()
        if (text.charAt(at) !== ',') break
        at++
        blank()
      }
      if (text.charAt(at) !== close) throw new Fault(at)
    }
    at++
  }
  const value = (): void => {
    blank()
    const first = text.charAt(at)
    if (first === '{')
      list('}', () => {
        string()
        blank()
        expectChars(/:/)
        value()
      })
    else if (first === '[') list(']', value)
    else if (first === '"') string()
    else if (first === 't') word('true')
    else if (first === 'f') word('false')
    else if (first === 'n') word('null')
    else if (/[-\d]/.test(first)) number()
    else throw new Fault(at)
  }
  try {
    value()
    blank()
    return at < text.length ? at : null
  } catch (fault) {
    if (fault instanceof Fault) return fault.offset
    throw fault
  }
}
