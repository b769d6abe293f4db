/**
 * Detects the encoding of a text: UTF-8 when the bytes are valid UTF-8, otherwise windows-1252 when they look like Western text.
 * Anything else is refused, since a wrong guess corrupts names.
 */
import { onLine, refuseSource } from './fault.ts'

export type DetectableEncoding = 'utf-8' | 'windows-1252'

/** Decoder of one encoding. */
export interface PieceDecoder {
  push(bytes: Buffer): string
  /** Returns the rest after the last piece. */
  end(): string
  skip(bytes: number): void
  /** Position of the next byte. */
  readonly position: { readonly offset_bytes: number; readonly line: number }
  continueAt(position: PieceDecoder['position']): void
}

/** Number of bytes from the first non-ASCII one that decide, whatever the chunks of the source. */
const WINDOW_BYTES = 64 * 1024

/** windows-1252 leaves these undefined. */
const UNDEFINED_IN_1252: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d])
/** In Western text accented letters are isolated; in other scripts nearly every letter is a non-ASCII byte. */
const MAX_ADJACENT_SHARE = 0.5
/** With fewer such bytes adjacency is not significant. */
const MIN_HIGH_BYTES = 8

/** null: neither. An incomplete character at the end is valid unless the source ends there. */
export function guessEncoding(bytes: Uint8Array, is_whole: boolean): DetectableEncoding | null {
  const { valid, invalid } = countSequences(bytes, is_whole)
  // A UTF-8 file with a few damaged characters is UTF-8: its decoder reports the first of them.
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

/** Counts multi-byte characters and invalid bytes. */
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

/** Decodes ASCII directly, buffers the window from the first other byte, decides, and continues in the detected encoding. */
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
    const free_bytes = WINDOW_BYTES - this.held_bytes
    this.held.push(Buffer.from(rest.subarray(0, free_bytes)))
    this.held_bytes += Math.min(free_bytes, rest.length)
    if (this.held_bytes < WINDOW_BYTES) return text
    return text + this.decide(false) + (rest.length > free_bytes ? this.decoder.push(rest.subarray(free_bytes)) : '')
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
