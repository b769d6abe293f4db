/**
 * The content hash of a list: a Merkle tree over buckets of hashed keys, built from entries in any order, with offline
 * proofs that a key is present or absent. It holds 64 bytes per entry and sees keys and entries only as hashes.
 */
import { bucketHash, EMPTY_BUCKET_HASH, entryHash, HASH_BYTES, keyHash, nodeHash, rootHash } from './hashes.ts'

export const PAIR_BYTES = 2 * HASH_BYTES
/** A chunk of 1 MiB. Only the first one is copied while it grows, so the peak stays close to what is stored. */
const CHUNK_PAIRS = 16_384
const MIN_BITS = 8
const MAX_BITS = 24
const AVERAGE_PAIRS_PER_BUCKET = 64
/** Only duplicate keys make a bucket larger. */
const SMALL_BUCKET = 4 * AVERAGE_PAIRS_PER_BUCKET

/**
 * The number of buckets is 2^bits: at least 256, and enough that a bucket holds at most 64 entries on average. It depends on the
 * number of entries only, so equal content always has an equal tree.
 */
export function getBucketBits(count: number): number {
  let bits = MIN_BITS
  while (bits < MAX_BITS && count > AVERAGE_PAIRS_PER_BUCKET * 2 ** bits) bits++
  return bits
}

/** Key hash and entry hash, hex. */
export type Pair = readonly [key_hash: string, entry_hash: string]

export interface Proof {
  readonly root: string
  /** Entries in the whole list. */
  readonly count: number
  readonly key_hash: string
  /** Null: the key is not in the list. */
  readonly entry_hash: string | null
  /** Everything in the key's bucket, ascending. */
  readonly bucket: readonly Pair[]
  /** Sibling hashes on the path from the bucket to the root, lowest first. */
  readonly siblings: readonly string[]
}

export interface MerkleTree {
  readonly root: string
  readonly count: number
  /** Levels of the tree, from the hashes of the buckets up to the root. */
  readonly levels: readonly Buffer[][]
  prove(key: string): Proof
  /** All pairs, ascending, in blocks by the first bits of the key hash. */
  blocks(block_bits: number): Iterable<{ readonly block: number; readonly pairs: Buffer }>
}

export class DuplicateKey extends Error {
  readonly key_hash: string
  constructor(key_hash: string) {
    super(`Two entries have the same key (its hash is ${key_hash})`)
    this.name = 'DuplicateKey'
    this.key_hash = key_hash
  }
}

export interface MerkleBuilder {
  readonly count: number
  add(key: string, canonical: string): void
  /** For entries whose hash is already known. */
  addHash(key: string, entry_hash: string): void
  /** For stored hashes, 32 bytes each. */
  addPair(key_hash: Uint8Array, entry_hash: Uint8Array): void
  /** Builds the tree. Throws DuplicateKey when two entries share a key. */
  finish(): MerkleTree
}

export function createMerkleBuilder(): MerkleBuilder {
  const pairs = new PairStore()
  return {
    get count() {
      return pairs.count
    },
    add: (key, canonical) => pairs.pushHex(keyHash(key), entryHash(canonical)),
    addHash: (key, entry_hash) => pairs.pushHex(keyHash(key), entry_hash),
    addPair: (key_hash, entry_hash) => pairs.push(key_hash, entry_hash),
    finish: () => buildTree(pairs),
  }
}

/** The first chunk begins with this many pairs and is doubled up to its full size: most lists are small. */
const FIRST_CHUNK_PAIRS = 64

/** Pairs one after the other in fixed chunks: no object per entry. */
export class PairStore {
  count = 0
  private readonly chunks: Buffer[] = []

  /** Where the next pair goes. */
  private appendSlot(): Buffer {
    const chunk = this.ensureChunk()
    this.count++
    return chunk
  }

  private ensureChunk(): Buffer {
    const first = this.chunks[0]
    if (first === undefined) {
      this.chunks.push(Buffer.allocUnsafe(FIRST_CHUNK_PAIRS * PAIR_BYTES))
    } else if (this.count < CHUNK_PAIRS && this.count * PAIR_BYTES === first.length) {
      this.chunks[0] = Buffer.concat([first], 2 * first.length)
    } else if (this.count === this.chunks.length * CHUNK_PAIRS) {
      this.chunks.push(Buffer.allocUnsafe(CHUNK_PAIRS * PAIR_BYTES))
    }
    return this.getChunk(this.count)
  }

  /** Removes the pairs and keeps the memory. */
  clear(): void {
    this.count = 0
  }

  /** Adds pairs that are stored one after the other. */
  pushAll(pairs: Buffer): void {
    for (let at = 0; at < pairs.length; ) {
      const copied = pairs.copy(this.ensureChunk(), (this.count % CHUNK_PAIRS) * PAIR_BYTES, at)
      this.count += copied / PAIR_BYTES
      at += copied
    }
  }

  pushHex(key_hash: string, entry_hash: string): void {
    if (entry_hash.length !== 2 * HASH_BYTES) throw new TypeError('An entry hash is 32 bytes in hex')
    const at = (this.count % CHUNK_PAIRS) * PAIR_BYTES
    const chunk = this.appendSlot()
    const written = chunk.write(key_hash, at, 'hex') + chunk.write(entry_hash, at + HASH_BYTES, 'hex')
    if (written !== PAIR_BYTES) throw new TypeError('A hash is 32 bytes in hex')
  }

  push(key_hash: Uint8Array, entry_hash: Uint8Array): void {
    if (key_hash.length !== HASH_BYTES || entry_hash.length !== HASH_BYTES) throw new TypeError('A hash has 32 bytes')
    const at = (this.count % CHUNK_PAIRS) * PAIR_BYTES
    const chunk = this.appendSlot()
    chunk.set(key_hash, at)
    chunk.set(entry_hash, at + HASH_BYTES)
  }

  pair(index: number): Buffer {
    const at = (index % CHUNK_PAIRS) * PAIR_BYTES
    return this.getChunk(index).subarray(at, at + PAIR_BYTES)
  }

  getBucket(index: number, bits: number): number {
    return readFirstBits(this.getChunk(index), bits, (index % CHUNK_PAIRS) * PAIR_BYTES)
  }

  /** The first 48 bits of the key hash, which almost always decide the order. */
  getKeyPrefix(index: number): number {
    return this.getChunk(index).readUIntBE((index % CHUNK_PAIRS) * PAIR_BYTES, 6)
  }

  compareKeys(a: number, b: number): number {
    const [atA, atB] = [(a % CHUNK_PAIRS) * PAIR_BYTES, (b % CHUNK_PAIRS) * PAIR_BYTES]
    return this.getChunk(a).compare(this.getChunk(b), atB, atB + HASH_BYTES, atA, atA + HASH_BYTES)
  }

  private getChunk(index: number): Buffer {
    return this.chunks[Math.floor(index / CHUNK_PAIRS)] as Buffer
  }
}

/** Zero bits give 0; a shift by 32 would return the number unchanged. */
export const readFirstBits = (key_hash: Buffer, bits: number, at = 0): number =>
  bits === 0 ? 0 : key_hash.readUInt32BE(at) >>> (32 - bits)

/** Indexes of the pairs in key order, and the start of each bucket, counted from the first sorted bucket. */
interface Buckets {
  readonly order: Uint32Array
  readonly starts: Uint32Array
}

/** Sorts pairs of the `count` buckets from `first` on by counting sort. Throws DuplicateKey. */
export function sortIntoBuckets(pairs: PairStore, bits: number, first = 0, count = 2 ** bits): Buckets {
  const starts = new Uint32Array(count + 1)
  for (let index = 0; index < pairs.count; index++) {
    const after = pairs.getBucket(index, bits) - first + 1
    starts[after] = (starts[after] as number) + 1
  }
  for (let bucket = 1; bucket < starts.length; bucket++) {
    starts[bucket] = (starts[bucket] as number) + (starts[bucket - 1] as number)
  }
  const next = starts.slice()
  const order = new Uint32Array(pairs.count)
  for (let index = 0; index < pairs.count; index++) {
    const bucket = pairs.getBucket(index, bits) - first
    const at = next[bucket] as number
    order[at] = index
    next[bucket] = at + 1
  }
  const beginnings = new Float64Array(SMALL_BUCKET)
  for (let bucket = 0; bucket < count; bucket++) {
    const inside = order.subarray(starts[bucket], starts[bucket + 1])
    if (inside.length <= SMALL_BUCKET) insertionSort(pairs, inside, beginnings)
    else inside.sort((a, b) => pairs.compareKeys(a, b))
  }
  assertUniqueKeys(pairs, order)
  return { order, starts }
}

function assertUniqueKeys(pairs: PairStore, order: Uint32Array): void {
  for (let at = 1; at < order.length; at++) {
    const [before, here] = [order[at - 1] as number, order[at] as number]
    if (pairs.getKeyPrefix(before) === pairs.getKeyPrefix(here) && pairs.compareKeys(before, here) === 0) {
      throw new DuplicateKey(pairs.pair(here).toString('hex', 0, HASH_BYTES))
    }
  }
}

/** Faster than a general sort for small buckets: key prefixes are read once, not per comparison. */
function insertionSort(pairs: PairStore, order: Uint32Array, beginnings: Float64Array): void {
  for (let at = 0; at < order.length; at++) {
    const moved = order[at] as number
    const beginning = pairs.getKeyPrefix(moved)
    let place = at
    for (; place > 0; place--) {
      const before = beginnings[place - 1] as number
      if (before < beginning) break
      if (before === beginning && pairs.compareKeys(order[place - 1] as number, moved) <= 0) break
      beginnings[place] = before
      order[place] = order[place - 1] as number
    }
    beginnings[place] = beginning
    order[place] = moved
  }
}

const listBucketPairs = (pairs: PairStore, { order, starts }: Buckets, bucket: number): Buffer[] =>
  Array.from(order.subarray(starts[bucket], starts[bucket + 1]), (index) => pairs.pair(index))

/** The pairs of the buckets from `first` on, joined into blocks; empty blocks are left out. */
export function* iterateBlocks(pairs: PairStore, buckets: Buckets, first: number, buckets_per_block: number) {
  const per_block = buckets_per_block
  for (let bucket = 0; bucket < buckets.starts.length - 1; bucket += per_block) {
    const [from, to] = [buckets.starts[bucket] as number, buckets.starts[bucket + per_block] as number]
    if (from === to) continue
    const inside = Array.from(buckets.order.subarray(from, to), (index) => pairs.pair(index))
    yield { block: (first + bucket) / per_block, pairs: Buffer.concat(inside) }
  }
}

export const hashBucket = (pairs: PairStore, buckets: Buckets, bucket: number): Buffer =>
  bucketHash(listBucketPairs(pairs, buckets, bucket))

/** The hashes of all buckets, and the levels above them up to the root. In a small list nearly all buckets are empty. */
export function buildLevels(buckets: Buffer[]): Buffer[][] {
  const levels = [buckets]
  let emptyBelow = EMPTY_BUCKET_HASH
  for (let below = buckets; below.length > 1; below = levels.at(-1) as Buffer[]) {
    const [pairs, empty] = [below, emptyBelow]
    const emptyNode = nodeHash(empty, empty)
    levels.push(
      Array.from({ length: pairs.length / 2 }, (_, i) => {
        const [left, right] = [pairs[2 * i] as Buffer, pairs[2 * i + 1] as Buffer]
        return left === empty && right === empty ? emptyNode : nodeHash(left, right)
      }),
    )
    emptyBelow = emptyNode
  }
  return levels
}

function buildTree(pairs: PairStore): MerkleTree {
  const { count } = pairs
  const bits = getBucketBits(count)
  const buckets = sortIntoBuckets(pairs, bits)
  const levels = buildLevels(Array.from({ length: 2 ** bits }, (_, bucket) => hashBucket(pairs, buckets, bucket)))
  const root = rootHash(count, levels.at(-1)?.[0] as Buffer)

  return {
    root,
    count,
    levels,
    blocks: (block_bits) => iterateBlocks(pairs, buckets, 0, 2 ** (bits - block_bits)),
    prove(key) {
      const key_hash = keyHash(key)
      const bucketIndex = readFirstBits(Buffer.from(key_hash, 'hex'), bits)
      const bucket = listBucketPairs(pairs, buckets, bucketIndex).map(
        (pair): Pair => [pair.toString('hex', 0, HASH_BYTES), pair.toString('hex', HASH_BYTES)],
      )
      const siblings = levels.slice(0, -1).map((hashes, height) => {
        const beside = (bucketIndex >>> height) ^ 1
        return (hashes[beside] as Buffer).toString('hex')
      })
      const entry_hash = bucket.find(([hash]) => hash === key_hash)?.[1] ?? null
      return { root, count, key_hash, entry_hash, bucket, siblings }
    },
  }
}

const isHash = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{64}$/.test(text)

/**
 * Whether the proof is valid for its own `root`. The caller compares `root` with the published content hash, `key_hash` with
 * `keyHash(key)` and `entry_hash` with the hash of the entry. For one root, a key cannot be proved both present and absent.
 */
export function verifyProof(proof: Proof): boolean {
  const { root, count, key_hash, entry_hash, bucket, siblings } = proof
  if (!Number.isSafeInteger(count) || count < bucket.length) return false
  const bits = getBucketBits(count)
  if (siblings.length !== bits || !siblings.every(isHash) || !isHash(key_hash)) return false

  const index = readFirstBits(Buffer.from(key_hash, 'hex'), bits)
  let previous = ''
  for (const [key, entry] of bucket) {
    if (!isHash(key) || !isHash(entry) || key <= previous) return false
    if (readFirstBits(Buffer.from(key, 'hex'), bits) !== index) return false
    previous = key
  }
  if ((bucket.find(([key]) => key === key_hash)?.[1] ?? null) !== entry_hash) return false

  let hash = bucketHash(bucket.map(([key, entry]) => Buffer.from(key + entry, 'hex')))
  siblings.forEach((sibling, height) => {
    const beside = Buffer.from(sibling, 'hex')
    hash = (index >>> height) & 1 ? nodeHash(beside, hash) : nodeHash(hash, beside)
  })
  return rootHash(count, hash) === root
}
