/** Copies of personal content: many at once, keys made together, and what is left after an owner was erased. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unrestrictedScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import {
  decryptCopies,
  type EncryptedCopy,
  encryptCopies,
  encryptCopy,
  packText,
  toCopyOwner,
  unpackText,
} from './copies.ts'
import { DecryptionFailed, OwnerKeyDestroyed } from './failures.ts'

describe('the compressed form', () => {
  test.each(['', 'Zoë', 'a'.repeat(511), `{"name":"${'Zoë Ångström '.repeat(100)}"}`])('gives back %.20s', (text) => {
    expect(unpackText(packText(text))).toBe(text)
  })

  test('is shorter than a long text', () => {
    const text = JSON.stringify({
      factors: Array.from({ length: 50 }, (_, n) => ({ key: `factor-${n}`, score_bps: n })),
    })
    expect(packText(text).length).toBeLessThan(text.length / 3)
  })
})

describe('encrypted copies', () => {
  let w: TestApp
  let tenant_id: string
  beforeAll(async () => {
    w = await startTestApp()
    tenant_id = await w.makeTenant()
  })
  afterAll(() => w.close())

  const write = <T>(body: (tx: Tx) => Promise<T>) =>
    w.runtime.database.write(unrestrictedScope(tenant_id, 'operator:test'), body)
  const at = (row_id: string) => ({ table: 'evaluation', row_id, column: 'document_encrypted' })
  const newCopy = (text: string, subject_id: string | null = uuidv7()) => {
    const id = uuidv7()
    return { owner: toCopyOwner(subject_id, id), at: at(id), text }
  }
  const countKeys = (ids: readonly string[]) =>
    write(async (tx) => (await tx.query('select 1 from app.owner_key where owner_id = any($1::uuid[])', [ids])).length)

  test('are made for many owners at once, and read at once', async () => {
    const shared = uuidv7()
    const copies = [newCopy('one'), newCopy('two', null), newCopy('three', shared), newCopy('four', shared)]
    const stored = (await write((tx) => encryptCopies(w.kernel, tx, copies))) as Buffer[]
    for (const [index, bytes] of stored.entries()) expect(bytes.includes(copies[index]?.text ?? '?')).toBe(false)
    const encrypted = copies.map((copy, index) => ({ ...copy, stored: stored[index] as Buffer }))
    expect(await write((tx) => decryptCopies(w.kernel, tx, encrypted))).toEqual(['one', 'two', 'three', 'four'])
    expect(await countKeys(copies.map(({ owner }) => owner.id))).toBe(3)
    // The next copies find the keys.
    await write((tx) => encryptCopies(w.kernel, tx, copies))
    expect(await countKeys(copies.map(({ owner }) => owner.id))).toBe(3)
  })

  test('of the same owners may be made by transactions at once, in any order', async () => {
    const copies = Array.from({ length: 40 }, (_, n) => newCopy(`copy ${n}`))
    const stored = await Promise.all(
      [copies, copies.toReversed(), copies].map((order) => write((tx) => encryptCopies(w.kernel, tx, order))),
    )
    expect(stored.flat()).not.toContain(null)
    expect(await countKeys(copies.map(({ owner }) => owner.id))).toBe(40)
    const [last] = stored.at(-1) as Buffer[]
    const [first] = copies
    if (!first) throw new Error('no copy')
    const copy = { ...first, stored: last as Buffer }
    expect(await write((tx) => decryptCopies(w.kernel, tx, [copy]))).toEqual(['copy 0'])
  })

  test('cannot be moved to another row or owner', async () => {
    const [one, two] = [newCopy('one'), newCopy('two')]
    const encrypted = await write((tx) => encryptCopies(w.kernel, tx, [one, two]))
    const [stored, other] = encrypted as [Buffer, Buffer]
    const read = (copy: EncryptedCopy) => write((tx) => decryptCopies(w.kernel, tx, [copy]))
    await expect(read({ ...one, stored: other })).rejects.toThrow(DecryptionFailed)
    await expect(read({ ...one, owner: two.owner, stored })).rejects.toThrow(DecryptionFailed)
    await expect(read({ ...one, owner: toCopyOwner(null, uuidv7()), stored })).rejects.toThrow('no such key')
  })

  test('of an erased owner are gone, and it gets no others', async () => {
    const [erased, kept] = [newCopy('erased'), newCopy('kept')]
    const stored = (await write((tx) => encryptCopies(w.kernel, tx, [erased, kept]))) as Buffer[]
    expect(await write((tx) => w.kernel.encryption.destroyOwner(tx, erased.owner))).toBe(1)
    expect(await write((tx) => w.kernel.encryption.destroyOwner(tx, erased.owner))).toBe(0)
    const encrypted = [erased, kept].map((copy, index) => ({ ...copy, stored: stored[index] as Buffer }))
    expect(await write((tx) => decryptCopies(w.kernel, tx, encrypted))).toEqual([null, 'kept'])
    const again = await write((tx) => encryptCopies(w.kernel, tx, [erased, kept]))
    expect(again.map((bytes) => bytes === null)).toEqual([true, false])
    await expect(write((tx) => encryptCopy(w.kernel, tx, erased))).rejects.toThrow(OwnerKeyDestroyed)
  })

  test('are refused for an owner that was erased before it had a key', async () => {
    const copy = newCopy('late')
    expect(await write((tx) => w.kernel.encryption.destroyOwner(tx, copy.owner))).toBe(0)
    await expect(write((tx) => encryptCopy(w.kernel, tx, copy))).rejects.toThrow(OwnerKeyDestroyed)
    expect(await write((tx) => encryptCopies(w.kernel, tx, [copy]))).toEqual([null])
  })
})
