/** Minted tokens are accepted by the verifier as they were meant, and keys are named by their thumbprint. */
import { generateKeyPairSync } from 'node:crypto'
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, type JWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { CountingCache } from '../cache/caches.ts'
import { createTokenMinter, generateSigningKey, type SigningKey } from './token-minter.ts'
import { createTokenVerifier, verifiedTokens } from './token-verifier.ts'

const now = () => 1_760_000_000_900
const issuer = 'https://probity.example'
const audience = 'probity'
const request = {
  principal: 'key:0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b',
  tenant_id: '0190a1b2-c3d4-7e5f-8a6b-00000000000a',
  roles: ['viewer', 'analyst'],
  lifetime_s: 900,
} as const

function world(key: SigningKey, public_jwk: JWK) {
  const minter = createTokenMinter({ issuer, audience, activeKey: async () => key, now })
  const keys = { kind: 'static', jwks: async () => [public_jwk] } as const
  const names = { tenant_claim: 'tenant_id', roles_claim: 'roles' }
  const trusted = { issuer, audience, algorithms: [key.alg], tenants: '*', role_map: null, built_in: true } as const
  const verifier = createTokenVerifier({
    cache: new CountingCache(verifiedTokens),
    issuers: [{ ...trusted, ...names, keys }],
    knownRoles: new Set(['viewer', 'analyst']),
    now,
  })
  return { minter, verifier }
}

describe('minting', () => {
  test('the verifier reads back what was asked for', async () => {
    const key = await generateSigningKey()
    const { minter, verifier } = world(key, key.public_jwk)
    const minted = await minter.mint({ ...request, name: 'Nightly import' })
    expect(minted.expires_at_s).toBe(1_760_000_900)
    expect(await verifier.verify(minted.token)).toEqual({
      issuer,
      subject: request.principal,
      token_id: minted.token_id,
      tenant_id: request.tenant_id,
      roles: request.roles,
      issued_at_s: 1_760_000_000,
      expires_at_s: minted.expires_at_s,
      principal: request.principal,
      display_name: 'Nightly import',
      is_for_tools: false,
      built_in: true,
    })
    expect(decodeProtectedHeader(minted.token)).toEqual({ alg: 'ES256', kid: key.kid, typ: 'JWT' })
  })

  test('EdDSA keys serve as well', async () => {
    const pair = generateKeyPairSync('ed25519')
    const private_jwk = pair.privateKey.export({ format: 'jwk' }) as JWK
    const public_jwk = { ...(pair.publicKey.export({ format: 'jwk' }) as JWK), kid: 'ed' }
    const { minter, verifier } = world({ kid: 'ed', alg: 'EdDSA', private_jwk }, public_jwk)
    const { token } = await minter.mint(request)
    expect(await verifier.verify(token)).toMatchObject({ principal: request.principal, display_name: null })
  })

  test('no two tokens share an id', async () => {
    const key = await generateSigningKey()
    const { minter } = world(key, key.public_jwk)
    const minted = await Promise.all(Array.from({ length: 20 }, () => minter.mint(request)))
    expect(new Set(minted.map(({ token_id }) => token_id)).size).toBe(20)
  })

  test('a lifetime is 1 second to 24 hours', async () => {
    const key = await generateSigningKey()
    const { minter, verifier } = world(key, key.public_jwk)
    for (const lifetime_s of [1, 86_400]) {
      await verifier.verify((await minter.mint({ ...request, lifetime_s })).token)
    }
    for (const lifetime_s of [0, -1, 86_401, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(minter.mint({ ...request, lifetime_s }), `${lifetime_s}`).rejects.toThrow(RangeError)
    }
  })

  test('a name that would be refused later is left out', async () => {
    const key = await generateSigningKey()
    const { minter } = world(key, key.public_jwk)
    for (const name of ['', 'x'.repeat(9000), 'a\0b']) {
      expect(decodeJwt((await minter.mint({ ...request, name })).token)).not.toHaveProperty('name')
    }
  })
})

describe('signing keys', () => {
  test('are ES256, named by their RFC 7638 thumbprint, the public half without the secret', async () => {
    const key = await generateSigningKey()
    expect(key).toMatchObject({ alg: 'ES256', kid: await calculateJwkThumbprint(key.public_jwk) })
    const members = { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', kid: key.kid }
    const { x, y } = key.public_jwk
    expect(key.public_jwk).toEqual({ ...members, x, y })
    expect(key.private_jwk).toEqual({ ...members, x, y, d: expect.stringMatching(/^[\w-]{43}$/) })
    expect((await generateSigningKey()).kid).not.toBe(key.kid)
  })
})
