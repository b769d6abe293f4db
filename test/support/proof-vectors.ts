/** Test vectors of docs/proofs.md, made by the code that makes the proofs: whoever writes a verifier compares with them. */
import { canonicalJson } from '#kernel/canonical-json.ts'
import { bucketHash, entryHash, keyHash, nodeHash, rootHash } from '#registry/content/hashes.ts'
import { createMerkleBuilder, getBucketBits, type MerkleTree } from '#registry/content/merkle.ts'
import { buildOverlayTree, hashOverlayEntry, type OverlayEntry } from '#registry/overlay.ts'
import { compileType } from '#registry/types/compile-type.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'

/** An answer of the route for proofs, as far as it is verified. */
export interface ProofAnswer {
  readonly key: string
  readonly present: boolean
  readonly entry?: unknown
  readonly change?: unknown
  readonly proof: ReturnType<MerkleTree['prove']>
}

type Entry = Record<string, unknown>

function buildTree(entries: ReadonlyMap<string, Entry>): MerkleTree {
  const builder = createMerkleBuilder()
  for (const [key, entry] of entries) builder.add(key, canonicalJson(entry))
  return builder.finish()
}

const buildAnswer = (entries: ReadonlyMap<string, Entry>, tree: MerkleTree, key: string): ProofAnswer => {
  const entry = entries.get(key) ?? null
  return { key, present: entry !== null, entry, proof: tree.prove(key) }
}

const smallList: ReadonlyMap<string, Entry> = new Map([
  ['DE', { code: 'DE', name: 'Germany', score: 78.5 }],
  ['CI', { code: 'CI', name: 'Côte d’Ivoire', tags: ['a', 'B'], empty: null, yes: true }],
  ['loan|EU\\|x', { product: 'loan', region: 'EU|x', rates: [1, -0.5, 1e21, 1e-7, 0.000015, 1234567890123] }],
])
const buildNumberedList = (count: number) =>
  new Map(Array.from({ length: count }, (_, at) => [`k${at}`, { id: `k${at}` }]))
const changes: readonly OverlayEntry[] = [
  { key: 'A', op: 'put', base_hash: null, value: { code: 'A', score: 1 } },
  { key: 'B', op: 'put', base_hash: entryHash('{"code":"B"}'), value: { code: 'B', score: 2 } },
  { key: 'C', op: 'merge', base_hash: entryHash('{"code":"C"}'), value: { score: 3, note: null } },
  { key: 'D', op: 'remove', base_hash: entryHash('{"code":"D"}'), value: null },
]

const composite = {
  schema: {
    type: 'object',
    required: ['product', 'region'],
    properties: { product: { type: 'string' }, region: { type: 'string' } },
  },
  key_pointers: ['/product', '/region'],
  fields: {},
} as unknown as TypeDefinition

export function buildProofVectors() {
  const [zero, one] = [bucketHash([]), bucketHash([Buffer.alloc(64, 1)])]
  const lists = [smallList, buildNumberedList(600), buildNumberedList(16_385)].map((entries) => ({
    entries,
    tree: buildTree(entries),
  }))
  const [small, medium, large] = lists as [(typeof lists)[0], (typeof lists)[0], (typeof lists)[0]]
  const nothing = new Map<string, Entry>()
  const overlay = buildOverlayTree(changes)
  const { getKey: keyOf } = compileType(composite)
  return {
    key_hashes: ['DE', 'Côte d’Ivoire', 'loan|EU\\|x'].map((key) => ({ key, key_hash: keyHash(key) })),
    composite_keys: [
      { product: 'loan', region: 'EU' },
      { product: 'a|b', region: 'c\\d' },
      { product: 'loan', region: '' },
    ].map((entry) => ({ entry, key_pointers: composite.key_pointers, key: keyOf(entry) })),
    entry_hashes: [...smallList.values(), { é: 1, e: 2, '\u{1f600}': 3, '\ufb33': 4, '': '\u0007"\\\n' }].map(
      (entry) => ({
        entry,
        canonical: canonicalJson(entry),
        entry_hash: entryHash(canonicalJson(entry)),
      }),
    ),
    bucket_bits: [0, 1, 16_384, 16_385, 32_768, 32_769, 1_000_000, 5_000_000].map((count) => ({
      count,
      bits: getBucketBits(count),
    })),
    node_hashes: {
      empty_bucket: zero.toString('hex'),
      bucket_of_one_pair_of_64_bytes_0x01: one.toString('hex'),
      node_of_these_two: nodeHash(zero, one).toString('hex'),
      root_of_that_node_with_count_1: rootHash(1, nodeHash(zero, one)),
    },
    change_hashes: changes.map(({ key: _, ...change }) => ({ change, hash: hashOverlayEntry(change) })),
    proofs: [
      { about: 'a list without entries', ...buildAnswer(nothing, buildTree(nothing), 'DE') },
      ...['DE', 'CI', 'loan|EU\\|x', 'FR'].map((key) => ({
        about: 'a list of 3 entries',
        ...buildAnswer(small.entries, small.tree, key),
      })),
      ...['k5', 'k600'].map((key) => ({
        about: 'a list of 600 entries in 256 buckets',
        ...buildAnswer(medium.entries, medium.tree, key),
      })),
      ...['k5', 'none'].map((key) => ({
        about: 'a list of 16,385 entries in 512 buckets',
        ...buildAnswer(large.entries, large.tree, key),
      })),
      ...['A', 'B', 'C', 'D', 'E'].map((key) => {
        const { key: _, ...change } = changes.find((each) => each.key === key) ?? { key }
        const present = 'op' in change
        return { about: 'an overlay', key, present, change: present ? change : null, proof: overlay.prove(key) }
      }),
    ],
  }
}

export const renderProofVectors = (): string => `${JSON.stringify(buildProofVectors(), null, 1)}\n`
