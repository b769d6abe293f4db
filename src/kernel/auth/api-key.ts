/** The text form of an API key: tenant, key id, secret and checksum. Only the hash of a secret is stored. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { isUuid } from '../uuid.ts'
import { isTenantId } from './token-verifier.ts'

export interface ApiKey {
  readonly tenant_id: string
  readonly key_id: string
  readonly secret_hash: string
}

const API_KEY = /^(pk_([0-9a-f]{32})_([0-9a-f]{32})_([A-Za-z0-9_-]{43}))([A-Za-z0-9_-]{6})$/

export function mintApiKey(tenantId: string, keyId: string): { text: string; secret_hash: string } {
  if (!isTenantId(tenantId) || !isUuid(keyId))
    throw new Error('an API key names a tenant and a key by lower-case UUIDs')
  const secret = randomBytes(32).toString('base64url')
  const body = `pk_${withoutDashes(tenantId)}_${withoutDashes(keyId)}_${secret}`
  return { text: body + checksum(body), secret_hash: secretHash(secret) }
}

/**
 * Undefined for text that is not an API key: the checksum detects a typing error or a truncated paste without a query. It is no
 * protection, anyone can compute it.
 */
export function parseApiKey(text: string): ApiKey | undefined {
  const [, body, tenant = '', key = '', secret = '', sum] = API_KEY.exec(text) ?? []
  if (body === undefined || checksum(body) !== sum) return undefined
  const tenant_id = withDashes(tenant)
  return isTenantId(tenant_id) ? { tenant_id, key_id: withDashes(key), secret_hash: secretHash(secret) } : undefined
}

/** Compares two hashes of secrets in constant time. */
export function secretMatches(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * A fast hash on purpose: slow hashes protect passwords that people choose; 256 random bits cannot be guessed, and every token
 * exchange would pay for it.
 */
function secretHash(secret: string): string {
  return hash('sha256', secret, 'hex')
}

function checksum(body: string): string {
  return hash('sha256', body, 'base64url').slice(0, 6)
}

function withoutDashes(id: string): string {
  return id.replaceAll('-', '')
}

function withDashes(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
