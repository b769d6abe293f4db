/** `verify` offline: what a proof says of presence and absence, every way a file can lie, and what is given that is not usable. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { createMerkleBuilder } from '#registry/content/merkle.ts'
import { main } from '../main.ts'

let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-proof-'))
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const entries = Array.from({ length: 600 }, (_, n) => ({ code: `C${n}`, name: `Country ${n}` }))
const tree = (() => {
  const builder = createMerkleBuilder()
  for (const entry of entries) builder.add(entry.code, canonicalJson(entry))
  return builder.finish()
})()

/** As GET …/proof answers. */
const proofOf = (key: string) => ({
  list_key: 'countries',
  version: 3,
  origin: 'shared',
  key,
  present: entries.some(({ code }) => code === key),
  entry: entries.find(({ code }) => code === key) ?? null,
  proof: tree.prove(key),
})
type File = ReturnType<typeof proofOf>

let files = 0
function save(content: unknown): string {
  const file = path.join(folder, `${++files}.json`)
  fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}
async function run(...words: string[]) {
  const out: string[] = []
  const note: string[] = []
  const terminal = { out: (text: string) => void out.push(text), note: (text: string) => void note.push(text) }
  const code = await main(words, {}, terminal)
  return { code, out: out.join('\n'), note: note.join('\n') }
}
const verify = (content: unknown, ...words: string[]) => run('verify', 'proof', save(content), ...words)

describe('a true proof', () => {
  test('of presence, against the hash and the entry one holds', async () => {
    const entry = save({ name: 'Country 7', code: 'C7' })
    const { code, out } = await verify(proofOf('C7'), '--hash', tree.root, '--entry', entry)
    expect(out).toBe(
      `Proved: "C7" is in version 3 of countries, which has 600 entries and the content hash ${tree.root}.`,
    )
    expect(code).toBe(0)
  })

  test('of absence, and it says what it could not compare', async () => {
    const { code, out } = await verify(proofOf('XX'))
    expect(out).toMatch(
      /^Proved: "XX" is NOT in version 3 of countries, .* \(list, version and hash are what the file says; compare/,
    )
    expect(code).toBe(0)
  })

  test('as JSON', async () => {
    const { code, out } = await verify(proofOf('C7'), '--json')
    expect(JSON.parse(out)).toMatchObject({
      proved: true,
      key: 'C7',
      present: true,
      content_hash: tree.root,
      faults: [],
    })
    expect(code).toBe(0)
  })
})

const swapHash = (text: string) => (text.startsWith('0') ? `1${text.slice(1)}` : `0${text.slice(1)}`)
const lies: readonly (readonly [string, () => unknown, readonly string[], RegExp])[] = [
  ['another entry', () => ({ ...proofOf('C7'), entry: { code: 'C7', name: 'Other' } }), [], /entry in the file is not/],
  ['another key', () => ({ ...proofOf('C7'), key: 'C8', entry: proofOf('C7').entry }), [], /another key/],
  ['present said of an absent key', () => ({ ...proofOf('XX'), present: true }), [], /says the opposite/],
  [
    'an entry with an absent key',
    () => ({ ...proofOf('XX'), entry: { code: 'XX' } }),
    [],
    /although the key is absent/,
  ],
  ['another root', () => changed('C7', (proof) => ({ root: swapHash(proof.root) })), [], /do not lead to its own root/],
  ['another count', () => changed('C7', ({ count }) => ({ count: count - 1 })), [], /do not lead/],
  [
    'a sibling changed',
    () => changed('C7', ({ siblings: [first = '', ...rest] }) => ({ siblings: [swapHash(first), ...rest] })),
    [],
    /do not lead/,
  ],
  [
    'the key left out of its bucket',
    () => ({
      ...changed('C7', ({ bucket, key_hash }) => ({
        bucket: bucket.filter(([key]) => key !== key_hash),
        entry_hash: null,
      })),
      present: false,
      entry: null,
    }),
    [],
    /do not lead/,
  ],
  ['a hash one holds', () => proofOf('C7'), ['--hash', 'f'.repeat(64)], /not to yours/],
]
const changed = (key: string, change: (proof: File['proof']) => Partial<File['proof']>) => {
  const file = proofOf(key)
  return { ...file, proof: { ...file.proof, ...change(file.proof) } }
}

test.each(lies)('is not proved: %s', async (_, content, words, fault) => {
  const { code, out } = await verify(content(), ...words)
  expect(out).toMatch(/^NOT PROVED: the file does not show that/)
  expect(out).toMatch(fault)
  expect(code).toBe(1)
})

test('an entry one holds that is another', async () => {
  const { code, out } = await verify(proofOf('C7'), '--entry', save({ code: 'C7', name: 'country 7' }))
  expect(out).toContain('The entry you hold is not the one that was proved.')
  expect(code).toBe(1)
})

test.each([
  ['not JSON', 'proof', [], 1, /is not JSON/],
  [
    'a member that is there twice',
    JSON.stringify(proofOf('C7')).replace('{', '{"key":"C8",'),
    [],
    1,
    /The name "key" appears twice/,
  ],
  ['null', null, [], 1, /is not a proof/],
  ['another document', { items: [] }, [], 1, /is not a proof/],
  [
    'a bucket that is none',
    { ...proofOf('C7'), proof: { ...proofOf('C7').proof, bucket: [['a']] } },
    [],
    1,
    /not a proof/,
  ],
  ['a hash that is none', proofOf('C7'), ['--hash', 'ABC'], 2, /^--hash must be 64 hexadecimal digits/],
  ['an entry file that is not there', proofOf('C7'), ['--entry', '/nowhere'], 2, /There is no file \/nowhere/],
] as const)('%s is refused in one sentence', async (_, content, words, code, sentence) => {
  const said = await verify(content, ...words)
  expect(said.note).toMatch(sentence)
  expect([said.code, said.out]).toEqual([code, ''])
})

describe('what an examiner holds is looked at before a record is called altered', () => {
  test.each(['audit', 'certificate'])('a key that is none, for %s', async (what) => {
    const said = await run('verify', what, save({}), '--key', 'XX')
    expect(said.note).toMatch(/^--key must be a public key/)
    expect([said.code, said.out]).toEqual([2, ''])
  })

  test.each([
    ['another document', { valid: true }],
    ['no checkpoint at all', { items: [] }],
    ['something among checkpoints', { items: [{ tenant_id: 'x', seq: 1, hash: 'y' }] }],
  ])('%s instead of kept checkpoints', async (_, content) => {
    const said = await run('verify', 'audit', save({}), '--kept', save(content))
    expect(said.note).toMatch(/holds no checkpoints/)
    expect([said.code, said.out]).toEqual([1, ''])
  })

  test('a folder instead of the record', async () => {
    for (const what of ['audit', 'pack', 'certificate', 'erasure']) {
      const { code, note } = await run('verify', what, folder)
      expect([what, code, note]).toEqual([what, 2, expect.stringMatching(/^There is no file /)])
    }
  })
})
