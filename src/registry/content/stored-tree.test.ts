/** A proof from the stored part of a tree equals the proof from the whole tree, for a base and for versions that store changes. */
import { expect, test } from 'vitest'
import { entryHash, HASH_BYTES, keyHash } from './hashes.ts'
import { createMerkleBuilder, type MerkleTree, readFirstBits, verifyProof } from './merkle.ts'
import { RootBuilder } from './merkle-root.ts'
import {
  baseBlockBits,
  collectGroup,
  deltaBlockBits,
  encodeNodes,
  locateGroup,
  proveInGroup,
  type TreeBlock,
} from './stored-tree.ts'

type List = Map<string, string>
const listOf = (count: number): List =>
  new Map(Array.from({ length: count }, (_, n) => [`key ${n}`, entryHash(`{"n":${n}}`)]))

function treeOf(list: List): MerkleTree {
  const builder = createMerkleBuilder()
  for (const [key, hash] of list) builder.addHash(key, hash)
  return builder.finish()
}

interface Blocks {
  readonly block_bits: number
  readonly blocks: ReadonlyMap<number, Buffer>
}

const baseOf = (tree: MerkleTree): Blocks => {
  const block_bits = baseBlockBits(tree.count)
  return { block_bits, blocks: new Map([...tree.blocks(block_bits)].map(({ block, pairs }) => [block, pairs])) }
}

function deltaOf(before: List, after: List): Blocks {
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key))
  const block_bits = deltaBlockBits(changed.length)
  const blocks = new Map<number, Buffer>()
  for (const key of changed) {
    const pair = Buffer.from(keyHash(key) + (after.get(key) ?? '0'.repeat(2 * HASH_BYTES)), 'hex')
    const block = readFirstBits(pair, block_bits)
    blocks.set(block, Buffer.concat([blocks.get(block) ?? Buffer.alloc(0), pair]))
  }
  return { block_bits, blocks }
}

/** Selects blocks like the database: those whose bits match the bits of the group. */
function proveStored(key: string, tree: MerkleTree, stored: readonly Blocks[]) {
  const position = locateGroup(key, tree.count)
  const blocks = stored.flatMap(({ block_bits, blocks: all }) => {
    const shift = block_bits - position.group_bits
    const [first, last] =
      shift >= 0
        ? [position.group * 2 ** shift, (position.group + 1) * 2 ** shift - 1]
        : [position.group >>> -shift, position.group >>> -shift]
    return [...all].filter(([block]) => block >= first && block <= last).map(([, pairs]) => pairs)
  })
  const nodes = encodeNodes(tree.levels)
  const upper = position.sibling_offsets.map((at) => nodes.subarray(at, at + HASH_BYTES))
  return proveInGroup(key, tree.count, collectGroup(blocks, position), upper)
}

test.each([2000, 16_385, 70_000])('of %i entries gives the proofs of the whole tree', (count) => {
  const tree = treeOf(listOf(count))
  const base = baseOf(tree)
  for (const key of ['key 0', 'key 1234', `key ${count - 1}`, `key ${count}`, 'absent', '']) {
    const proof = proveStored(key, tree, [base])
    expect(proof).toEqual(tree.prove(key))
    expect(verifyProof(proof)).toBe(true)
  }
})

test('proves changed, added and removed keys of later versions, also when the depth of the tree changes', () => {
  const first = listOf(16_300)
  const second = new Map(first)
  for (let n = 0; n < 700; n++) second.set(`key ${n * 3}`, entryHash(`{"changed":${n}}`))
  for (let n = 0; n < 300; n++) second.set(`added ${n}`, entryHash(`{"added":${n}}`))
  const third = new Map(second)
  for (let n = 0; n < 200; n++) third.delete(`added ${n}`)
  third.delete('key 3')
  const stored = [baseOf(treeOf(first)), deltaOf(first, second), deltaOf(second, third)]
  for (const [list, blocks] of [
    [second, stored.slice(0, 2)],
    [third, stored],
  ] as const) {
    const tree = treeOf(list)
    for (const key of ['key 0', 'key 3', 'key 1', 'added 7', 'added 250', 'added 300']) {
      expect(proveStored(key, tree, blocks)).toEqual(tree.prove(key))
    }
  }
  expect(proveStored('added 7', treeOf(third), stored).entry_hash).toBeNull()
})

test.each([2000, 80_000])('RootBuilder gives the same nodes and blocks for %i entries', (count) => {
  const list = listOf(count)
  const tree = treeOf(list)
  const builder = new RootBuilder()
  for (const [key, hash] of list) builder.addDigest(key, Buffer.from(hash, 'hex').toString('latin1'))
  const { root, nodes } = builder.finish()
  expect(root).toBe(tree.root)
  expect(Buffer.from(nodes).equals(encodeNodes(tree.levels))).toBe(true)
  const texts = (blocks: Iterable<TreeBlock>) =>
    Array.from(blocks, ({ block, pairs }) => `${block} ${Buffer.from(pairs).toString('base64')}`)
  expect(texts(builder.blocks())).toEqual(texts(tree.blocks(baseBlockBits(count))))
  builder.close()
})

test('gives another root when a pair is missing', () => {
  const tree = treeOf(listOf(3000))
  const { block_bits, blocks } = baseOf(tree)
  const position = locateGroup('key 5', tree.count)
  const cut = new Map([...blocks].map(([block, pairs]) => [block, pairs.subarray(64)]))
  expect(proveStored('key 5', tree, [{ block_bits, blocks: cut }]).root).not.toBe(tree.root)
  expect(collectGroup([...blocks.values()], position).length).toBeGreaterThan(0)
})
