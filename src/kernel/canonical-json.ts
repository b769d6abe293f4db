/**
 * RFC 8785 canonical JSON: one text per value, so that hashes and fingerprints can be compared. It takes plain data only and
 * throws a TypeError where `JSON.stringify` would drop or convert a value.
 */

/** Deeper than any accepted document; it turns a cycle into a clear error. */
const MAX_DEPTH = 1000
/** ASCII without quote, backslash and control characters: most strings and names, written three times faster unescaped. */
const PLAIN = /^[ !#-[\]-~]*$/
const LONE_SURROGATE = /\p{Surrogate}/u
const FEW_NAMES = 20
const MAX_KNOWN_NAMES = 2000
const MAX_KNOWN_LENGTH = 64

export function canonicalJson(value: unknown): string {
  return write(value, 0)
}

/** A value with its canonical text: it can be part of others without being serialized again. */
export class CanonicalText {
  readonly text: string

  constructor(value: unknown) {
    this.text = canonicalJson(value)
  }
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return writeString(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`Canonical JSON has no ${value}`)
      // ECMAScript's number text is the one RFC 8785 prescribes, including 0 for -0.
      return String(value)
    case 'object':
      if (value === null) return 'null'
      if (depth === MAX_DEPTH) throw new TypeError('Canonical JSON refuses a cyclic or extremely deep value')
      return Array.isArray(value) ? writeArray(value, depth + 1) : writeObject(value, depth + 1)
    default:
      throw new TypeError(`Canonical JSON has no ${typeof value}`)
  }
}

function writeString(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`
  if (LONE_SURROGATE.test(value)) throw new TypeError('Canonical JSON refuses a lone surrogate')
  return JSON.stringify(value)
}

function writeArray(value: readonly unknown[], depth: number): string {
  let text = '['
  // By index, since iteration helpers skip the holes of a sparse array.
  for (let index = 0; index < value.length; index++) {
    if (index > 0) text += ','
    text += write(value[index], depth)
  }
  return `${text}]`
}

function writeObject(value: object, depth: number): string {
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    if (value instanceof CanonicalText) return value.text
    throw new TypeError('Canonical JSON takes plain objects; convert dates, maps and instances first')
  }
  let text = '{'
  const names = sortNames(Object.keys(value))
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    if (index > 0) text += ','
    text += writeMemberName(name) + write((value as Record<string, unknown>)[name], depth)
  }
  return `${text}}`
}

/** By UTF-16 code units, as RFC 8785 requires. A few names are sorted by insertion: `sort` costs several times as much. */
function sortNames(names: string[]): string[] {
  if (names.length > FEW_NAMES) return names.sort()
  for (let index = 1; index < names.length; index++) {
    const name = names[index] as string
    let place = index
    for (; place > 0 && (names[place - 1] as string) > name; place--) names[place] = names[place - 1] as string
    names[place] = name
  }
  return names
}

/** Cache of serialized member names: the same few names occur in nearly all objects. */
const writtenNames = new Map<string, string>()

function writeMemberName(name: string): string {
  const known = writtenNames.get(name)
  if (known !== undefined) return known
  const text = `${writeString(name)}:`
  if (name.length > MAX_KNOWN_LENGTH) return text
  // A name that is in use is added again at once.
  if (writtenNames.size === MAX_KNOWN_NAMES) writtenNames.clear()
  writtenNames.set(name, text)
  return text
}
