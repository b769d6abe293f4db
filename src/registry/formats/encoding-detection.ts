/**
 * Finds the encoding of a text that names none: UTF-8 where the bytes are valid UTF-8, otherwise windows-1252 where they look like
 * Western text. What looks like neither is refused, since a wrong guess turns names into other names.
 */
import { onLine, refuseSource } from './fault.ts'

export type DetectableEncoding = 'utf-8' | 'windows-1252'

/** What a decoder of one encoding does, piece by piece. */
export interface PieceDecoder {
  push(bytes: Buffer): string
  /** What is left after the last piece. */
  end(): string
  skip(bytes: number): void
  /** Where the next byte stands. */
  readonly position: { readonly offset_bytes: number; readonly line: number }
  continueAt(position: PieceDecoder['position']): void
}

/** So many bytes from the first non-ASCII one on decide; the same ones, however the source is cut into chunks. */
const WINDOW_BYTES = 64 * 1024

/** windows-1252 leaves these undefined. */
const UNDEFINED_IN_1252: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d])
/** In Western text accents stand alone; in a text of another script nearly every letter is such a byte. */
const MAX_ADJACENT_SHARE = 0.5
/** With fewer of them adjacency says nothing. */
const MIN_HIGH_BYTES = 8

/** null: neither. An unfinished character at the end counts as valid unless the bytes are all there is. */
export function guessEncoding(bytes: Uint8Array, is_whole: boolean): DetectableEncoding | null {
  const { valid, invalid } = countSequences(bytes, is_whole)
  // A UTF-8 file with a few damaged characters is UTF-8: its decoder names the first of them.
  if (invalid === 0 || valid > invalid) return 'utf-8'
  let high = 0
  let adjacent = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte < 0x80) continue
    if (UNDEFINED_IN_1252.has(byte)) return null
    high++
    if ((bytes[at - 1] ?? 0) >= 0x80 || (bytes[at + 1] ?? 0) >= 0x80) adjacent++
  }
  return high >= MIN_HIGH_BYTES && adjacent > high * MAX_ADJACENT_SHARE ? null : 'windows-1252'
}

/** Characters of several bytes, and bytes that belong to none. */
function countSequences(bytes: Uint8Array, is_whole: boolean): { valid: number; invalid: number } {
  let valid = 0
  let invalid = 0
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number
    const length =
      byte < 0x80
        ? 1
        : byte >= 0xc2 && byte < 0xe0
          ? 2
          : (byte & 0xf0) === 0xe0
            ? 3
            : byte >= 0xf0 && byte < 0xf5
              ? 4
              : 0
    let end = at + 1
    while (end < at + length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end++
    const is_complete = length > 0 && end === at + length
    const is_cut = length > 1 && end === bytes.length && !is_whole
    if (is_complete && length > 1) valid++
    else if (!is_complete && !is_cut) invalid++
    at = is_complete || is_cut ? end : at + 1
  }
  return { valid, invalid }
}

/** Decodes ASCII as it comes, holds the window from the first other byte on, decides, and goes on in what it decided. */
export class DetectingDecoder implements PieceDecoder {
  private readonly create: (encoding: DetectableEncoding) => PieceDecoder
  private readonly onFound: (encoding: DetectableEncoding) => void
  private decoder: PieceDecoder
  private held: Buffer[] | null = null
  private held_bytes = 0
  private is_decided = false

  constructor(create: (encoding: DetectableEncoding) => PieceDecoder, onFound: (encoding: DetectableEncoding) => void) {
    this.create = create
    this.onFound = onFound
    this.decoder = create('utf-8')
  }

  get position(): PieceDecoder['position'] {
    return this.decoder.position
  }

  skip(bytes: number): void {
    this.decoder.skip(bytes)
  }

  continueAt(position: PieceDecoder['position']): void {
    this.decoder.continueAt(position)
  }

  push(bytes: Buffer): string {
    if (this.is_decided) return this.decoder.push(bytes)
    let text = ''
    let rest = bytes
    if (this.held === null) {
      const first = bytes.findIndex((byte) => byte >= 0x80)
      text = this.decoder.push(first < 0 ? bytes : bytes.subarray(0, first))
      if (first < 0) return text
      this.held = []
      rest = bytes.subarray(first)
    }
    const room = WINDOW_BYTES - this.held_bytes
    this.held.push(Buffer.from(rest.subarray(0, room)))
    this.held_bytes += Math.min(room, rest.length)
    if (this.held_bytes < WINDOW_BYTES) return text
    return text + this.decide(false) + (rest.length > room ? this.decoder.push(rest.subarray(room)) : '')
  }

  end(): string {
    const text = this.is_decided ? '' : this.decide(true)
    return text + this.decoder.end()
  }

  private decide(is_whole: boolean): string {
    const bytes = Buffer.concat(this.held ?? [])
    this.held = null
    this.is_decided = true
    const encoding = guessEncoding(bytes, is_whole)
    const { position } = this.decoder
    if (encoding === null) {
      const place = `from byte ${position.offset_bytes + 1}, line ${position.line} on`
      const advice = 'Save it as UTF-8, or name its encoding.'
      refuseSource(
        'encoding_unknown',
        `The file is neither UTF-8 nor Western text in windows-1252, ${place}. ${advice}`,
        onLine(position.line),
      )
    }
    this.onFound(encoding)
    if (encoding === 'windows-1252') {
      this.decoder = this.create(encoding)
      this.decoder.continueAt(position)
    }
    return this.decoder.push(bytes)
  }
}
