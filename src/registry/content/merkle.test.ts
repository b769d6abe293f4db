import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bucketHash, entryHash, keyHash, nodeHash, rootHash } from './hashes.ts'
import { createMerkleBuilder, DuplicateKey, getBucketBits, type Pair, type Proof, verifyProof } from './merkle.ts'

fc.configureGlobal({ seed: 6962 })

const build = (entries: readonly (readonly [string, string])[]) => {
  const builder = createMerkleBuilder()
  for (const [key, text] of entries) builder.add(key, text)
  return builder.finish()
}
const many = Array.from({ length: 500 }, (_, i) => [`key-${i}`, `{"n":${i}}`] as const)

describe('the root', () => {
  test('equals the documented rules, computed step by step', () => {
    const sha = (...parts: (string | Buffer)[]) =>
      hash('sha256', Buffer.concat(parts.map((part) => Buffer.from(part as string))), 'buffer')
    const key_hash = sha('probity.key.1\n', 'DE')
    const bucket = key_hash[0] as number
    let level = Array.from({ length: 256 }, (_, index) =>
      index === bucket
        ? sha('probity.bucket.1\n', key_hash, sha('probity.entry.1\n', '{"code":"DE"}'))
        : sha('probity.bucket.1\n'),
    )
    while (level.length > 1) {
      const below = level
      level = Array.from({ length: below.length / 2 }, (_, i) =>
        sha('probity.node.1\n', below[2 * i] as Buffer, below[2 * i + 1] as Buffer),
      )
    }
    const count = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])
    expect(build([['DE', '{"code":"DE"}']]).root).toBe(
      sha('probity.root.1\n', count, level[0] as Buffer).toString('hex'),
    )
  })

  test('never changes between releases', () => {
    expect(build([]).root).toMatchInlineSnapshot(`"76cc46eec55cbad4d1503e736728a5fee07e0df47f1c3c20c4a8e8ac66550962"`)
    expect(build(many).root).toMatchInlineSnapshot(`"f1d1f7753178887dd377d82acd2c33e37e3f78c8b9aac158ef394feb0279dad3"`)
  })

  test('does not depend on the order of entries, nor on the form of hashes', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 60 }), fc.infiniteStream(fc.nat()), (keys, numbers) => {
        const entries = keys.map((key) => [key, String(numbers.next().value)] as const)
        const hashed = createMerkleBuilder()
        for (const [key, text] of entries) hashed.addHash(key, entryHash(text))
        const stored = createMerkleBuilder()
        for (const [key, text] of entries) {
          stored.addPair(Buffer.from(keyHash(key), 'hex'), Buffer.from(entryHash(text), 'hex'))
        }
        const { root } = build(entries)
        expect(build([...entries].reverse()).root).toBe(root)
        expect(hashed.finish().root).toBe(root)
        expect(stored.finish().root).toBe(root)
      }),
      { numRuns: 30 },
    )
  })

  test('changes with any key, any entry and any addition', () => {
    const roots = [
      build(many),
      build(many.slice(1)),
      build(many.map(([key, text], i) => [key, i === 7 ? `${text} ` : text])),
      build(many.map(([key, text], i) => [i === 7 ? `${key} ` : key, text])),
    ].map(({ root }) => root)
    expect(new Set(roots).size).toBe(4)
  })

  test('refuses duplicate keys and invalid hashes', () => {
    expect(() => build([...many, ['key-3', '{}']])).toThrow(DuplicateKey)
    expect(() => createMerkleBuilder().addHash('a', 'zz'.repeat(32))).toThrow(TypeError)
    expect(() => createMerkleBuilder().addHash('a', 'ab')).toThrow(TypeError)
    expect(() => createMerkleBuilder().addPair(Buffer.alloc(31), Buffer.alloc(32))).toThrow(TypeError)
  })

  test('chooses the number of buckets by the number of entries only', () => {
    expect([0, 1, 16_384, 16_385, 32_768, 32_769, 1_000_000].map(getBucketBits)).toEqual([8, 8, 8, 9, 9, 10, 14])
  })
})

describe('proofs', () => {
  const tree = build(many)

  test('of presence and of absence verify', () => {
    for (const [key, text] of many) {
      const proof = tree.prove(key)
      expect(proof.entry_hash).toBe(entryHash(text))
      expect(proof.key_hash).toBe(keyHash(key))
      expect(verifyProof(proof)).toBe(true)
    }
    for (let i = 0; i < 100; i++) {
      const proof = tree.prove(`absent-${i}`)
      expect(proof.entry_hash).toBeNull()
      expect(verifyProof(JSON.parse(JSON.stringify(proof)))).toBe(true)
    }
    expect(verifyProof(build([]).prove('x'))).toBe(true)
  })

  test('of more than 256 buckets verify', () => {
    const large = build(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, String(i)]))
    expect(large.prove('k5').siblings).toHaveLength(9)
    expect(verifyProof(large.prove('k5'))).toBe(true)
    expect(verifyProof(large.prove('nothing'))).toBe(true)
  })

  /** One whose bucket has other keys too. */
  const honest = many.map(([key]) => tree.prove(key)).find(({ bucket }) => bucket.length > 2) as Proof
  const other = hash('sha256', 'something else', 'hex')
  const elsewhere = many
    .map(([key]) => key)
    .find((key) => keyHash(key).slice(0, 2) !== honest.key_hash.slice(0, 2)) as string
  const forgeries: Record<string, Proof> = {
    'another entry': { ...honest, entry_hash: other },
    'absence of what is there': { ...honest, entry_hash: null },
    'absence with the pair left out': {
      ...honest,
      entry_hash: null,
      bucket: honest.bucket.filter(([key]) => key !== honest.key_hash),
    },
    'another entry in the bucket too': {
      ...honest,
      entry_hash: other,
      bucket: honest.bucket.map(([key, entry]) => [key, key === honest.key_hash ? other : entry]),
    },
    'the bucket of another key': { ...tree.prove(elsewhere), key_hash: honest.key_hash, entry_hash: null },
    'another root': { ...honest, root: other },
    'another count': { ...honest, count: honest.count + 1 },
    'a count that means other buckets': { ...honest, count: 20_000 },
    'a sibling exchanged': { ...honest, siblings: [other, ...honest.siblings.slice(1)] },
    'a sibling missing': { ...honest, siblings: honest.siblings.slice(1) },
    'a pair twice': { ...honest, bucket: [...honest.bucket, ...honest.bucket] },
    'capital letters': { ...honest, key_hash: honest.key_hash.toUpperCase() },
  }
  test.each(Object.entries(forgeries))('with %s do not verify', (_, proof) => {
    expect(verifyProof(honest)).toBe(true)
    expect(verifyProof(proof)).toBe(false)
  })

  /** The root that a dishonest publisher would publish for a forged bucket. */
  const withOwnRoot = (proof: Proof): Proof => {
    const index = Number.parseInt(proof.key_hash.slice(0, 2), 16)
    const top = proof.siblings.reduce(
      (hash, sibling, height) => {
        const beside = Buffer.from(sibling, 'hex')
        return (index >>> height) & 1 ? nodeHash(beside, hash) : nodeHash(hash, beside)
      },
      bucketHash([Buffer.from(proof.bucket.flat().join(''), 'hex')]),
    )
    return { ...proof, root: rootHash(proof.count, top) }
  }
  const own = [honest.key_hash, honest.entry_hash as string] as const
  const foreign = [keyHash(elsewhere), other] as const

  test.each<[string, readonly Pair[], string | null]>([
    ['a key twice', [own, [honest.key_hash, other]], own[1]],
    ['pairs out of order', [...honest.bucket].reverse(), own[1]],
    ['a key that belongs elsewhere', [own, foreign].sort(), own[1]],
    ['only keys that belong elsewhere', [foreign], null],
  ])('of a root with %s do not verify', (_, bucket, entry_hash) => {
    expect(verifyProof(withOwnRoot(honest))).toBe(true)
    expect(verifyProof(withOwnRoot({ ...honest, bucket, entry_hash }))).toBe(false)
  })
})
