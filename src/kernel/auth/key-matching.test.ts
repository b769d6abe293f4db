/** Which keys of an issuer verify a token: by type, size, curve, name and what a key says of itself. */
import { generateKeyPairSync } from 'node:crypto'
import { compactVerify, type JWK } from 'jose'
import { expect, test } from 'vitest'
import { createKeySet } from './key-sets.ts'
import { createTokenMinter, generateSigningKey } from './token-minter.ts'

const [first, second] = await Promise.all([generateSigningKey(), generateSigningKey()])
const find = (jwk: unknown, alg: 'RS256' | 'ES256' | 'EdDSA', kid?: string) =>
  createKeySet({ kind: 'static', jwks: async () => [jwk as JWK] }).find(alg, kid)
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' })
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' })
const ed25519 = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
const rsa_2048 = rsa(2048)

test('each type of key serves one algorithm', async () => {
  const keys = { RS256: rsa_2048, ES256: ec('P-256'), EdDSA: ed25519 } as const
  for (const [alg, jwk] of Object.entries(keys)) {
    for (const asked of ['RS256', 'ES256', 'EdDSA'] as const) {
      expect((await find(jwk, asked)) !== undefined, `${alg} asked for ${asked}`).toBe(alg === asked)
    }
  }
})

test('what a key says of itself must agree', async () => {
  expect(await find({ ...rsa_2048, alg: 'RS256', use: 'sig', key_ops: ['verify'] }, 'RS256')).toBeDefined()
  const changes = [{ alg: 'PS256' }, { alg: 'RS512' }, { alg: 5 }, { use: 'enc' }, { key_ops: ['encrypt'] }, { kid: 7 }]
  for (const change of [...changes, { n: undefined }, { n: 'AQAB' }, { n: 5 }, { kty: 'oct' }]) {
    expect(await find({ ...rsa_2048, ...change }, 'RS256'), JSON.stringify(change)).toBeUndefined()
  }
  expect(await find({ kty: 'oct', k: 'c2VjcmV0', alg: 'ES256' }, 'ES256')).toBeUndefined()
  for (const nonsense of [null, 'key', 5, [], {}]) expect(await find(nonsense, 'ES256')).toBeUndefined()
})

test('short moduli and other curves serve none', async () => {
  expect(await find(rsa(1024), 'RS256')).toBeUndefined()
  expect(await find(rsa(2040), 'RS256')).toBeUndefined()
  expect(await find(ec('P-384'), 'ES256')).toBeUndefined()
  expect(await find(ec('secp256k1'), 'ES256')).toBeUndefined()
  const ed448 = generateKeyPairSync('ed448').publicKey.export({ format: 'jwk' })
  expect(await find(ed448, 'EdDSA')).toBeUndefined()
})

test('a private key published by mistake can only verify', async () => {
  const key = await find(first.private_jwk, 'ES256', first.kid)
  expect(key).toMatchObject({ type: 'public', usages: ['verify'] })
  const minter = createTokenMinter({ issuer: 'i', audience: 'a', activeKey: async () => first })
  const { token } = await minter.mint({ principal: 'user:1', tenant_id: 't', roles: [], lifetime_s: 1 })
  if (key) await compactVerify(token, key)
})

test('two keys of one name are ambiguous, whichever comes first', async () => {
  const twins = [first.public_jwk, { ...second.public_jwk, kid: first.kid }]
  for (const jwks of [twins, twins.toReversed()]) {
    expect(await createKeySet({ kind: 'static', jwks: async () => jwks }).find('ES256', first.kid)).toBeUndefined()
  }
})
