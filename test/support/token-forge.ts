/** Test support: tokens written by hand, good ones and ones changed in any way, with whatever signature. */
import * as crypto from 'node:crypto'
import type { JWK } from 'jose'

export interface ForgeryKey {
  readonly kid: string
  readonly private_jwk: JWK
  readonly public_jwk: JWK
}

export interface ForgeryContext {
  readonly issuer: string
  readonly audience: string
  readonly tenant_id: string
  readonly subject: string
  readonly role: string
  readonly now_s: number
  /** The built-in issuer's published ES256 key. */
  readonly key: ForgeryKey
  /** A second trusted issuer, RS256 only, which may not speak for the tenant above; both its keys are published. */
  readonly external?: ExternalIssuer
}

export interface ExternalIssuer {
  readonly issuer: string
  readonly audience: string
  readonly tenant_id: string
  readonly key: ForgeryKey
  readonly weak_key: ForgeryKey
}

export type NamedToken = readonly [name: string, token: string]
export type Signer = (input: string) => Buffer
export type Members = Readonly<Record<string, unknown>>

export interface TokenChange {
  readonly header?: Members
  readonly claims?: Members
  readonly header_text?: string | Buffer
  readonly payload_text?: string | Buffer
  readonly sign?: Signer
}

export interface Forge {
  readonly header: Members
  readonly claims: Members
  readonly genuine: Signer
  token(change?: TokenChange): string
  badHeader(name: string, ...values: unknown[]): NamedToken[]
  badClaim(name: string, ...values: unknown[]): NamedToken[]
}

export const OTHER_UUID = '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b'

/** What every forgery starts from; it must be accepted, or the corpus proves nothing. */
export function goodToken(context: ForgeryContext, change: TokenChange = {}): string {
  return builtInForge(context).token(change)
}

export function goodExternalToken(context: ForgeryContext, external: ExternalIssuer, change: TokenChange = {}): string {
  return externalForge(context, external).token(change)
}

export function builtInForge({ issuer, audience, tenant_id, subject, role, now_s, key }: ForgeryContext): Forge {
  const identity = { iss: issuer, aud: audience, sub: subject, jti: OTHER_UUID, tenant_id, roles: [role] }
  const header = { alg: 'ES256', kid: key.kid, typ: 'JWT' }
  return createForge(header, { ...identity, iat: now_s, exp: now_s + 900 }, ecdsa(privateKey(key)))
}

export function externalForge(context: ForgeryContext, { issuer, audience, tenant_id, key }: ExternalIssuer): Forge {
  const identity = { iss: issuer, aud: audience, sub: 'someone@example.com', tenant_id }
  const header = { alg: 'RS256', kid: key.kid, typ: 'JWT' }
  return createForge(header, { ...builtInForge(context).claims, ...identity }, rsa(privateKey(key)))
}

function createForge(header: Members, claims: Members, genuine: Signer): Forge {
  const token = (change: TokenChange = {}) => {
    const header_text = change.header_text ?? JSON.stringify({ ...header, ...change.header })
    const payload_text = change.payload_text ?? JSON.stringify({ ...claims, ...change.claims })
    return signToken(`${base64url(header_text)}.${base64url(payload_text)}`, change.sign ?? genuine)
  }
  const named = (name: string, value: unknown) => `${name} ${value === undefined ? 'missing' : JSON.stringify(value)}`
  return {
    header,
    claims,
    genuine,
    token,
    badHeader: (name, ...values) =>
      values.map((value) => [`header ${named(name, value)}`, token({ header: { [name]: value } })]),
    badClaim: (name, ...values) =>
      values.map((value) => [`claim ${named(name, value)}`, token({ claims: { [name]: value } })]),
  }
}

export function ecdsa(key: crypto.KeyObject, digest = 'sha256'): Signer {
  return (input) => crypto.sign(digest, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
}

export function rsa(key: crypto.KeyObject, digest = 'sha256'): Signer {
  return (input) => crypto.sign(digest, Buffer.from(input), key)
}

export function rsaPss(key: crypto.KeyObject): Signer {
  const padding = crypto.constants.RSA_PKCS1_PSS_PADDING
  return (input) => crypto.sign('sha256', Buffer.from(input), { key, padding, saltLength: 32 })
}

export function hmac(digest: string, secret: string | Buffer): Signer {
  return (input) => crypto.createHmac(digest, secret).update(input).digest()
}

export function privateKey({ private_jwk }: ForgeryKey): crypto.KeyObject {
  return crypto.createPrivateKey({ key: private_jwk as crypto.JsonWebKey, format: 'jwk' })
}

export function signToken(input: string, sign: Signer): string {
  return `${input}.${base64url(sign(input))}`
}

export function base64url(data: string | Buffer): string {
  return Buffer.from(data).toString('base64url')
}

/** The same bytes to a lenient decoder: the last character's unused low bit is set. */
export function withSpareBit(segment: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(segment.slice(-1))
  return segment.slice(0, -1) + alphabet.charAt(last | 1)
}

export function flipCase(text: string): string {
  return text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase()
}
