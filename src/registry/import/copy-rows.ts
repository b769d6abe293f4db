/**
 * Rows as COPY takes them in its binary format: key, op, hash, base_hash, data, row, line. There every field is its length and its
 * bytes, so nothing has to be escaped, and an entry is hashed where its text is written.
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

/** What COPY wants to read before the first row (a signature, no flags, no extension) and after the last. */
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
    bytesOf(row),
    line === undefined ? null : bytesOf(line),
  ]
  const count = Buffer.alloc(COUNT_BYTES)
  count.writeInt16BE(FIELDS)
  return Buffer.concat([count, ...fields.flatMap((field) => (field ? [lengthOf(field), field] : [lengthOf(null)]))])
}

/** A block of the stored tree: block, pairs. */
export function copyTreeRow({ block, pairs }: { readonly block: number; readonly pairs: Uint8Array }): Buffer {
  const count = Buffer.alloc(COUNT_BYTES)
  count.writeInt16BE(2)
  const number = bytesOf(block)
  return Buffer.concat([count, lengthOf(number), number, lengthOf(pairs), pairs])
}

function lengthOf(field: Uint8Array | null): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeInt32BE(field?.length ?? NULL)
  return length
}

function bytesOf(value: number): Buffer {
  const bytes = Buffer.alloc(NUMBER_BYTES)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}

/** What stands for the hash of an entry that is no more. */
const REMOVED = Buffer.alloc(HASH_BYTES)
const PUT = Buffer.from('put')
/** Between key and data: op, hash, the missing base_hash and the length of the data. */
const MIDDLE_BYTES = LENGTH_BYTES + PUT.length + LENGTH_BYTES + HASH_BYTES + LENGTH_BYTES + LENGTH_BYTES
const MAX_NUMBERS_BYTES = 2 * (LENGTH_BYTES + NUMBER_BYTES)

/**
 * Many rows as one piece of bytes. Each is written at once, so that none of its texts outlives it: kept until there are enough
 * of them they would be what the garbage collector is busy with.
 */
export class CopyRows {
  /** Of all texts that were put. */
  data_bytes = 0
  #bytes: Buffer
  #length = 0

  constructor(expected_bytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(expected_bytes)
  }

  get length(): number {
    return this.#length
  }

  /** An entry that is put, as all are that do not belong to an overlay. Gives the digest of its text. */
  put(key: string, text: string, row: number, line: number | undefined): string {
    this.#reserve(
      COUNT_BYTES + LENGTH_BYTES + MIDDLE_BYTES + MAX_NUMBERS_BYTES + (key.length + text.length) * MAX_BYTES_PER_UNIT,
    )
    const bytes = this.#bytes
    const key_at = this.#length + COUNT_BYTES + LENGTH_BYTES
    const key_end = key_at + bytes.write(key, key_at)
    const data_at = key_end + MIDDLE_BYTES
    const data_end = data_at + bytes.write(text, data_at)
    // What is hashed begins a little before the text, where other fields go afterwards.
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

  /** A row of a delta that removes an entry. Gives the digest of zeros it is staged with. */
  remove(key: string, row: number, line: number | undefined): string {
    const bytes = copyRow({ key, op: 'remove', hash: REMOVED.toString('hex'), text: null, row, line })
    this.#reserve(bytes.length)
    this.#length += bytes.copy(this.#bytes, this.#length)
    return REMOVED.toString('latin1')
  }

  /** A copy of its own size: the room is used again. */
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
