/** Which tokens are believed, for how long, and that nothing else is: the corpus of forgeries and random damage. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { validateHeaderValue } from 'node:http'
import fc from 'fast-check'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { forgedTokens } from '#test/support/forged-tokens.ts'
import { type ForgeryContext, type ForgeryKey, goodExternalToken, goodToken } from '#test/support/token-forge.ts'
import { CountingCache } from '../cache/caches.ts'
import { Problem } from '../problem.ts'
import { generateSigningKey } from './token-minter.ts'
import { createTokenVerifier, type TokenVerifier, type TrustedIssuer, verifiedTokens } from './token-verifier.ts'

const NOW_S = 1_760_000_000
const knownRoles = new Set(['viewer', 'analyst'])
const external_tenant = '0190a1b2-c3d4-7e5f-8a6b-00000000000e'

let world: ForgeryContext
let external: NonNullable<ForgeryContext['external']>
let eddsa_key: ForgeryKey
let built_in_jwks: JWK[]
let external_jwks: JWK[]

async function keyFrom(pair: {
  publicKey: { export(o: object): unknown }
  privateKey: { export(o: object): unknown }
}) {
  const public_jwk = pair.publicKey.export({ format: 'jwk' }) as JWK
  const kid = await calculateJwkThumbprint(public_jwk)
  return { kid, public_jwk: { ...public_jwk, kid }, private_jwk: pair.privateKey.export({ format: 'jwk' }) as JWK }
}

beforeAll(async () => {
  eddsa_key = await keyFrom(generateKeyPairSync('ed25519'))
  external = {
    issuer: 'https://login.example',
    audience: 'probity-at-login',
    tenant_id: external_tenant,
    key: await keyFrom(generateKeyPairSync('rsa', { modulusLength: 2048 })),
    weak_key: await keyFrom(generateKeyPairSync('rsa', { modulusLength: 1024 })),
  }
  world = {
    issuer: 'https://probity.example',
    audience: 'probity',
    tenant_id: '0190a1b2-c3d4-7e5f-8a6b-00000000000a',
    subject: `user:${randomUUID()}`,
    role: 'viewer',
    now_s: NOW_S,
    key: await generateSigningKey(),
    external,
  }
  built_in_jwks = [world.key.public_jwk]
  external_jwks = [external.key.public_jwk, external.weak_key.public_jwk, eddsa_key.public_jwk]
})

function builtIn(change: Partial<TrustedIssuer> = {}): TrustedIssuer {
  return {
    issuer: world.issuer,
    audience: world.audience,
    algorithms: ['ES256'],
    tenants: '*',
    tenant_claim: 'tenant_id',
    roles_claim: 'roles',
    role_map: null,
    keys: { kind: 'static', jwks: async () => built_in_jwks },
    built_in: true,
    ...change,
  }
}

function externalIssuer(change: Partial<TrustedIssuer> = {}): TrustedIssuer {
  return {
    ...builtIn(),
    issuer: external.issuer,
    audience: external.audience,
    algorithms: ['RS256'],
    tenants: [external_tenant],
    role_map: { viewer: ['viewer'], boss: ['analyst', 'viewer'], external: [] },
    keys: { kind: 'static', jwks: async () => external_jwks },
    built_in: false,
    ...change,
  }
}

const clock = { now_ms: NOW_S * 1000 }

function verifier(change: Partial<Parameters<typeof createTokenVerifier>[0]> = {}): TokenVerifier {
  clock.now_ms = NOW_S * 1000
  return createTokenVerifier({
    cache: new CountingCache(verifiedTokens),
    issuers: [builtIn(), externalIssuer()],
    knownRoles,
    now: () => clock.now_ms,
    ...change,
  })
}

/** The code of the refusal; anything but a problem of ours escapes and fails the test. */
async function refusal(subject: TokenVerifier, token: string): Promise<string> {
  try {
    await subject.verify(token)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    expect(error.status).toBe(401)
    // No detail of its own: neither a reason nor a piece of the token.
    expect(error.extra).toEqual({})
    return error.code
  }
  return 'accepted'
}

function eddsaToken(header: object = {}): string {
  const text = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const [, payload] = goodExternalToken(world, external).split('.')
  const input = `${text({ alg: 'EdDSA', kid: eddsa_key.kid, ...header })}.${payload}`
  const key = { key: eddsa_key.private_jwk as Record<string, string>, format: 'jwk' } as const
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`
}

describe('good tokens', () => {
  test('ES256 of the built-in issuer', async () => {
    const token = goodToken(world, { claims: { name: 'Ada', roles: ['viewer', 'analyst', 'viewer'] } })
    expect(await verifier().verify(token)).toEqual({
      issuer: world.issuer,
      subject: world.subject,
      token_id: '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b',
      tenant_id: world.tenant_id,
      roles: ['viewer', 'analyst'],
      issued_at_s: NOW_S,
      expires_at_s: NOW_S + 900,
      principal: world.subject,
      display_name: 'Ada',
      is_for_tools: false,
      built_in: true,
    })
  })

  test('RS256 of an external issuer: roles are mapped, the principal is derived and stays', async () => {
    const claims = { roles: ['boss', 'external', 'stranger', 'constructor', 'viewer'] }
    const first = await verifier().verify(goodExternalToken(world, external, { claims }))
    expect(first).toMatchObject({ built_in: false, roles: ['analyst', 'viewer'], tenant_id: external_tenant })
    expect(first.principal).toMatch(/^user:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const again = await verifier().verify(goodExternalToken(world, external, { claims: { jti: 'another' } }))
    const other = await verifier().verify(goodExternalToken(world, external, { claims: { sub: 'else@example.com' } }))
    expect(again.principal).toBe(first.principal)
    expect(other.principal).not.toBe(first.principal)
  })

  test('EdDSA, where the issuer lists it and not where it does not', async () => {
    const listed = verifier({ issuers: [externalIssuer({ algorithms: ['EdDSA'] })] })
    expect(await listed.verify(eddsaToken())).toMatchObject({ subject: 'someone@example.com' })
    expect(await refusal(verifier(), eddsaToken())).toBe('token_invalid')
  })

  test('what is ignored or optional', async () => {
    const changes = {
      'no typ': { header: { typ: undefined } },
      'access token type': { header: { typ: 'at+jwt' } },
      'type in lower case': { header: { typ: 'jwt' } },
      'addresses of keys': { header: { jku: 'https://a.example', x5u: 'https://a.example', jwk: {}, x5c: ['a'] } },
      'list of audiences': { claims: { aud: ['other', world.audience] } },
      'no roles': { claims: { roles: [] } },
      '32 roles': { claims: { roles: Array(32).fill('viewer') } },
      'nbf in the past': { claims: { nbf: NOW_S - 5 } },
      'name that is not text': { claims: { name: 5 } },
      'principal that is a key': { claims: { sub: 'key:0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b' } },
      'no kid, one key': { header: { kid: undefined } },
      'other claims': { claims: { email: 'ada@example.com', deep: { a: [{ a: 1 }, { a: 2 }] } } },
    }
    for (const [name, change] of Object.entries(changes)) {
      const verified = verifier().verify(goodToken(world, change))
      await expect(verified, name).resolves.toMatchObject({ issuer: world.issuer, display_name: null })
    }
  })

  test('claim names are the configured ones', async () => {
    const issuers = [builtIn({ tenant_claim: 'org', roles_claim: 'groups' })]
    const named = goodToken(world, { claims: { org: world.tenant_id, groups: ['analyst'], tenant_id: 'x', roles: 1 } })
    expect(await verifier({ issuers }).verify(named)).toMatchObject({ tenant_id: world.tenant_id, roles: ['analyst'] })
    expect(await refusal(verifier({ issuers }), goodToken(world))).toBe('tenant_context_missing')
    const inherited = verifier({ issuers: [builtIn({ tenant_claim: 'constructor' })] })
    expect(await refusal(inherited, goodToken(world))).toBe('tenant_context_missing')
  })
})

describe('forgeries', () => {
  test('every token of the corpus is refused, with the code its flaw deserves', async () => {
    const corpus = await forgedTokens(world)
    expect(corpus.length).toBeGreaterThanOrEqual(118)
    expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length)
    expect(new Set(corpus.map(({ token }) => token)).size).toBe(corpus.length)
    const { external: _, ...alone } = world
    expect((await forgedTokens(alone)).length).toBeGreaterThanOrEqual(118)
    for (const { name, token } of corpus) {
      // HTTP trims a header: white space at an end would arrive as a good token.
      expect(token.trim(), name).toBe(token)
      validateHeaderValue('authorization', `Bearer ${token}`)
    }

    const subject = verifier()
    const codes = new Map<string, string>()
    for (const { name, token } of corpus) codes.set(name, await refusal(subject, token))
    const unusual = Object.fromEntries([...codes].filter(([, code]) => code !== 'token_invalid'))
    expect(unusual).toEqual({
      expired: 'token_expired',
      'expired years ago': 'token_expired',
      'claim tenant_id missing': 'tenant_context_missing',
      'claim tenant_id null': 'tenant_context_missing',
      'tenant under other names': 'tenant_context_missing',
      'tenant by prototype': 'tenant_context_missing',
    })
    for (const { token } of corpus) expect(subject.getCached(token)).toBeUndefined()
  })

  test('what cannot be sent in a header is refused as well', async () => {
    const good = goodToken(world)
    const spoilt = ['', ' ', '\0', ` ${good}`, `${good} `, `${good}\n`, `${good}\r\n`, `${good}\0`, `\uFEFF${good}`]
    const dotted = good.replaceAll('.', '\u3002')
    for (const token of [...spoilt, dotted]) expect(await refusal(verifier(), token)).toBe('token_invalid')
  })

  test('no kid: refused when several keys fit', async () => {
    const second = await generateSigningKey()
    const keys = { kind: 'static', jwks: async () => [world.key.public_jwk, second.public_jwk] } as const
    const subject = verifier({ issuers: [builtIn({ keys })] })
    expect(await refusal(subject, goodToken(world, { header: { kid: undefined } }))).toBe('token_invalid')
    expect(await refusal(subject, goodToken(world))).toBe('accepted')
  })

  test('expired and otherwise bad is bad: a forger learns nothing from the date', async () => {
    const claims = { iat: NOW_S - 1000, exp: NOW_S - 100 }
    expect(await refusal(verifier(), goodToken(world, { claims: { ...claims, aud: 'other' } }))).toBe('token_invalid')
    const unsigned = goodToken(world, { claims, sign: () => Buffer.alloc(64) })
    expect(await refusal(verifier(), unsigned)).toBe('token_invalid')
  })

  test('8192 bytes are the limit', async () => {
    const sized = (length: number) => {
      for (let x = ''; ; x += 'x') {
        // The header takes part, since base64url has no text of every length.
        const lengths = ['', 'x', 'xx'].map((y) =>
          goodToken(world, { claims: { x: 'x'.repeat(5500) + x }, header: { y } }),
        )
        const found = lengths.find((token) => token.length === length)
        if (found) return found
      }
    }
    expect(await refusal(verifier(), sized(8192))).toBe('accepted')
    expect(await refusal(verifier(), sized(8193))).toBe('token_invalid')
  })
})

describe('random damage', () => {
  test('a token with any bit flipped is refused', async () => {
    const tokens = {
      ES256: goodToken(world),
      RS256: goodExternalToken(world, external),
      EdDSA: eddsaToken(),
    }
    const subject = verifier({ issuers: [builtIn(), externalIssuer({ algorithms: ['RS256', 'EdDSA'] })] })
    for (const [name, token] of Object.entries(tokens)) {
      expect(await refusal(subject, token), name).toBe('accepted')
      const place = fc.tuple(fc.nat(token.length - 1), fc.nat(7))
      const property = fc.asyncProperty(place, async ([at, bit]) => {
        const bytes = Buffer.from(token, 'latin1')
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at)
        expect(await refusal(subject, bytes.toString('latin1'))).toBe('token_invalid')
      })
      await fc.assert(property, { numRuns: 400, seed: 118 })
    }
  })

  test('every other spelling of the last character of a signature is refused', async () => {
    for (const token of [goodToken(world), goodExternalToken(world, external)]) {
      for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
        const respelt = token.slice(0, -1) + letter
        expect(await refusal(verifier(), respelt)).toBe(respelt === token ? 'accepted' : 'token_invalid')
      }
    }
  })

  test('any text, and any signed JSON, is refused with a problem and nothing else', async () => {
    const subject = verifier()
    const text = fc.asyncProperty(fc.string({ unit: 'binary' }), async (token) => {
      expect(await refusal(subject, token)).toBe('token_invalid')
    })
    await fc.assert(text, { numRuns: 300, seed: 118 })
    const names = ['exp', 'iat', 'nbf', 'sub', 'jti', 'aud', 'tenant_id', 'roles']
    const damage = fc.asyncProperty(fc.constantFrom(...names), fc.jsonValue(), async (name, value) => {
      const code = await refusal(subject, goodToken(world, { claims: { [name]: value } }))
      // These have harmless values: any name, an old start, no roles at all.
      if (!['jti', 'nbf', 'roles'].includes(name)) expect(code).not.toBe('accepted')
    })
    await fc.assert(damage, { numRuns: 400, seed: 118 })
  })
})

describe('time', () => {
  const at = async (claims: Record<string, number>, now_s: number) => {
    const subject = verifier()
    clock.now_ms = now_s * 1000
    return refusal(subject, goodToken(world, { claims }))
  }

  test('30 seconds of skew on either side, and not one more', async () => {
    expect(await at({}, NOW_S + 929.999)).toBe('accepted')
    expect(await at({}, NOW_S + 930)).toBe('token_expired')
    expect(await at({}, NOW_S - 30)).toBe('accepted')
    expect(await at({}, NOW_S - 30.001)).toBe('token_invalid')
    expect(await at({ nbf: NOW_S + 60 }, NOW_S + 30)).toBe('accepted')
    expect(await at({ nbf: NOW_S + 60 }, NOW_S + 29.999)).toBe('token_invalid')
  })

  test('a lifetime of 24 hours is the longest', async () => {
    expect(await at({ exp: NOW_S + 86_400 }, NOW_S)).toBe('accepted')
    expect(await at({ exp: NOW_S + 86_401 }, NOW_S)).toBe('token_invalid')
  })
})

describe('cache', () => {
  test('answers with the same frozen object, for 60 seconds', async () => {
    const subject = verifier()
    const token = goodToken(world)
    expect(subject.getCached(token)).toBeUndefined()
    const verified = await subject.verify(token)
    expect(Object.isFrozen(verified) && Object.isFrozen(verified.roles)).toBe(true)
    clock.now_ms += 59_999
    expect(subject.getCached(token)?.verified).toBe(verified)
    expect(await subject.verify(token)).toBe(verified)
    clock.now_ms += 1
    expect(subject.getCached(token)).toBeUndefined()
    const again = await subject.verify(token)
    expect(again).toEqual(verified)
    expect(subject.getCached(token)?.verified).toBe(again)
  })

  test('an entry never outlives its token', async () => {
    const subject = verifier()
    const token = goodToken(world, { claims: { exp: NOW_S + 10 } })
    const verified = await subject.verify(token)
    clock.now_ms += 39_999
    expect(subject.getCached(token)?.verified).toBe(verified)
    clock.now_ms += 1
    expect(subject.getCached(token)).toBeUndefined()
    expect(await refusal(subject, token)).toBe('token_expired')
  })

  test('a clock set back makes no entry live longer', async () => {
    const subject = verifier()
    const token = goodToken(world)
    await subject.verify(token)
    clock.now_ms -= 1
    expect(subject.getCached(token)).toBeUndefined()
  })

  test('is bounded', async () => {
    const subject = verifier({ cache: new CountingCache({ ...verifiedTokens, bound: { max_entries: 2 } }) })
    const tokens = ['a', 'b', 'c'].map((jti) => goodToken(world, { claims: { jti } }))
    for (const token of tokens) await subject.verify(token)
    expect(tokens.map((token) => subject.getCached(token) !== undefined)).toEqual([false, true, true])
  })

  test('a token of a removed key is refused once its entry and the key have aged', async () => {
    let jwks = [world.key.public_jwk]
    const subject = verifier({ issuers: [builtIn({ keys: { kind: 'static', jwks: async () => jwks } })] })
    const token = goodToken(world)
    await subject.verify(token)
    jwks = [(await generateSigningKey()).public_jwk]
    clock.now_ms += 59_999
    expect(await refusal(subject, token)).toBe('accepted')
    expect(await refusal(subject, goodToken(world, { claims: { jti: 'fresh' } }))).toBe('token_invalid')
    clock.now_ms += 1
    expect(await refusal(subject, token)).toBe('token_invalid')
  })
})

describe('configuration', () => {
  test('an insecure configuration stops the start', () => {
    const attempts: Record<string, () => TrustedIssuer[]> = {
      'speak for every tenant': () => [externalIssuer({ tenants: '*' })],
      'map of roles': () => [externalIssuer({ role_map: null })],
      'unknown roles: root': () => [externalIssuer({ role_map: { boss: ['root'] } })],
      'not the system tenant': () => [externalIssuer({ tenants: ['00000000-0000-0000-0000-000000000000'] })],
      'lower-case UUID': () => [externalIssuer({ tenants: [external_tenant.toUpperCase()] })],
      'at least one algorithm': () => [builtIn({ algorithms: [] })],
      'only RS256, ES256 and EdDSA': () => [builtIn({ algorithms: ['HS256' as 'RS256'] })],
      'must not be empty': () => [builtIn({ audience: '' })],
      'configured twice': () => [builtIn(), builtIn()],
      'use the issuer itself': () => [builtIn({ keys: { kind: 'oidc', issuer_url: 'https://else.example' } })],
    }
    for (const [message, issuers] of Object.entries(attempts)) {
      expect(() => verifier({ issuers: issuers() }), message).toThrow(message)
    }
  })
})
