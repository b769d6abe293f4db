/**
 * Writes rows in the binary format of COPY: key, op, hash, base_hash, data, row, line. Every field is its length and its bytes, so
 * nothing is escaped, and an entry is hashed in the buffer that holds its text.
 */
import { digestEntryIn, HASH_BYTES } from '../content/hashes.ts'

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

/** The header (signature, no flags, no extension) and the trailer of the binary format. */
export const COPY_BEGIN = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
export const COPY_END = Buffer.from([0xff, 0xff])

const FIELDS = 7
const NULL = -1
const COUNT_BYTES = 2
const LENGTH_BYTES = 4
const NUMBER_BYTES = 8
/** UTF-8 of one UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3

export function copyRow({ key, op = 'put', hash, base_hash, text, row, line }: StagedRow): Buffer {
  const fields = [
    Buffer.from(key),
    Buffer.from(op),
    Buffer.from(hash, 'hex'),
    base_hash ? Buffer.from(base_hash, 'hex') : null,
    text === null ? null : Buffer.from(text),
    encodeNumber(row),
    line === undefined ? null : encodeNumber(line),
  ]
  const count = Buffer.alloc(COUNT_BYTES)
  count.writeInt16BE(FIELDS)
  return Buffer.concat([
    count,
    ...fields.flatMap((field) => (field ? [encodeLength(field), field] : [encodeLength(null)])),
  ])
}

/** A block of the stored tree: block, pairs. */
export function copyTreeRow({ block, pairs }: { readonly block: number; readonly pairs: Uint8Array }): Buffer {
  const count = Buffer.alloc(COUNT_BYTES)
  count.writeInt16BE(2)
  const number = encodeNumber(block)
  return Buffer.concat([count, encodeLength(number), number, encodeLength(pairs), pairs])
}

function encodeLength(field: Uint8Array | null): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeInt32BE(field?.length ?? NULL)
  return length
}

function encodeNumber(value: number): Buffer {
  const bytes = Buffer.alloc(NUMBER_BYTES)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}

/** The hash of a removed entry. */
const REMOVED = Buffer.alloc(HASH_BYTES)
const PUT = Buffer.from('put')
/** Fields between key and data: op, hash, the null base_hash and the length of the data. */
const MIDDLE_BYTES = LENGTH_BYTES + PUT.length + LENGTH_BYTES + HASH_BYTES + LENGTH_BYTES + LENGTH_BYTES
const MAX_NUMBERS_BYTES = 2 * (LENGTH_BYTES + NUMBER_BYTES)

/**
 * Many rows in one buffer. Each row is written immediately, so that its texts do not survive long enough to burden the garbage
 * collector.
 */
export class CopyRows {
  /** Size of all texts. */
  data_bytes = 0
  #bytes: Buffer
  #length = 0

  constructor(expected_bytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(expected_bytes)
  }

  get length(): number {
    return this.#length
  }

  /** Adds an entry with the operation `put`, which all entries outside overlays have. Returns the digest of its text. */
  put(key: string, text: string, row: number, line: number | undefined): string {
    this.#reserve(
      COUNT_BYTES + LENGTH_BYTES + MIDDLE_BYTES + MAX_NUMBERS_BYTES + (key.length + text.length) * MAX_BYTES_PER_UNIT,
    )
    const bytes = this.#bytes
    const key_at = this.#length + COUNT_BYTES + LENGTH_BYTES
    const key_end = key_at + bytes.write(key, key_at)
    const data_at = key_end + MIDDLE_BYTES
    const data_end = data_at + bytes.write(text, data_at)
    // The hash needs its domain before the text, where other fields are written afterwards.
    const digest = digestEntryIn(bytes, data_at, data_end)
    this.#length = bytes.writeInt16BE(FIELDS, this.#length)
    bytes.writeInt32BE(key_end - key_at, this.#length)
    let at = bytes.writeInt32BE(PUT.length, key_end)
    at += PUT.copy(bytes, at)
    at = bytes.writeInt32BE(HASH_BYTES, at)
    at += bytes.write(digest, at, 'latin1')
    at = bytes.writeInt32BE(NULL, at)
    bytes.writeInt32BE(data_end - data_at, at)
    at = this.#putNumber(row, data_end)
    this.#length = line === undefined ? bytes.writeInt32BE(NULL, at) : this.#putNumber(line, at)
    this.data_bytes += data_end - data_at
    return digest
  }

  /** Adds a row of a delta that removes an entry. Returns its digest of zeros. */
  remove(key: string, row: number, line: number | undefined): string {
    const bytes = copyRow({ key, op: 'remove', hash: REMOVED.toString('hex'), text: null, row, line })
    this.#reserve(bytes.length)
    this.#length += bytes.copy(this.#bytes, this.#length)
    return REMOVED.toString('latin1')
  }

  /** A copy of the exact size: the buffer is reused. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    return bytes
  }

  #putNumber(value: number, at: number): number {
    const number_at = this.#bytes.writeInt32BE(NUMBER_BYTES, at)
    this.#bytes.writeUInt32BE(Math.floor(value / 2 ** 32), number_at)
    return this.#bytes.writeUInt32BE(value >>> 0, number_at + NUMBER_BYTES / 2)
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + bytes))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
