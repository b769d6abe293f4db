/**
 * Decodes bytes to text: decompresses gzip and a zip of one file, finds the encoding, and refuses invalid bytes with their offset
 * and line. No byte is replaced by a substitute character.
 */
import { isUtf8 } from 'node:buffer'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Source } from '../adapter.ts'
import { openArchive } from './archive.ts'
import { DetectingDecoder, type PieceDecoder } from './encoding-detection.ts'
import { onLine, refuseSource } from './fault.ts'

/** Single-byte encodings that are never detected: a wrong one gives other letters, not errors. */
const declaredOnly = [
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'iso-8859-2',
  'iso-8859-5',
  'iso-8859-7',
  'iso-8859-9',
  'koi8-r',
  'macintosh',
] as const
type DeclaredOnly = (typeof declaredOnly)[number]
export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'iso-8859-1', 'windows-1252', ...declaredOnly] as const
export type Encoding = (typeof encodings)[number]

export const MAX_EXPANDED_BYTES = 2 * 1024 * 1024 * 1024
/** Text is yielded in pieces of this size, whatever the chunks of the source. */
const PIECE_BYTES = 64 * 1024
const PROLOGUE_BYTES = 256

export const encodingOrigins = ['byte-order-mark', 'declaration', 'option', 'content'] as const
export interface DetectedEncoding {
  readonly encoding: Encoding
  /** How it was determined; `option` is also an adapter's fixed encoding. */
  readonly encoding_from: (typeof encodingOrigins)[number]
}

export interface TextOptions {
  /** The declared encoding; a byte order mark takes precedence. `xml` reads the XML declaration, `detect` inspects the bytes. */
  readonly encoding?: Encoding | 'xml' | 'detect' | undefined
  /** Called once, when the encoding is known. */
  readonly onEncoding?: ((found: DetectedEncoding) => void) | undefined
  readonly max_expanded_bytes?: number | undefined
}

/** The text of a source, decompressed and decoded. */
export async function* readText(source: Source, options: TextOptions = {}): AsyncGenerator<string, void, undefined> {
  const bytes = unwrap(source, options.max_expanded_bytes ?? MAX_EXPANDED_BYTES)
  yield* decode(bytes, options.encoding, options.onEncoding)
}

/** The decompressed bytes of a source; gzip and zip are detected by their first bytes. */
export async function* unwrap(source: Source, max_expanded_bytes: number): AsyncGenerator<Buffer, void, undefined> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    const head = await readHead(iterator, 4)
    if (head[0] === 0x1f && head[1] === 0x8b) yield* gunzip(prependHead(head, iterator), max_expanded_bytes)
    else if (isZip(head)) yield* readOnlyMember(prependHead(head, iterator), max_expanded_bytes)
    else yield* limitBytes(prependHead(head, iterator), max_expanded_bytes)
  } finally {
    await iterator.return?.()
  }
}

/** The first bytes of a source, and the same source again from its first byte. An empty one is refused. */
export async function peek(
  source: Source,
  want_bytes = 4,
): Promise<{ head: Buffer; bytes: Source; close(): Promise<void> }> {
  const iterator = source[Symbol.asyncIterator]()
  const head = await readHead(iterator, want_bytes)
  if (head.length === 0) refuseEmpty()
  const close = async () => {
    await iterator.return?.()
  }
  return { head, bytes: prependHead(head, iterator), close }
}

function refuseEmpty(): never {
  refuseSource('empty_source', 'The source is empty: it has no byte at all.')
}

/** Local file header, or the end record of an empty archive. */
export const isZip = (head: Buffer): boolean =>
  head[0] === 0x50 && head[1] === 0x4b && ((head[2] === 3 && head[3] === 4) || (head[2] === 5 && head[3] === 6))

async function readHead(iterator: AsyncIterator<Uint8Array>, want_bytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for (let bytes = 0; bytes < want_bytes; ) {
    const next = await iterator.next()
    if (next.done) break
    chunks.push(next.value)
    bytes += next.value.length
  }
  return chunks.length === 1 ? asBuffer(chunks[0] as Uint8Array) : Buffer.concat(chunks)
}

async function* prependHead(head: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  if (head.length > 0) yield head
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield asBuffer(next.value)
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

async function* gunzip(packed: Source, max_expanded_bytes: number): AsyncGenerator<Buffer, void, undefined> {
  const stream = createGunzip()
  // Errors, including those of the source, are thrown where the stream is read.
  pipeline(packed, stream, () => {})
  try {
    yield* limitBytes(stream, max_expanded_bytes)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'Z_BUF_ERROR') refuseSource('truncated', 'The gzip file ends too early. Download it again.')
    if (code?.startsWith('Z_')) refuseSource('archive_damaged', 'The gzip file is damaged. Download it again.')
    throw error
  } finally {
    stream.destroy()
  }
}

async function* limitBytes(chunks: AsyncIterable<Buffer>, max_bytes: number): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > max_bytes)
      refuseSource('expansion_limit', `The source is larger than ${max_bytes} bytes, the most that is read.`)
    yield chunk
  }
}

async function* readOnlyMember(packed: Source, max_expanded_bytes: number): AsyncGenerator<Buffer, void, undefined> {
  const archive = await openArchive(packed, max_expanded_bytes)
  try {
    const [member, ...others] = archive.members
    if (member === undefined) refuseSource('empty_source', 'The zip archive holds no file.')
    if (archive.members.some(({ name }) => name === '[Content_Types].xml')) {
      refuseSource(
        'archive_members',
        'The file is an Excel workbook or another Office document. Choose the adapter for .xlsx.',
      )
    }
    if (others.length > 0) {
      const names = archive.members.slice(0, 5).map(({ name }) => name)
      const found = `${archive.members.length} files (${names.join(', ')}${others.length > 4 ? ', …' : ''})`
      refuseSource('archive_members', `The zip archive holds ${found}. This format is read from exactly one.`)
    }
    yield* member.read()
  } finally {
    await archive.close()
  }
}

export async function* decode(
  bytes: Source,
  encoding: TextOptions['encoding'] = 'utf-8',
  onEncoding: (found: DetectedEncoding) => void = () => {},
): AsyncGenerator<string, void, undefined> {
  const iterator = bytes[Symbol.asyncIterator]()
  try {
    const head = await readHead(iterator, PROLOGUE_BYTES)
    if (head.length === 0) refuseEmpty()
    const mark = byteOrderMark(head)
    const decoder = createDecoder(head, mark?.encoding, encoding, onEncoding)
    decoder.skip(mark?.bytes ?? 0)
    for await (const chunk of prependHead(head.subarray(mark?.bytes ?? 0), iterator)) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        const text = decoder.push(chunk.subarray(at, at + PIECE_BYTES))
        if (text !== '') yield text
      }
    }
    const rest = decoder.end()
    if (rest !== '') yield rest
  } finally {
    await iterator.return?.()
  }
}

function createDecoder(
  head: Buffer,
  marked: Encoding | undefined,
  wanted: Encoding | 'xml' | 'detect',
  onEncoding: (found: DetectedEncoding) => void,
): PieceDecoder {
  if (marked === undefined && wanted === 'detect') {
    return new DetectingDecoder(
      (encoding) => createDecoderFor(encoding),
      (encoding) => onEncoding({ encoding, encoding_from: 'content' }),
    )
  }
  const encoding = marked ?? (wanted === 'xml' ? declaredEncoding(head) : (wanted as Encoding))
  const encoding_from = marked ? 'byte-order-mark' : wanted === 'xml' ? 'declaration' : 'option'
  onEncoding({ encoding, encoding_from })
  return createDecoderFor(encoding)
}

function byteOrderMark(head: Buffer): { encoding: Encoding; bytes: number } | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { encoding: 'utf-8', bytes: 3 }
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', bytes: 2 }
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be', bytes: 2 }
  return undefined
}

function declaredEncoding(head: Buffer): Encoding {
  const prologue = head.toString('latin1', 0, PROLOGUE_BYTES)
  const name = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']/.exec(prologue)?.[1]?.toLowerCase()
  if (name === undefined || name === 'utf8' || name === 'us-ascii') return 'utf-8'
  const known = encodings.find((each) => each === name)
  return known ?? refuseSource('encoding_unknown', `The file declares the encoding "${name}", which is not read.`)
}

/** Decodes chunk by chunk and tracks offset and line for faults. */
abstract class Decoder implements PieceDecoder {
  private offset_bytes = 0
  private line = 1

  get position() {
    return { offset_bytes: this.offset_bytes, line: this.line }
  }

  continueAt({ offset_bytes, line }: PieceDecoder['position']): void {
    this.offset_bytes = offset_bytes
    this.line = line
  }

  skip(bytes: number): void {
    this.offset_bytes += bytes
  }

  abstract push(bytes: Buffer): string
  /** Number of source bytes of a text. */
  protected abstract sizeOf(text: string): number
  /** Called once after the last piece: an incomplete character is a truncated source. */
  end(): string {
    return ''
  }

  /** `text` is decoded from `bytes` bytes; U+0000 in it means that the file is not text in this encoding. */
  protected done(text: string, bytes: number): string {
    const zero = text.indexOf('\0')
    if (zero >= 0) {
      const before = text.slice(0, zero)
      this.fault(before, this.sizeOf(before), 'There is a zero character, which text never has')
    }
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.line++
    this.offset_bytes += bytes
    return text
  }

  protected fault(before: string, before_bytes: number, what: string): never {
    const line = this.line + before.split('\n').length - 1
    const place = `at byte ${this.offset_bytes + before_bytes + 1}, line ${line}`
    refuseSource('encoding_invalid', `${what}, ${place}. Name the encoding the file is really in.`, onLine(line))
  }
}

class Utf8Decoder extends Decoder {
  private tail: Buffer = Buffer.alloc(0)

  push(bytes: Buffer): string {
    const all = this.tail.length === 0 ? bytes : Buffer.concat([this.tail, bytes])
    const whole = all.subarray(0, all.length - unfinishedBytes(all))
    this.tail = all.subarray(whole.length)
    const text = whole.toString('utf8')
    if (!isUtf8(whole)) this.refuseFirst(whole, text)
    return this.done(text, whole.length)
  }

  override end(): string {
    if (this.tail.length > 0) this.fault('', 0, 'The file ends in the middle of a character')
    return ''
  }

  protected sizeOf(text: string): number {
    return Buffer.byteLength(text)
  }

  /** Decoding writes U+FFFD for invalid bytes; the first one that is not in the file itself is the fault. */
  private refuseFirst(bytes: Buffer, text: string): never {
    for (let at = text.indexOf('\ufffd'); ; at = text.indexOf('\ufffd', at + 1)) {
      const before = text.slice(0, at)
      const offset = this.sizeOf(before)
      const genuine = bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd
      if (!genuine) this.fault(before, offset, 'The file is not valid UTF-8')
    }
  }
}

/** Number of bytes at the end that belong to an incomplete character. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0
  }
  return 0
}

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

class Utf16Decoder extends Decoder {
  private readonly swapped: boolean
  private tail: Buffer = Buffer.alloc(0)

  constructor(swapped: boolean) {
    super()
    this.swapped = swapped
  }

  push(bytes: Buffer): string {
    const all = Buffer.concat([this.tail, bytes])
    let end = all.length - (all.length % 2)
    const last = end === 0 ? 0 : this.swapped ? all.readUInt16BE(end - 2) : all.readUInt16LE(end - 2)
    if (last >= 0xd800 && last <= 0xdbff) end -= 2
    this.tail = Buffer.from(all.subarray(end))
    const whole = all.subarray(0, end)
    const text = (this.swapped ? Buffer.from(whole).swap16() : whole).toString('utf16le')
    const lone = LONE_SURROGATE.exec(text)
    if (lone) this.fault(text.slice(0, lone.index), lone.index * 2, 'The file is not valid UTF-16')
    return this.done(text, end)
  }

  override end(): string {
    if (this.tail.length > 0) this.fault('', 0, 'The file ends in the middle of a character')
    return ''
  }

  protected sizeOf(text: string): number {
    return text.length * 2
  }
}

/** Bytes 0x80 to 0x9f of windows-1252; the five undefined ones are control characters as in ISO 8859-1. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

class OneByteDecoder extends Decoder {
  private readonly windows: boolean

  constructor(windows: boolean) {
    super()
    this.windows = windows
  }

  push(bytes: Buffer): string {
    const text = bytes.toString('latin1')
    const read = this.windows
      ? text.replace(/[\x80-\x9f]/g, (char) => WINDOWS_1252[char.charCodeAt(0) - 0x80] as string)
      : text
    return this.done(read, bytes.length)
  }

  protected sizeOf(text: string): number {
    return text.length
  }
}

/** The characters of bytes 0x80 to 0xff, as the WHATWG Encoding Standard has them. */
class TableDecoder extends Decoder {
  private readonly label: DeclaredOnly
  private readonly characters: string

  constructor(label: DeclaredOnly) {
    super()
    this.label = label
    this.characters = new TextDecoder(label).decode(Uint8Array.from({ length: 128 }, (_, byte) => byte + 128))
  }

  push(bytes: Buffer): string {
    const text = bytes
      .toString('latin1')
      .replace(/[\x80-\xff]/g, (char) => this.characters[char.charCodeAt(0) - 0x80] as string)
    const undefined_at = text.indexOf('\ufffd')
    if (undefined_at >= 0) {
      this.fault(text.slice(0, undefined_at), undefined_at, `There is a byte that ${this.label} does not define`)
    }
    return this.done(text, bytes.length)
  }

  protected sizeOf(text: string): number {
    return text.length
  }
}

const builtInDecoders: Record<Exclude<Encoding, DeclaredOnly>, () => PieceDecoder> = {
  'utf-8': () => new Utf8Decoder(),
  'utf-16le': () => new Utf16Decoder(false),
  'utf-16be': () => new Utf16Decoder(true),
  'iso-8859-1': () => new OneByteDecoder(false),
  'windows-1252': () => new OneByteDecoder(true),
}

const isDeclaredOnly = (encoding: Encoding): encoding is DeclaredOnly => declaredOnly.includes(encoding as DeclaredOnly)
const createDecoderFor = (encoding: Encoding): PieceDecoder =>
  isDeclaredOnly(encoding) ? new TableDecoder(encoding) : builtInDecoders[encoding]()
