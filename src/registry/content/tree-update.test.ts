/** An updated tree equals the tree built from scratch, and damaged stored trees are refused. */
import { describe, expect, test } from 'vitest'
import { entryHash, HASH_BYTES, keyHash } from './hashes.ts'
import { createMerkleBuilder, type MerkleTree, readFirstBits } from './merkle.ts'
import { encodeNodes } from './stored-tree.ts'
import { collectGroups, hasSameBuckets, TreeMismatch, TreeUpdate } from './tree-update.ts'

type List = Map<string, string>
const REMOVED = '0'.repeat(2 * HASH_BYTES)
const listOf = (count: number): List =>
  new Map(Array.from({ length: count }, (_, n) => [`key ${n}`, entryHash(`{"n":${n}}`)]))

function treeOf(list: List): MerkleTree {
  const builder = createMerkleBuilder()
  for (const [key, hash] of list) builder.addHash(key, hash)
  return builder.finish()
}
const pairOf = (key: string, hash: string): Buffer => Buffer.from(keyHash(key) + hash, 'hex')
const pairsOf = (list: List): Buffer => Buffer.concat([...list].map(([key, hash]) => pairOf(key, hash)))

/** Deterministic, so that a failure can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}

function update(before: MerkleTree, blocks: readonly Buffer[], changes: List, count: number) {
  const tree = new TreeUpdate(encodeNodes(before.levels), before.count, before.root)
  const byGroup = new Map<number, Buffer[]>()
  for (const [key, hash] of changes) {
    const pair = pairOf(key, hash)
    const group = readFirstBits(pair, tree.group_bits)
    byGroup.set(group, [...(byGroup.get(group) ?? []), pair])
  }
  const stored = collectGroups(blocks, [...byGroup.keys()], tree.group_bits)
  for (const [group, pairs] of byGroup) tree.apply(group, stored.get(group) ?? new Map(), Buffer.concat(pairs))
  return tree.finish(count)
}

describe('an updated tree', () => {
  test.each([2000, 16_384])('of %i entries has the root and nodes of a newly built tree', (size) => {
    const random = createRandom(size)
    const list = listOf(size)
    const blocks = [pairsOf(list)]
    for (let round = 0; round < 3; round++) {
      const before = treeOf(list)
      const changes: List = new Map()
      for (let n = 0; n < 40; n++) changes.set(`key ${random(size)}`, entryHash(`${round} ${n}`))
      for (let n = 0; n < 20; n++) changes.set(`key ${random(size)}`, REMOVED)
      for (let n = 0; n < 25; n++) changes.set(`new ${random(1000)}`, entryHash(`new ${round} ${n}`))
      for (const [key, hash] of changes) {
        if (hash !== REMOVED) list.set(key, hash)
        else if (!list.delete(key)) changes.delete(key)
      }
      // Some counts change the number of buckets, and then no update is possible.
      if (hasSameBuckets(before.count, list.size)) {
        const after = treeOf(list)
        const { root, nodes } = update(before, blocks, changes, list.size)
        expect(root).toBe(after.root)
        expect(encodeNodes(after.levels).equals(nodes)).toBe(true)
      }
      blocks.push(pairsOf(changes))
    }
  })

  test('without changes is the same tree', () => {
    const tree = treeOf(listOf(2000))
    expect(update(tree, [], new Map(), 2000).root).toBe(tree.root)
  })
})

describe('a stored tree', () => {
  const list = listOf(3000)
  const tree = treeOf(list)

  test('is refused when its nodes do not give the content hash', () => {
    const nodes = encodeNodes(tree.levels)
    nodes.writeUInt8(nodes.readUInt8(40) ^ 1, 40)
    expect(() => new TreeUpdate(nodes, 3000, tree.root)).toThrow(TreeMismatch)
    expect(() => new TreeUpdate(nodes.subarray(0, 32), 3000, tree.root)).toThrow(TreeMismatch)
    expect(() => new TreeUpdate(encodeNodes(tree.levels), 2999, tree.root)).toThrow(TreeMismatch)
  })

  test('is refused when its pairs do not give their node', () => {
    const changes: List = new Map([['key 7', entryHash('other')]])
    const missing = new Map([...list].filter(([key]) => key !== 'key 7'))
    expect(() => update(tree, [pairsOf(missing)], changes, 3000)).toThrow(TreeMismatch)
    expect(() => update(tree, [pairsOf(list), pairOf('key 7', entryHash('x'))], changes, 3000)).toThrow(TreeMismatch)
    expect(update(tree, [pairsOf(list)], changes, 3000).root).toBe(treeOf(new Map([...list, ...changes])).root)
  })

  test('cannot be updated to a list with another number of buckets', () => {
    expect(hasSameBuckets(16_384, 16_385)).toBe(false)
    expect(() => update(tree, [pairsOf(list)], new Map(), 16_385)).toThrow(RangeError)
  })
})
