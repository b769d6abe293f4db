/**
 * The backup file: gzip of one JSON text per line. A header (format, schema, tables with columns), then the sections (tenant,
 * table, rows as arrays of texts, count and SHA-256 of the lines), finally a trailer with the SHA-256 of everything before it,
 * authenticated with the master key. A file that was cut, altered or mixed up is refused with a message.
 */
import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import { pipeline } from 'node:stream'
import { pipeline as pipelineDone } from 'node:stream/promises'
import { createGunzip, createGzip, type Gzip } from 'node:zlib'
import { DecryptionFailed, getMasterKeyId, type KeyWrapper } from '#kernel/encryption/keyring.ts'
import { describeSchemaErrors } from '#kernel/http/validation.ts'
import { Count, closed, Id, integer, type Static, type TSchema, Type, text } from '#kernel/schema.ts'

export const FORMAT_VERSION = 1
const FORMAT = 'probity-backup'
const SEAL_CONTEXT = 'backup'
/** Far longer than any row: a file without line ends must not fill the memory, and PostgreSQL must accept it. */
const LINE_MAX_BYTES = 128 * 1024 * 1024
/** Size of one chunk. */
const CHUNK_BYTES = 1024 * 1024

const Sha256 = text(64, { pattern: '^[0-9a-f]{64}$' })

const Header = closed({
  format: text(50),
  format_version: integer(1, 1_000_000),
  schema_version: text(10),
  /** Of the migrations as they were applied. */
  schema_sha256: Sha256,
  product_version: text(100),
  taken_at: text(40),
  tenants: Count,
  tables: Type.Array(
    closed({
      name: text(63),
      kind: text(20),
      columns: Type.Array(closed({ name: text(63), type: text(200) })),
    }),
  ),
})
export type Header = Static<typeof Header>

const Section = closed({ tenant_id: Id(), table: text(63) })
export type Section = Static<typeof Section>

const SectionEnd = closed({ rows: Count, sha256: Sha256 })
export type SectionEnd = Static<typeof SectionEnd>

const Trailer = closed({ sections: Count, rows: Count, sha256: Sha256, seal: text(2000) })
export type Trailer = Static<typeof Trailer>

/** The file is invalid; the message says why to the person who provided it. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}

export interface BackupCounts {
  readonly sections: number
  readonly rows: number
  /** Hash of all lines before the last one: identifies a backup. */
  readonly sha256: string
}

/** Count and digest of the rows of one section, from the file or from the database. */
export class SectionDigest {
  #rows = 0
  readonly #hash = createHash('sha256')

  add(line: string | Buffer): void {
    this.#rows++
    this.#hash.update(line).update('\n')
  }
  end(): SectionEnd {
    return { rows: this.#rows, sha256: this.#hash.digest('hex') }
  }
}

export const isSameSectionEnd = (one: SectionEnd, two: SectionEnd): boolean =>
  one.rows === two.rows && one.sha256 === two.sha256

export class BackupWriter {
  // Most large values are compressed or random already: a higher level only costs time.
  readonly #gzip: Gzip = createGzip({ level: 3 })
  readonly #done: Promise<void>
  readonly #hash = createHash('sha256')
  #sections = 0
  #rows = 0

  /** Never replaces a file, and only its owner may read it: it is as sensitive as the database. */
  constructor(file: string) {
    const fd = fs.openSync(file, 'wx', 0o600)
    this.#done = pipelineDone(this.#gzip, fs.createWriteStream(file, { fd, flush: true }))
    // Reported by the next write or by the end.
    this.#done.catch(() => {})
  }

  writeHeader(facts: Omit<Header, 'format' | 'format_version'>): Promise<void> {
    return this.#write(`${JSON.stringify({ format: FORMAT, format_version: FORMAT_VERSION, ...facts })}\n`)
  }

  async writeSection(section: Section, pieces: AsyncIterable<readonly (readonly (string | null)[])[]>): Promise<void> {
    await this.#write(`${JSON.stringify({ section })}\n`)
    const digest = new SectionDigest()
    for await (const rows of pieces) {
      const lines = rows.map((row) => JSON.stringify(row))
      for (const line of lines) {
        // In UTF-8 a character has at most three bytes for each UTF-16 code unit.
        if (line.length > LINE_MAX_BYTES / 3) throw new BackupError(`${section.table} has a row too long for a backup.`)
        digest.add(line)
      }
      await this.#write(`${lines.join('\n')}\n`)
    }
    const end = digest.end()
    this.#sections++
    this.#rows += end.rows
    await this.#write(`${JSON.stringify({ end })}\n`)
  }

  async finish(wrapper: KeyWrapper): Promise<BackupCounts> {
    const sha256 = this.#hash.digest('hex')
    const totals: BackupCounts = { sections: this.#sections, rows: this.#rows, sha256 }
    const trailer: Trailer = { ...totals, seal: await wrapper.wrap(Buffer.from(sha256), SEAL_CONTEXT) }
    this.#gzip.end(`${JSON.stringify({ trailer })}\n`)
    await this.#done
    return totals
  }

  async abort(): Promise<void> {
    this.#gzip.destroy()
    await this.#done.catch(() => {})
  }

  async #write(chunk: string): Promise<void> {
    if (this.#gzip.destroyed) await this.#done
    this.#hash.update(chunk)
    if (!this.#gzip.write(chunk)) await once(this.#gzip, 'drain')
  }
}

/** Reads a file once from start to end, and checks everything. */
export class BackupReader {
  readonly file: string
  readonly #lines: AsyncGenerator<Buffer>
  readonly #hash: Hash = createHash('sha256')
  #sections = 0
  #rows = 0

  private constructor(file: string) {
    this.file = file
    this.#lines = readLines(file)
  }

  static async open(file: string): Promise<{ reader: BackupReader; header: Header }> {
    const reader = new BackupReader(file)
    const line = await reader.#next('header')
    const value = parse(line) as { format?: unknown; format_version?: unknown } | undefined
    if (value?.format !== FORMAT) throw new BackupError(`${file} is not a Probity backup.`)
    if (value.format_version !== FORMAT_VERSION) {
      throw new BackupError(
        `${file} has format ${String(value.format_version).slice(0, 20)}, but this version reads format ${FORMAT_VERSION}. ` +
          'Use the release that wrote it.',
      )
    }
    return { reader, header: reader.#validate(Header, value) }
  }

  /** The next section; at the end of the file its trailer, if it matches everything that was read. */
  async next(): Promise<{ section: Section } | { trailer: Trailer }> {
    const before = this.#hash.copy()
    const value = parse(await this.#next('trailer')) as { section?: unknown; trailer?: unknown } | undefined
    if (value?.section !== undefined) return { section: this.#validate(Section, value.section) }
    const trailer = this.#validate(Trailer, value?.trailer)
    const isWhole =
      trailer.sections === this.#sections && trailer.rows === this.#rows && trailer.sha256 === before.digest('hex')
    if (!isWhole || !(await this.#lines.next()).done) throw this.#damagedError('its parts do not fit together')
    return { trailer }
  }

  /** The rows of the current section as lines, in chunks; finally its count and digest. */
  async *rows(): AsyncGenerator<readonly string[], SectionEnd> {
    const digest = new SectionDigest()
    let piece: string[] = []
    let bytes = 0
    for (;;) {
      const line = await this.#next('rows')
      if (line[0] !== OPENING_BRACKET) {
        if (piece.length > 0) yield piece
        return this.#readSectionEnd(line, digest.end())
      }
      digest.add(line)
      piece.push(line.toString())
      bytes += line.length
      if (bytes < CHUNK_BYTES) continue
      yield piece
      piece = []
      bytes = 0
    }
  }

  async close(): Promise<void> {
    await this.#lines.return(undefined)
  }

  #readSectionEnd(line: Buffer, found: SectionEnd): SectionEnd {
    const end = this.#validate(SectionEnd, (parse(line) as { end?: unknown } | undefined)?.end)
    if (!isSameSectionEnd(end, found))
      throw this.#damagedError('the rows of a section are not those it was written with')
    this.#sections++
    this.#rows += end.rows
    return end
  }

  async #next(wanted: string): Promise<Buffer> {
    const { value, done } = await this.#lines.next()
    if (done) throw new BackupError(`${this.file} is cut off: it ends where its ${wanted} should be.`)
    this.#hash.update(value).update('\n')
    return value
  }

  #validate<S extends TSchema>(schema: S, value: unknown): Static<S> {
    if (describeSchemaErrors(schema, value) !== null) throw this.#damagedError('a line is not as it was written')
    return value as Static<S>
  }

  #damagedError(reason: string): BackupError {
    return new BackupError(`${this.file} is damaged or was altered: ${reason}.`)
  }
}

const OPENING_BRACKET = '['.charCodeAt(0)
const LINE_END = '\n'.charCodeAt(0)

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString())
  } catch {
    return undefined
  }
}

async function* readLines(file: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip()
  pipeline(fs.createReadStream(file), gunzip, () => {})
  let open: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      let from = 0
      for (let at = chunk.indexOf(LINE_END); at !== -1; at = chunk.indexOf(LINE_END, from)) {
        yield Buffer.concat([...open, chunk.subarray(from, at)])
        open = []
        bytes = 0
        from = at + 1
      }
      open.push(chunk.subarray(from))
      bytes += chunk.length - from
      if (bytes > LINE_MAX_BYTES) throw new BackupError(`${file} is not a Probity backup.`)
    }
  } catch (error) {
    throw toBackupError(file, error as NodeJS.ErrnoException)
  } finally {
    gunzip.destroy()
  }
  // What follows the last line end belongs to an incomplete line.
}

function toBackupError(file: string, error: NodeJS.ErrnoException): Error {
  if (error.code === 'Z_BUF_ERROR') return new BackupError(`${file} is cut off.`)
  if (error.code?.startsWith('Z_'))
    return new BackupError(`${file} is damaged or is not a Probity backup: ${error.message}.`)
  if (error.code === 'ENOENT') return new BackupError(`${file} does not exist.`)
  return error
}

/** Whether the trailer was written with one of these master keys. */
export async function isAuthentic(wrapper: KeyWrapper, trailer: Trailer): Promise<boolean> {
  try {
    return (await wrapper.unwrap(trailer.seal, SEAL_CONTEXT)).toString() === trailer.sha256
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error
    return false
  }
}

/** The id of the master key that the trailer names. An altered file may contain anything here. */
export const getSealKeyId = ({ seal }: Trailer): string =>
  /^[A-Za-z0-9_:-]{1,63}$/.exec(getMasterKeyId(seal))?.[0] ?? 'unknown'
