/**
 * Computes the content hash of a list from the stored tree of a list that differs in few entries: only groups with changed keys are
 * hashed again. Stored nodes and pairs are verified against the content hash of their list before they are used.
 */
import { bucketHash, HASH_BYTES, rootHash } from './hashes.ts'
import { buildLevels, getBucketBits, PAIR_BYTES, readFirstBits } from './merkle.ts'
import { bucketsPerGroup, groupBits } from './stored-tree.ts'

/** Stored hashes do not give their content hash. */
export class TreeMismatch extends Error {
  constructor() {
    super('The stored tree is not the one of its content hash')
    this.name = 'TreeMismatch'
  }
}

/** Whether both lengths have the same buckets, so that a tree can be updated. */
export const hasSameBuckets = (count_before: number, count_after: number): boolean =>
  getBucketBits(count_before) === getBucketBits(count_after)

export class TreeUpdate {
  readonly group_bits: number
  readonly #bits: number
  readonly #groups: Buffer[]

  /** `nodes`: as stored (stored-tree.ts). Throws TreeMismatch when they do not give `content_hash`. */
  constructor(nodes: Buffer, count: number, content_hash: string) {
    this.#bits = getBucketBits(count)
    this.group_bits = groupBits(count)
    const groups = 2 ** this.group_bits
    if (nodes.length < groups * HASH_BYTES) throw new TreeMismatch()
    this.#groups = Array.from({ length: groups }, (_, n) => nodes.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES))
    const top = buildLevels(this.#groups).at(-1)?.[0] as Buffer
    if (rootHash(count, top) !== content_hash) throw new TreeMismatch()
  }

  /**
   * Replaces pairs of one group. `before`: all its pairs; `changes`: (key hash, new entry hash), zeros for a removed key. Throws
   * TreeMismatch when the tree was not built from `before`.
   */
  apply(group: number, before: ReadonlyMap<string, Buffer>, changes: Uint8Array): void {
    if (!this.#hash(before).equals(this.#groups[group] as Buffer)) throw new TreeMismatch()
    const after = new Map(before)
    addPairs(after, changes)
    this.#groups[group] = this.#hash(after)
  }

  finish(count: number): { readonly root: string; readonly nodes: Uint8Array } {
    if (getBucketBits(count) !== this.#bits) throw new RangeError('the new list has another number of buckets')
    const levels = buildLevels(this.#groups)
    return { root: rootHash(count, levels.at(-1)?.[0] as Buffer), nodes: Buffer.concat(levels.flat()) }
  }

  #hash(pairs: ReadonlyMap<string, Buffer>): Buffer {
    const buckets = Array.from({ length: bucketsPerGroup }, (): Buffer[] => [])
    for (const pair of pairs.values()) buckets[readFirstBits(pair, this.#bits) % bucketsPerGroup]?.push(pair)
    return buildLevels(buckets.map((bucket) => bucketHash(bucket.sort(Buffer.compare)))).at(-1)?.[0] as Buffer
  }
}

/** Pairs by key hash; later ones overwrite earlier ones, and an entry hash of zeros removes. */
function addPairs(pairs: Map<string, Buffer>, bytes: Uint8Array): void {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at + PAIR_BYTES <= all.length; at += PAIR_BYTES) addPair(pairs, all.subarray(at, at + PAIR_BYTES))
}

function addPair(pairs: Map<string, Buffer>, pair: Buffer): void {
  const key = pair.toString('latin1', 0, HASH_BYTES)
  if (pair.subarray(HASH_BYTES).every((byte) => byte === 0)) pairs.delete(key)
  else pairs.set(key, pair)
}

/** The pairs of several groups from stored blocks, oldest version first, in one pass. */
export function collectGroups(
  blocks: Iterable<Uint8Array>,
  groups: readonly number[],
  group_bits: number,
): Map<number, Map<string, Buffer>> {
  const found = new Map(groups.map((group) => [group, new Map<string, Buffer>()] as const))
  for (const block of blocks) {
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength)
    for (let at = 0; at + PAIR_BYTES <= bytes.length; at += PAIR_BYTES) {
      const pairs = found.get(readFirstBits(bytes, group_bits, at))
      if (pairs) addPair(pairs, bytes.subarray(at, at + PAIR_BYTES))
    }
  }
  return found
}
