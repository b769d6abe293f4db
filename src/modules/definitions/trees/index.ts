/** The Merkle tree of a version: stored when it is published, read for proofs. */
export { insertBlock, insertTree } from './queries.ts'
export { buildTree, createProver, ensureTree, toTreeSource } from './stored-tree.ts'
export { computeResultTree } from './update.ts'
