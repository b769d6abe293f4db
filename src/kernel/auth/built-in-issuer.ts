/**
 * The built-in issuer: mints short-lived tokens for API keys and people, and publishes its public keys. Its private key is
 * encrypted at rest.
 */
import type { JWK } from 'jose'
import { unrestrictedScope } from '../database/scope.ts'
import type { Transactions } from '../database/tx.ts'
import type { KeyWrapper } from '../encryption/keyring.ts'
import { SYSTEM_TENANT } from '../uuid.ts'
import { listSigningKeys, type SigningKeyRow } from './queries.ts'
import { createTokenMinter, type SigningKey, type TokenMinter } from './token-minter.ts'

export const BUILT_IN_ISSUER = 'probity'
export const AUDIENCE = 'probity'
export const signingKeyContext = (kid: string): string => `system/signing-key:${kid}`

export interface BuiltInIssuer extends TokenMinter {
  readonly issuer: string
  readonly audience: string
  /** Public keys that may still verify a token: the active one and those retired within a token's life. */
  publicKeys(): Promise<JWK[]>
}

const SCOPE = unrestrictedScope(SYSTEM_TENANT, 'operator:issuer')
const CACHE_TTL_MS = 5000
/** How long the unwrapped private key is used without asking the master key again. */
const PRIVATE_KEY_TTL_MS = 3_600_000

export function createBuiltInIssuer(transactions: Pick<Transactions, 'one'>, wrapper: KeyWrapper): BuiltInIssuer {
  let cached: { loadKeys: SigningKeyRow[]; at_ms: number } | undefined
  let opened: { key: SigningKey; at_ms: number } | undefined
  const rows = async (): Promise<SigningKeyRow[]> => {
    if (cached && performance.now() - cached.at_ms < CACHE_TTL_MS) return cached.loadKeys
    const at_ms = performance.now()
    cached = { loadKeys: await transactions.one(SCOPE, listSigningKeys), at_ms }
    return cached.loadKeys
  }
  const activeKey = async (): Promise<SigningKey> => {
    const active = (await rows()).find((row) => row.state === 'active')
    if (!active) throw new Error('the built-in issuer has no active signing key; run "probity seed"')
    if (opened?.key.kid === active.kid && performance.now() - opened.at_ms < PRIVATE_KEY_TTL_MS) return opened.key
    const at_ms = performance.now()
    const text = (await wrapper.unwrap(active.sealed_private, signingKeyContext(active.kid))).toString()
    opened = { key: { kid: active.kid, alg: active.alg, private_jwk: JSON.parse(text) as JWK }, at_ms }
    return opened.key
  }
  return {
    issuer: BUILT_IN_ISSUER,
    audience: AUDIENCE,
    ...createTokenMinter({ issuer: BUILT_IN_ISSUER, audience: AUDIENCE, activeKey }),
    // Not cached here: the verifier has its own cache, and a rotation would be delayed by both.
    publicKeys: async () =>
      (await transactions.one(SCOPE, listSigningKeys)).map(
        (row) => ({ ...row.public_jwk, kid: row.kid, alg: row.alg, use: 'sig' }) as JWK,
      ),
  }
}
