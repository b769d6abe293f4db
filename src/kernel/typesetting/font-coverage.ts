/** Which characters fonts have, so that a text can say what cannot be printed before it is typeset. */
import { findTable } from './font-files.ts'

const LAST = 0x10ffff
const WINDOWS = 3
const UNICODE = 0

/** One bit for each code point. */
export class Coverage {
  readonly #bits = new Uint8Array((LAST + 1) / 8)

  has(code: number): boolean {
    return ((this.#bits[code >> 3] as number) & (1 << (code & 7))) !== 0
  }

  add(code: number): void {
    if (code <= LAST) this.#bits[code >> 3] = (this.#bits[code >> 3] as number) | (1 << (code & 7))
  }

  /** Keeps what the other one has too. */
  intersect(other: Coverage): void {
    for (let at = 0; at < this.#bits.length; at++)
      this.#bits[at] = (this.#bits[at] as number) & (other.#bits[at] as number)
  }
}

/** By the `cmap` table: the formats 4 and 12 are those of fonts in use. */
export function readCoverage(bytes: Buffer): Coverage {
  const table = findTable(bytes, 'cmap')
  const coverage = new Coverage()
  const count = bytes.readUInt16BE(table + 2)
  for (let index = 0; index < count; index++) {
    const record = table + 4 + index * 8
    const platform = bytes.readUInt16BE(record)
    if (platform !== WINDOWS && platform !== UNICODE) continue
    const at = table + bytes.readUInt32BE(record + 4)
    const format = bytes.readUInt16BE(at)
    if (format === 4) addSegments(bytes, at, coverage)
    if (format === 12) addGroups(bytes, at, coverage)
  }
  return coverage
}

function addSegments(bytes: Buffer, at: number, coverage: Coverage): void {
  const size = bytes.readUInt16BE(at + 6)
  const ends = at + 14
  const starts = ends + size + 2
  const [deltas, offsets] = [starts + size, starts + 2 * size]
  for (let place = 0; place < size; place += 2) {
    const [start, end] = [bytes.readUInt16BE(starts + place), bytes.readUInt16BE(ends + place)]
    const [delta, offset] = [bytes.readUInt16BE(deltas + place), bytes.readUInt16BE(offsets + place)]
    for (let code = start; code <= end && code !== 0xffff; code++) {
      const glyph = offset === 0 ? code : bytes.readUInt16BE(offsets + place + offset + 2 * (code - start))
      if (glyph !== 0 && ((glyph + delta) & 0xffff) !== 0) coverage.add(code)
    }
  }
}

function addGroups(bytes: Buffer, at: number, coverage: Coverage): void {
  const count = bytes.readUInt32BE(at + 12)
  for (let index = 0; index < count; index++) {
    const group = at + 16 + index * 12
    const [start, end] = [bytes.readUInt32BE(group), bytes.readUInt32BE(group + 4)]
    for (let code = start; code <= Math.min(end, LAST); code++) coverage.add(code)
  }
}

/** A letter with its marks, which one font draws. */
const CLUSTER = /\P{M}\p{M}*|\p{M}+/gu
/** The layout breaks lines at them. */
const SPACES = new Set([0x09, 0x0a, 0x0d])
const toNotation = (code: number): string => `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`

/** Signs of our own texts as people type them, where no font has them. */
const SIGNS: ReadonlyMap<number, string> = new Map([
  [0x2265, '>='],
  [0x2264, '<='],
  [0x2260, '!='],
  [0x2248, '~'],
  [0x2212, '-'],
  [0x2192, '->'],
])

export interface Substituted {
  readonly text: string
  /** Characters are printed as code points: the original cannot be read. */
  readonly has_code_points: boolean
}

/** Prints what no family has as its code point. `families`: what every font of each has. */
export function createSubstitution(families: readonly Coverage[]): (text: string) => Substituted {
  const isKnown = (code: number): boolean => SPACES.has(code) || families.some((family) => family.has(code))
  return (original) => {
    let has_code_points = false
    const print = (code: number, isDrawn: boolean): string => {
      if (isDrawn) return String.fromCodePoint(code)
      has_code_points ||= !SIGNS.has(code)
      return SIGNS.get(code) ?? toNotation(code)
    }
    const substitute = (cluster: string): string => {
      const codes = [...cluster].map((character) => character.codePointAt(0) as number)
      if (families.some((family) => codes.every((code) => family.has(code)))) return cluster
      // The letter is printed where it is known; a mark of another family could not be drawn on it.
      return codes.map((code, at) => print(code, at === 0 && isKnown(code))).join('')
    }
    const text = original.replaceAll(CLUSTER, substitute)
    return { text, has_code_points }
  }
}
