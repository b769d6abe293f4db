/**
 * Computes the content hash of a list of any length in bounded memory: pairs are partitioned by the first bits of their key hash,
 * spilled to a temporary file, and sorted one partition at a time. The root is the one of `merkle.ts`, with the nodes and blocks of
 * pairs that are stored for proofs of single keys (stored-tree.ts).
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HASH_BYTES, keyDigest, rootHash } from './hashes.ts'
import {
  buildLevels,
  getBucketBits,
  hashBucket,
  iterateBlocks,
  PAIR_BYTES,
  PairStore,
  sortIntoBuckets,
} from './merkle.ts'
import { baseBlockBits, encodeNodes, type TreeBlock } from './stored-tree.ts'

/** Not more than the minimum number of bucket bits, so that every bucket is in one partition. */
const PART_BITS = 6
const PARTS = 2 ** PART_BITS
const BUFFER_BYTES = 1024 * PAIR_BYTES

interface Partition {
  /** Position of a full chunk in the file, or the chunk itself when there is no file. */
  readonly full: (number | Buffer)[]
  chunk: Buffer | undefined
  used_bytes: number
}

export class RootBuilder {
  count = 0
  readonly #folder: string
  readonly #partitions: readonly Partition[] = Array.from({ length: PARTS }, () => ({
    full: [],
    chunk: undefined,
    used_bytes: 0,
  }))
  #file: number | null = null
  #file_bytes = 0

  /** `folder`: where the temporary file is created. */
  constructor(folder = tmpdir()) {
    this.#folder = folder
  }

  addDigest(key: string, entry_digest: string): void {
    if (entry_digest.length !== HASH_BYTES) throw new TypeError('A digest has 32 bytes')
    const key_digest = keyDigest(key)
    const part = this.#partitions[key_digest.charCodeAt(0) >>> (8 - PART_BITS)] as Partition
    part.chunk ??= Buffer.allocUnsafeSlow(BUFFER_BYTES)
    part.chunk.write(key_digest + entry_digest, part.used_bytes, 'latin1')
    this.count++
    part.used_bytes += PAIR_BYTES
    if (part.used_bytes === BUFFER_BYTES) this.#spill(part, part.chunk)
  }

  /** Throws DuplicateKey when two entries share a key. */
  finish(): { readonly root: string; readonly nodes: Uint8Array<ArrayBuffer> } {
    const hashes: Buffer[] = []
    for (const { pairs, buckets } of this.#sortedPartitions()) {
      for (let bucket = 0; bucket < buckets.starts.length - 1; bucket++) hashes.push(hashBucket(pairs, buckets, bucket))
    }
    const levels = buildLevels(hashes)
    return { root: rootHash(this.count, levels.at(-1)?.[0] as Buffer), nodes: new Uint8Array(encodeNodes(levels)) }
  }

  /** All pairs in ascending blocks. This sorts them again, since few versions of a list need them. */
  *blocks(): Generator<TreeBlock> {
    const per_block = 2 ** (getBucketBits(this.count) - baseBlockBits(this.count))
    for (const { pairs, buckets, first } of this.#sortedPartitions()) {
      yield* iterateBlocks(pairs, buckets, first, per_block)
    }
  }

  *#sortedPartitions() {
    const bits = getBucketBits(this.count)
    const length = 2 ** (bits - PART_BITS)
    const pairs = new PairStore()
    const chunk = Buffer.allocUnsafeSlow(BUFFER_BYTES)
    for (const [index, part] of this.#partitions.entries()) {
      pairs.clear()
      for (const kept of part.full) pairs.pushAll(typeof kept === 'number' ? this.#read(chunk, kept) : kept)
      if (part.chunk) pairs.pushAll(part.chunk.subarray(0, part.used_bytes))
      const first = index * length
      yield { pairs, first, buckets: sortIntoBuckets(pairs, bits, first, length) }
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #spill(part: Partition, chunk: Buffer): void {
    const at = this.#write(chunk)
    part.full.push(at ?? chunk)
    if (at === null) part.chunk = undefined
    part.used_bytes = 0
  }

  /** Position in the file. Null: the file cannot be created or is full, so the chunk stays in memory. */
  #write(chunk: Buffer): number | null {
    try {
      this.#file ??= openUnlinkedFile(this.#folder)
      if (writeSync(this.#file, chunk, 0, BUFFER_BYTES, this.#file_bytes) !== BUFFER_BYTES) return null
      this.#file_bytes += BUFFER_BYTES
      return this.#file_bytes - BUFFER_BYTES
    } catch {
      return null
    }
  }

  #read(chunk: Buffer, at: number): Buffer {
    if (readSync(this.#file as number, chunk, 0, BUFFER_BYTES, at) !== BUFFER_BYTES) throw new Error('pairs are lost')
    return chunk
  }
}

/** Unlinked as soon as it is open, so that no file is left however the process ends. */
function openUnlinkedFile(folder: string): number {
  const own = mkdtempSync(join(folder, 'probity-pairs-'))
  try {
    return openSync(join(own, 'pairs'), 'wx+', 0o600)
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}
