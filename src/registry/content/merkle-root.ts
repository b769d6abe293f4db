/**
 * The content hash of a list of any length in little memory: pairs are kept apart by the first bits of their key hash, the most
 * of a long list in a temporary file, and put in order one part after the other. It is the root `merkle.ts` gives, with the nodes
 * and blocks of pairs that are stored to prove single keys by (stored-tree.ts).
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

/** No more than the fewest bits buckets have, so that every bucket lies in one part. */
const PART_BITS = 6
const PARTS = 2 ** PART_BITS
const BUFFER_BYTES = 1024 * PAIR_BYTES

interface Partition {
  /** Where in the file a full room was written, or the room itself where there is no file. */
  readonly full: (number | Buffer)[]
  room: Buffer | undefined
  used_bytes: number
}

export class RootBuilder {
  count = 0
  readonly #folder: string
  readonly #partitions: readonly Partition[] = Array.from({ length: PARTS }, () => ({
    full: [],
    room: undefined,
    used_bytes: 0,
  }))
  #file: number | null = null
  #file_bytes = 0

  /** `folder`: where the temporary file is made. */
  constructor(folder = tmpdir()) {
    this.#folder = folder
  }

  addDigest(key: string, entry_digest: string): void {
    if (entry_digest.length !== HASH_BYTES) throw new TypeError('A digest has 32 bytes')
    const key_digest = keyDigest(key)
    const part = this.#partitions[key_digest.charCodeAt(0) >>> (8 - PART_BITS)] as Partition
    part.room ??= Buffer.allocUnsafeSlow(BUFFER_BYTES)
    part.room.write(key_digest + entry_digest, part.used_bytes, 'latin1')
    this.count++
    part.used_bytes += PAIR_BYTES
    if (part.used_bytes === BUFFER_BYTES) this.#spill(part, part.room)
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

  /** All pairs in ascending blocks. They are sorted once more: only the first version of a list and few others ask. */
  *blocks(): Generator<TreeBlock> {
    const bits = getBucketBits(this.count)
    for (const { pairs, buckets, first } of this.#sortedPartitions()) {
      yield* iterateBlocks(pairs, buckets, bits, first, baseBlockBits(this.count))
    }
  }

  *#sortedPartitions() {
    const bits = getBucketBits(this.count)
    const length = 2 ** (bits - PART_BITS)
    const pairs = new PairStore()
    const room = Buffer.allocUnsafeSlow(BUFFER_BYTES)
    for (const [index, part] of this.#partitions.entries()) {
      pairs.clear()
      for (const kept of part.full) pairs.pushAll(typeof kept === 'number' ? this.#read(room, kept) : kept)
      if (part.room) pairs.pushAll(part.room.subarray(0, part.used_bytes))
      const first = index * length
      yield { pairs, first, buckets: sortIntoBuckets(pairs, bits, first, length) }
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #spill(part: Partition, room: Buffer): void {
    const at = this.#write(room)
    part.full.push(at ?? room)
    if (at === null) part.room = undefined
    part.used_bytes = 0
  }

  /** Where it stands in the file. Null: there is no file, or no room in it, and memory must do. */
  #write(room: Buffer): number | null {
    try {
      this.#file ??= openUnlinkedFile(this.#folder)
      if (writeSync(this.#file, room, 0, BUFFER_BYTES, this.#file_bytes) !== BUFFER_BYTES) return null
      this.#file_bytes += BUFFER_BYTES
      return this.#file_bytes - BUFFER_BYTES
    } catch {
      return null
    }
  }

  #read(room: Buffer, at: number): Buffer {
    if (readSync(this.#file as number, room, 0, BUFFER_BYTES, at) !== BUFFER_BYTES) throw new Error('pairs are lost')
    return room
  }
}

/** Removed as soon as it is open, so that nothing is left however the process ends. */
function openUnlinkedFile(folder: string): number {
  const own = mkdtempSync(join(folder, 'probity-pairs-'))
  try {
    return openSync(join(own, 'pairs'), 'wx+', 0o600)
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}
