/** The root computed with a temporary file equals the root of the tree in memory, also when the file cannot be written. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { entryHash } from './hashes.ts'
import { createMerkleBuilder, DuplicateKey } from './merkle.ts'
import { RootBuilder } from './merkle-root.ts'

const folder = mkdtempSync(join(tmpdir(), 'probity-root-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Enough that every partition has chunks in the file and pairs in memory. */
const MANY = 80_000
const hashes = Array.from({ length: 16 }, (_, n) => entryHash(`{"n":${n}}`))
const hashOf = (n: number) => hashes[n % 16] as string
const digestOf = (n: number) => Buffer.from(hashOf(n), 'hex').toString('latin1')

function rootOf(count: number, where: string): string {
  const content = new RootBuilder(where)
  try {
    for (let n = 0; n < count; n++) content.addDigest(`key ${n}`, digestOf(n))
    expect(content.count).toBe(count)
    return content.finish().root
  } finally {
    content.close()
  }
}

function wholeRoot(count: number): string {
  const tree = createMerkleBuilder()
  for (let n = 0; n < count; n++) tree.addHash(`key ${n}`, hashOf(n))
  return tree.finish().root
}

test.each([0, 1, 300, 20_000, MANY])('of %i entries', (count) => {
  expect(rootOf(count, folder)).toBe(wholeRoot(count))
  expect(readdirSync(folder)).toEqual([])
})

test('uses memory when no file can be created', () => {
  expect(rootOf(MANY, join(folder, 'missing'))).toBe(wholeRoot(MANY))
})

test.each([10, MANY])('finds a duplicate key among %i entries', (count) => {
  const content = new RootBuilder(folder)
  for (let n = 0; n < count; n++) content.addDigest(`key ${n}`, digestOf(n))
  content.addDigest('key 3', digestOf(count))
  expect(() => content.finish()).toThrow(DuplicateKey)
  content.close()
})

test.each(['ab', 'ab'.repeat(32)])('refuses an invalid digest: %s', (digest) => {
  expect(() => new RootBuilder(folder).addDigest('key', digest)).toThrow(TypeError)
})
