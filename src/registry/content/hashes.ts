/**
 * Hashes that address content. Each kind starts with its own domain text (domain separation), so that a hash of one kind is never
 * valid as another. A change here changes every published content hash.
 */
import { hash } from 'node:crypto'

export const HASH_BYTES = 32

/** Hash of a business key, hex. Its first bits choose the bucket. */
export const keyHash = (key: string): string => hash('sha256', `probity.key.1\n${key}`, 'hex')

/** The same as a digest: a string of 32 characters, one per byte, which is faster to create and write than hex. */
export const keyDigest = (key: string): string => hash('sha256', `probity.key.1\n${key}`, 'binary')

const ENTRY_DOMAIN = Buffer.from('probity.entry.1\n')
/** Writing a concatenated string into the buffer also flattens it, which makes later uses faster. */
const entryBuffer = Buffer.concat([ENTRY_DOMAIN], 16 * 1024)

/** Hash of an entry, hex, over its RFC 8785 canonical text. */
export function entryHash(canonical: string): string {
  if (canonical.length * 3 > entryBuffer.length - ENTRY_DOMAIN.length) {
    return hash('sha256', `probity.entry.1\n${canonical}`, 'hex')
  }
  const end = ENTRY_DOMAIN.length + entryBuffer.write(canonical, ENTRY_DOMAIN.length)
  return hash('sha256', entryBuffer.subarray(0, end), 'hex')
}

/** Digest of an entry whose canonical text is in `buffer`. The bytes before the text are overwritten with the domain. */
export function digestEntryIn(buffer: Buffer, text_at: number, text_end: number): string {
  const from = text_at - ENTRY_DOMAIN.length
  ENTRY_DOMAIN.copy(buffer, from)
  return hash('sha256', buffer.subarray(from, text_end), 'binary')
}

const BUCKET_DOMAIN = Buffer.from('probity.bucket.1\n')
const NODE_DOMAIN = Buffer.from('probity.node.1\n')
const ROOT_DOMAIN = Buffer.from('probity.root.1\n')

/** Hash of an empty bucket. `bucketHash` always returns this Buffer, so a tree can compare by identity; never written to. */
export const EMPTY_BUCKET_HASH: Buffer = hash('sha256', BUCKET_DOMAIN, 'buffer')

/** Over the bucket's (key hash, entry hash) pairs, 64 bytes each, ascending by key hash. */
export const bucketHash = (pairs: readonly Buffer[]): Buffer =>
  pairs.length === 0 ? EMPTY_BUCKET_HASH : hash('sha256', Buffer.concat([BUCKET_DOMAIN, ...pairs]), 'buffer')

export const nodeHash = (left: Buffer, right: Buffer): Buffer =>
  hash('sha256', Buffer.concat([NODE_DOMAIN, left, right]), 'buffer')

/** The count is part of the hash: it determines the number of buckets, so a proof must not be able to change it. */
export function rootHash(count: number, top: Buffer): string {
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(BigInt(count))
  return hash('sha256', Buffer.concat([ROOT_DOMAIN, size, top]), 'hex')
}
