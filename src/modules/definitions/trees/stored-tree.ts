/**
 * Stores the Merkle tree of a version when it is published, and proves keys from it. A proof costs the depth of the tree,
 * not the length of the list; every result is checked against the content hash of the version.
 */
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { HASH_BYTES } from '#registry/content/hashes.ts'
import { createMerkleBuilder, type MerkleTree, type Proof } from '#registry/content/merkle.ts'
import {
  baseBlockBits,
  collectGroup,
  deltaBlockBits,
  encodeNodes,
  locateGroup,
  MIN_TREE_ENTRIES,
  proveInGroup,
  type TreeSource,
} from '#registry/content/stored-tree.ts'
import { COPY_BEGIN, COPY_END, copyTreeRow } from '#registry/import/copy-rows.ts'
import { listEntryHashes, type VersionRow } from '../versions/queries.ts'
import {
  copyTreeStage,
  createTreeStage,
  findSiblings,
  findTree,
  insertBaseBlocks,
  insertBaseBlocksFromEntries,
  insertDeltaBlocks,
  insertTree,
  listGroupBlocks,
} from './queries.ts'

type RunInTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

/** A proof reads one block of every version since the base. */
const MAX_VERSIONS_SINCE_BASE = 32
/** Share of changed pairs since the base beyond which storing a new base takes less space. */
const MAX_DELTA_SHARE = 1 / 4
const BATCH = 5_000

/** The tree of a list that is in memory. */
export const toTreeSource = (tree: MerkleTree): TreeSource => ({
  nodes: encodeNodes(tree.levels),
  async *blocks() {
    for (const block of tree.blocks(baseBlockBits(tree.count))) yield copyTreeRow(block)
  },
})

interface TreePublication {
  readonly dataset_id: string
  readonly version: number
  readonly entry_count: number
  readonly tree: TreeSource
  /** Number of keys that differ from the previous version; null where there is no delta table. */
  readonly changed_keys: number | null
}

/** Runs in the publishing transaction, after the entries are written. */
export async function storeTree(tx: Tx, publication: TreePublication): Promise<void> {
  const { dataset_id, version, entry_count, tree, changed_keys } = publication
  if (entry_count < MIN_TREE_ENTRIES) return
  const head = changed_keys === null ? undefined : await findTree(tx, { ...tx, dataset_id, version: version - 1 })
  const delta_pairs = (head?.delta_pairs ?? 0) + (changed_keys ?? 0)
  if (
    head &&
    changed_keys !== null &&
    version - head.base_version <= MAX_VERSIONS_SINCE_BASE &&
    delta_pairs <= entry_count * MAX_DELTA_SHARE
  ) {
    const block_bits = deltaBlockBits(changed_keys)
    const { base_version } = head
    await insertTree(tx, { dataset_id, version, base_version, block_bits, delta_pairs, nodes: tree.nodes })
    await insertDeltaBlocks(tx, dataset_id, version, block_bits)
    return
  }
  const block_bits = baseBlockBits(entry_count)
  await insertTree(tx, { dataset_id, version, base_version: version, block_bits, delta_pairs: 0, nodes: tree.nodes })
  const { blocks } = tree
  if (!blocks) {
    await insertBaseBlocksFromEntries(tx, dataset_id, version, block_bits)
    return
  }
  await createTreeStage(tx)
  await copyTreeStage(
    tx,
    (async function* () {
      yield COPY_BEGIN
      yield* blocks()
      yield COPY_END
    })(),
  )
  await insertBaseBlocks(tx, dataset_id, version)
}

export type Prover = (key: string) => Promise<Proof>

/**
 * Proves keys of one version from its stored tree, else from a tree built once from all entries. A tree without the content
 * hash of the version means that stored data is corrupt.
 */
export function createProver(read: RunInTx, version: VersionRow): Prover {
  let whole: Promise<MerkleTree> | undefined
  return async (key) => {
    const stored = version.entry_count < MIN_TREE_ENTRIES ? undefined : await proveFromStore(read, version, key)
    if (stored) return stored
    whole ??= buildTree(read, version)
    return (await whole).prove(key)
  }
}

/** Undefined when there is no stored tree for this content. */
async function proveFromStore(read: RunInTx, version: VersionRow, key: string): Promise<Proof | undefined> {
  const position = locateGroup(key, version.entry_count)
  return read(async (tx) => {
    const tree = await findSiblings(tx, version, position.sibling_offsets)
    if (!tree) return undefined
    const blocks = await listGroupBlocks(tx, version, tree.base_version, position)
    const pairs = collectGroup(
      blocks.map((block) => block.pairs),
      position,
    )
    const upper = position.sibling_offsets.map((_, n) => tree.siblings.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES))
    const proof = proveInGroup(key, version.entry_count, pairs, upper)
    return proof.root === version.content_hash ? proof : undefined
  })
}

/** Builds the tree of a version from its entry hashes. Fails as corrupt when it does not match the content hash. */
export async function buildTree(read: RunInTx, version: VersionRow): Promise<MerkleTree> {
  const builder = createMerkleBuilder()
  let after: string | null = null
  for (;;) {
    const from = after
    const rows: { key: string; hash: Buffer }[] = await read((tx) => listEntryHashes(tx, version, from, BATCH))
    for (const { key, hash } of rows) builder.addHash(key, hash.toString('hex'))
    if (rows.length < BATCH) break
    after = rows.at(-1)?.key ?? null
  }
  const tree = builder.finish()
  if (tree.root !== version.content_hash) fail('content_corrupt')
  return tree
}

/** For versions that were published before trees were stored. */
export async function ensureTree(read: RunInTx, write: RunInTx, version: VersionRow): Promise<void> {
  if (version.entry_count < MIN_TREE_ENTRIES || (await read((tx) => findTree(tx, version)))) return
  const tree = toTreeSource(await buildTree(read, version))
  const { dataset_id, entry_count } = version
  await write((tx) => storeTree(tx, { dataset_id, version: version.version, entry_count, tree, changed_keys: null }))
}
