/** The text of an API key: what is minted parses back, and whatever was mistyped, cut or altered does not. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mintApiKey, parseApiKey, secretMatches } from './api-key.ts'

const tenant_id = '0190a1b2-c3d4-7e5f-8a6b-00000000000a'
const key_id = '0190a1b2-c3d4-7e5f-8a6b-00000000000b'
const seed = 118

const withChecksum = (body: string) => body + createHash('sha256').update(body).digest('base64url').slice(0, 6)

describe('API keys', () => {
  test('have the documented form', () => {
    const { text, secret_hash } = mintApiKey(tenant_id, key_id)
    const [, secret = ''] =
      /^pk_0190a1b2c3d47e5f8a6b00000000000a_0190a1b2c3d47e5f8a6b00000000000b_([\w-]{43})[\w-]{6}$/.exec(text) ?? []
    expect(secret_hash).toBe(createHash('sha256').update(secret).digest('hex'))
    expect(text).toBe(withChecksum(text.slice(0, -6)))
    expect(text).not.toBe(mintApiKey(tenant_id, key_id).text)
  })

  test('parse back to what they were minted for', () => {
    const uuid = fc.uuid().filter((id) => id !== '00000000-0000-0000-0000-000000000000')
    const property = fc.property(uuid, fc.uuid(), (tenant, key) => {
      const { text, secret_hash } = mintApiKey(tenant, key)
      expect(parseApiKey(text)).toEqual({ tenant_id: tenant, key_id: key, secret_hash })
    })
    fc.assert(property, { seed })
  })

  test('are refused when any character is changed, lost, doubled or exchanged with its neighbour', () => {
    const { text } = mintApiKey(tenant_id, key_id)
    const at = fc.nat(text.length - 1)
    const property = fc.property(at, fc.string({ minLength: 1, maxLength: 1 }), (place, letter) => {
      const [before, after] = [text.slice(0, place), text.slice(place + 1)]
      const [here, next] = [text.charAt(place), text.charAt(place + 1)]
      const damaged = [before + letter + after, before + after, before + here + here + after, before, after]
      for (const other of [...damaged, before + next + here + after.slice(1)]) {
        if (other !== text) expect(parseApiKey(other)).toBeUndefined()
      }
    })
    fc.assert(property, { seed, numRuns: 1000 })
  })

  test('are refused with anything around them, in another case, or for the system tenant', () => {
    const { text } = mintApiKey(tenant_id, key_id)
    const system = `pk_${'0'.repeat(32)}_${text.slice(36, -6)}`
    const upper = `${text.slice(0, 36).toUpperCase().replace('PK', 'pk')}${text.slice(36, -6)}`
    const others = ['', 'pk_', ` ${text}`, `${text}\n`, `${text}=`, text.toUpperCase(), text.replace('pk_', 'sk_')]
    for (const other of [...others, withChecksum(system), withChecksum(upper)]) {
      expect(parseApiKey(other), other).toBeUndefined()
    }
    expect(parseApiKey(withChecksum(text.slice(0, -6)))).toBeDefined()
  })

  test('are minted for lower-case UUIDs only, and not for the system tenant', () => {
    expect(() => mintApiKey('00000000-0000-0000-0000-000000000000', key_id)).toThrow()
    expect(() => mintApiKey(tenant_id.toUpperCase(), key_id)).toThrow()
    expect(() => mintApiKey(tenant_id, 'one')).toThrow()
  })

  test('match by the hash of their secret', () => {
    const [one, other] = [mintApiKey(tenant_id, key_id), mintApiKey(tenant_id, key_id)]
    expect(secretMatches(one.secret_hash, `${parseApiKey(one.text)?.secret_hash}`)).toBe(true)
    expect(secretMatches(one.secret_hash, other.secret_hash)).toBe(false)
    expect(secretMatches(one.secret_hash, one.secret_hash.slice(1))).toBe(false)
    expect(secretMatches(one.secret_hash, '')).toBe(false)
  })
})
