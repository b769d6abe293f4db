import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import {
  createKeyring,
  createMasterKeyFile,
  DecryptionFailed,
  loadMasterKeyFile,
  needsRewrap,
  parseMasterKey,
} from './keyring.ts'

fc.configureGlobal({ seed: 5869 })

const keyOf = (fill: number) => Buffer.alloc(32, fill)
const ring = createKeyring(keyOf(1))
const context = 'tenant:a/credential:1'

describe('encryption', () => {
  test('decrypts to the same bytes in the same context', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ minLength: 1, unit: 'binary' }), (bytes, where) => {
        expect(ring.decrypt(ring.encrypt(Buffer.from(bytes), where), where)).toEqual(Buffer.from(bytes))
      }),
    )
    expect(ring.decrypt(ring.encrypt('grüße', context), context).toString()).toBe('grüße')
  })

  test('has the documented form, hides the text and is different each time', () => {
    const sealed = ring.encrypt('hunter2', context)
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]{80}\.[\w-]{16}\.[\w-]{31}$/)
    expect(sealed.split('.')[1]).toBe('72cd6e84')
    const again = ring.encrypt('hunter2', context).split('.')
    const shared = sealed.split('.').filter((part, index) => part === again[index])
    expect(shared).toEqual(['v1', ring.key_id])
  })

  test('decrypts what an earlier release encrypted', () => {
    const kept =
      'v1.72cd6e84.jLhYy--yHG1ZX22K5Q5PlEEIZIG1vW1MdmP541ArGbOaDSKjDQ5dF40THfVUBBJM-EUMwIhzAZGIK9zV' +
      '.tWnsNRZ2oZuIN1uA.8IwP0SvyqZhXr0b65SSKmqSjcgLKZOvtoJdq7VjfHsVBPXvBY_cLp8vFLIM'
    expect(ring.decrypt(kept, context).toString()).toBe('kept since the first release')
  })

  test('does not decrypt in another context', () => {
    const sealed = ring.encrypt('secret', context)
    expect(() => ring.decrypt(sealed, 'tenant:b/credential:1')).toThrow(DecryptionFailed)
    expect(() => ring.decrypt(sealed, '')).toThrow(DecryptionFailed)
    expect(() => ring.encrypt('secret', '')).toThrow(TypeError)
  })

  test('does not decrypt when any single bit of the text is flipped', () => {
    for (const length of [0, 1, 2, 3]) {
      const sealed = ring.encrypt('x'.repeat(length), context)
      for (let bit = 0; bit < sealed.length * 8; bit++) {
        const flipped = Buffer.from(sealed, 'latin1')
        flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
        expect(() => ring.decrypt(flipped.toString('latin1'), context)).toThrow(DecryptionFailed)
      }
    }
  })

  test('does not decrypt when any part is exchanged, cut or extended', () => {
    const parts = ring.encrypt('first', context).split('.')
    const other = ring.encrypt('first', context).split('.')
    for (const index of [2, 3, 4]) {
      const swapped = parts.with(index, other[index] ?? '')
      expect(() => ring.decrypt(swapped.join('.'), context)).toThrow(DecryptionFailed)
    }
    expect(() => ring.decrypt([...parts, 'AAAA'].join('.'), context)).toThrow(DecryptionFailed)
    expect(() => ring.decrypt(`${parts.join('.')}.`, context)).toThrow(DecryptionFailed)
    fc.assert(
      fc.property(fc.nat({ max: parts.join('.').length - 1 }), fc.string({ minLength: 1 }), (end, tail) => {
        const sealed = parts.join('.')
        expect(() => ring.decrypt(sealed.slice(0, end), context)).toThrow(DecryptionFailed)
        expect(() => ring.decrypt(sealed + tail, context)).toThrow(DecryptionFailed)
        expect(() => ring.decrypt(tail, context)).toThrow(DecryptionFailed)
      }),
    )
  })

  test('says nothing about the content when it fails', () => {
    const sealed = ring.encrypt('hunter2', context)
    expect(() => ring.decrypt(sealed, 'elsewhere')).toThrow(
      'The encrypted value cannot be decrypted: it was altered or belongs to another context',
    )
  })
})

describe('rotation', () => {
  const rotated = createKeyring([keyOf(2), keyOf(1)])

  test('decrypts with any key, encrypts with the first and recognises what to encrypt again', () => {
    const old = ring.encrypt('kept', context)
    expect(rotated.decrypt(old, context).toString()).toBe('kept')
    expect(needsRewrap(rotated, old)).toBe(true)
    const renewed = rotated.encrypt('kept', context)
    expect(needsRewrap(rotated, renewed)).toBe(false)
    expect(createKeyring(keyOf(2)).decrypt(renewed, context).toString()).toBe('kept')
    expect(() => ring.decrypt(renewed, context)).toThrow('its master key is not in the keyring')
  })

  test('refuses a keyring that cannot work', () => {
    expect(() => createKeyring([])).toThrow(TypeError)
    expect(() => createKeyring([keyOf(1), keyOf(1)])).toThrow('the same')
    expect(() => createKeyring(Buffer.alloc(31))).toThrow('32 bytes')
  })
})

describe('derivation', () => {
  test('derives one key per purpose and master key', () => {
    const keys = [ring.derive('cursor'), ring.derive('token'), createKeyring(keyOf(2)).derive('cursor')]
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(3)
    expect(keys.every((key) => key.length === 32)).toBe(true)
    expect(createKeyring([keyOf(1), keyOf(2)]).derive('cursor')).toEqual(keys[0])
  })

  test('stays the same from release to release', () => {
    expect(ring.derive('cursor').toString('hex')).toBe(
      'aa8f8d912256ea8d0faefb489047bd1863ed39770d0a35b3df0d16859a134cc1',
    )
  })
})

describe('master keys', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'seal-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('are read from hexadecimal and base64', () => {
    const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 8))
    expect(parseMasterKey(key.toString('hex'))).toEqual(key)
    expect(parseMasterKey(` ${key.toString('hex').toUpperCase()}\n`)).toEqual(key)
    expect(parseMasterKey(`${key.toString('base64')}\n`)).toEqual(key)
  })

  test.each(['', 'secret', 'a'.repeat(63), 'g'.repeat(64), 'A'.repeat(44), `${'A'.repeat(42)}B=`, '-'.repeat(43)])(
    'are not read from %j',
    (text) => {
      expect(() => parseMasterKey(text)).toThrow('64 hexadecimal digits or as 44 characters of base64')
    },
  )

  test('are stored in a file that only its owner can read and that is never replaced', () => {
    const file = path.join(folder, 'master.key')
    const key = createMasterKeyFile(file)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(loadMasterKeyFile(file)).toEqual(key)
    const before = readFileSync(file, 'utf8')
    expect(() => createMasterKeyFile(file)).toThrow('EEXIST')
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test.each([0o400, 0o440, 0o600, 0o640])('are read from a file of mode %o', (mode) => {
    const file = path.join(folder, `readable-${mode}`)
    writeFileSync(file, keyOf(1).toString('hex'))
    chmodSync(file, mode)
    expect(loadMasterKeyFile(file)).toEqual(keyOf(1))
  })

  test.each([0o604, 0o610, 0o620, 0o644, 0o660])('are refused from a file of mode %o', (mode) => {
    const file = path.join(folder, `mode-${mode}`)
    writeFileSync(file, keyOf(1).toString('hex'))
    chmodSync(file, mode)
    expect(() => loadMasterKeyFile(file)).toThrow(`chmod 600 ${file}`)
    chmodSync(file, 0o400)
    expect(loadMasterKeyFile(file)).toEqual(keyOf(1))
  })
})
