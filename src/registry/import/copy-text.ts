/** Rows in the text format of COPY. Canonical JSON holds no raw tab or line break, so most texts pass as they are. */

/** UTF-8 of one UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3
const ESCAPED = /[\\\t\n\r]/
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

export const copyField = (text: string): string =>
  ESCAPED.test(text) ? text.replace(/[\\\t\n\r]/g, (found) => escapes[found] as string) : text

export interface StagedRow {
  readonly key: string
  readonly op?: 'put' | 'merge' | 'remove'
  /** Hex. */
  readonly hash: string
  readonly base_hash?: string | null
  readonly text: string | null
  readonly row: number
  readonly line?: number | undefined
}

export const copyLine = ({ key, op = 'put', hash, base_hash, text, row, line }: StagedRow): string =>
  `${copyField(key)}\t${op}\t\\\\x${hash}\t${base_hash ? `\\\\x${base_hash}` : '\\N'}\t${text === null ? '\\N' : copyField(text)}\t${row}\t${line ?? '\\N'}\n`

/**
 * Many rows as one piece of bytes. Each is written at once, so that none of its texts outlives it: kept until there are enough
 * of them they would be what the garbage collector is busy with.
 */
export class CopyRows {
  #bytes: Buffer
  #length = 0

  constructor(expected_bytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(expected_bytes)
  }

  get length(): number {
    return this.#length
  }

  /** An entry that is put, as all are that do not belong to an overlay. */
  put({ key, hash, text }: { key: string; hash: string; text: string }, row: number, line: number | undefined): void {
    // Canonical text holds no raw tab or line break, so a backslash is all there can be to escape.
    const data = text.includes('\\') ? copyField(text) : text
    const written = `${copyField(key)}\tput\t\\\\x${hash}\t\\N\t${data}\t${row}\t${line ?? '\\N'}\n`
    this.#room(written.length * MAX_BYTES_PER_UNIT)
    this.#length += this.#bytes.write(written, this.#length)
  }

  /** A copy of its own size: the room is used again. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    return bytes
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + bytes))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
