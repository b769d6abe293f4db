/**
 * The part of a list's Merkle tree that is stored with a version, so that a key is proved without reading the list: the hashes of
 * all nodes from groups of eight buckets upwards, and the (key hash, entry hash) pairs in blocks. A version stores all pairs (a
 * base) or only the pairs that changed since the previous version; a removed key has an entry hash of zeros.
 */
import { bucketHash, HASH_BYTES, keyHash, nodeHash, rootHash } from './hashes.ts'
import { buildLevels, getBucketBits, PAIR_BYTES, type Pair, type Proof, readFirstBits } from './merkle.ts'

/** Eight buckets of 64 pairs: hashing a group takes under a millisecond, and an eighth of the nodes is stored. */
const GROUP_BITS = 3
export const bucketsPerGroup = 2 ** GROUP_BITS

/** A shorter list is read as a whole: that takes no longer than reading its tree. */
export const MIN_TREE_ENTRIES = 2000

/** Not fewer than the partition bits of merkle-root.ts. */
const MIN_BASE_BLOCK_BITS = 6
const MAX_DELTA_BLOCK_BITS = 16
const DELTA_PAIRS_PER_BLOCK = 256

export interface TreeBlock {
  /** The first bits of the key hashes in it. */
  readonly block: number
  readonly pairs: Uint8Array
}

/** The tree of a version that is being published. */
export interface TreeSource {
  readonly nodes: Uint8Array
  /** The blocks of a base, in ascending order, in the binary format of COPY. Absent: they are computed from the stored entries. */
  readonly blocks?: () => AsyncIterable<Uint8Array>
}

export const groupBits = (count: number): number => getBucketBits(count) - GROUP_BITS

/** In a base a block is a group, so that a proof reads one block. */
export const baseBlockBits = (count: number): number => Math.max(MIN_BASE_BLOCK_BITS, groupBits(count))

export const deltaBlockBits = (pairs: number): number =>
  Math.min(MAX_DELTA_BLOCK_BITS, Math.max(0, Math.ceil(Math.log2(pairs / DELTA_PAIRS_PER_BLOCK))))

/** Level by level, from the groups up to the root. */
export const encodeNodes = (levels: readonly Buffer[][]): Buffer => Buffer.concat(levels.slice(GROUP_BITS).flat())

export interface GroupPosition {
  readonly group: number
  readonly group_bits: number
  /** Offsets of the sibling hashes on the path from the group to the root, lowest first. */
  readonly sibling_offsets: readonly number[]
}

export function locateGroup(key: string, count: number): GroupPosition {
  const group_bits = groupBits(count)
  const group = readFirstBits(Buffer.from(keyHash(key), 'hex'), group_bits)
  const sibling_offsets: number[] = []
  let level_at = 0
  for (let height = 0; height < group_bits; height++) {
    sibling_offsets.push((level_at + ((group >>> height) ^ 1)) * HASH_BYTES)
    level_at += 2 ** (group_bits - height)
  }
  return { group, group_bits, sibling_offsets }
}

/** The pairs of one group: those of the base, overwritten by each later version. */
export function collectGroup(blocks: Iterable<Uint8Array>, { group, group_bits }: GroupPosition): Buffer[] {
  const found = new Map<string, Buffer>()
  for (const pairs of blocks) {
    const bytes = Buffer.from(pairs.buffer, pairs.byteOffset, pairs.byteLength)
    for (let at = 0; at + PAIR_BYTES <= bytes.length; at += PAIR_BYTES) {
      if (readFirstBits(bytes, group_bits, at) !== group) continue
      const pair = bytes.subarray(at, at + PAIR_BYTES)
      found.set(pair.toString('latin1', 0, HASH_BYTES), pair)
    }
  }
  return [...found.values()].filter((pair) => pair.subarray(HASH_BYTES).some((byte) => byte !== 0)).sort(Buffer.compare)
}

/** The proof of a key from the pairs of its group, ascending, and the stored sibling hashes above it. */
export function proveInGroup(
  key: string,
  count: number,
  group_pairs: readonly Buffer[],
  upper: readonly Buffer[],
): Proof {
  const key_hash = keyHash(key)
  const bits = getBucketBits(count)
  const index = readFirstBits(Buffer.from(key_hash, 'hex'), bits)
  const buckets = Array.from({ length: 2 ** GROUP_BITS }, (): Buffer[] => [])
  for (const pair of group_pairs) buckets[readFirstBits(pair, bits) % buckets.length]?.push(pair)
  const levels = buildLevels(buckets.map(bucketHash))
  const position = index % buckets.length
  const lower = levels.slice(0, -1).map((hashes, height) => hashes[(position >>> height) ^ 1] as Buffer)
  const siblings = [...lower, ...upper]
  let top = levels[0]?.[position] as Buffer
  siblings.forEach((sibling, height) => {
    top = (index >>> height) & 1 ? nodeHash(sibling, top) : nodeHash(top, sibling)
  })
  const bucket = (buckets[position] ?? []).map(
    (pair): Pair => [pair.toString('hex', 0, HASH_BYTES), pair.toString('hex', HASH_BYTES)],
  )
  return {
    root: rootHash(count, top),
    count,
    key_hash,
    entry_hash: bucket.find(([hash]) => hash === key_hash)?.[1] ?? null,
    bucket,
    siblings: siblings.map((sibling) => sibling.toString('hex')),
  }
}
