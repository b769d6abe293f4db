/**
 * Signs the short-lived tokens of the built-in issuer and generates its signing keys. The caller decides who gets a token and
 * with which roles.
 */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { uuidv7 } from '../uuid.ts'
import { isPlainText, MAX_LIFETIME_S, type Principal } from './token-verifier.ts'

export interface SigningKey {
  readonly kid: string
  readonly alg: 'ES256' | 'EdDSA'
  readonly private_jwk: JWK
}

export interface TokenMinterOptions {
  readonly issuer: string
  readonly audience: string
  readonly activeKey: () => Promise<SigningKey>
  readonly now?: () => number
}

export interface TokenRequest {
  readonly principal: Principal
  readonly tenant_id: string
  readonly roles: readonly string[]
  readonly lifetime_s: number
  readonly name?: string
}

export interface MintedToken {
  readonly token: string
  readonly token_id: string
  readonly expires_at_s: number
}

export interface TokenMinter {
  mint(request: TokenRequest): Promise<MintedToken>
}

export function createTokenMinter({ issuer, audience, activeKey, now = Date.now }: TokenMinterOptions): TokenMinter {
  return {
    async mint({ principal, tenant_id, roles, lifetime_s, name }) {
      if (!Number.isInteger(lifetime_s) || lifetime_s < 1 || lifetime_s > MAX_LIFETIME_S) {
        throw new RangeError(`a token lives from 1 to ${MAX_LIFETIME_S} whole seconds`)
      }
      const { kid, alg, private_jwk } = await activeKey()
      const token_id = uuidv7()
      const issued_at_s = Math.floor(now() / 1000)
      const expires_at_s = issued_at_s + lifetime_s
      const token = await new SignJWT({ tenant_id, roles, ...(isPlainText(name) && { name }) })
        .setProtectedHeader({ alg, kid, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(principal)
        .setJti(token_id)
        .setIssuedAt(issued_at_s)
        .setExpirationTime(expires_at_s)
        .sign(private_jwk)
      return { token, token_id, expires_at_s }
    },
  }
}

/** The key id is the RFC 7638 thumbprint, so that two processes cannot give one id to different keys. */
export async function generateSigningKey(): Promise<SigningKey & { readonly public_jwk: JWK }> {
  const alg = 'ES256'
  const pair = await generateKeyPair(alg, { extractable: true })
  const [public_members, private_members] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)])
  const kid = await calculateJwkThumbprint(public_members)
  return {
    kid,
    alg,
    public_jwk: { ...public_members, kid, alg, use: 'sig' },
    private_jwk: { ...private_members, kid, alg, use: 'sig' },
  }
}
