/**
 * Access tokens shared by all processes. Whoever claims the lease by compare-and-set fetches the next token, outside any
 * transaction; the others use the present token, or wait for the next. A process that lost its lease stores nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { SecretMembers } from './member-encoding.ts'
import { claimTokenLease, findToken, removeToken, shortenTokenLease, updateToken } from './queries.ts'
import { type CredentialId, encryptToken, openToken, type Transact, withCredential } from './with-credential.ts'

const LEASE_S = 15
const WAIT_MS = 200
const MAX_WAIT_MS = 5_000
/** A new token is fetched at 80 % of the lifetime, give or take a tenth, so that processes do not all notice at once. */
const REFRESH_SHARE = 0.8
const REFRESH_JITTER = 0.1

export interface AccessToken {
  readonly text: string
  readonly token_no: number
}

export interface FetchedToken {
  readonly text: string
  readonly lifetime_s: number
}

export interface TokenSource extends CredentialId {
  readonly is_verification: boolean
  readonly call_id: string | null
  readonly fetchToken: (members: SecretMembers) => Promise<FetchedToken>
}

export async function getAccessToken(
  kernel: Capabilities<'encryption'>,
  transact: Transact,
  source: TokenSource,
): Promise<AccessToken> {
  const giveUpAt_ms = performance.now() + MAX_WAIT_MS
  for (;;) {
    const lease_id = uuidv7()
    const found = await transact(async (tx) => {
      const row = await findToken(tx, source.credential_id, source.version)
      const present = async () => ({
        token: {
          text: await openToken(kernel, tx, source, row as { token: Buffer; token_no: number }),
          token_no: row?.token_no ?? 0,
        },
      })
      if (row?.is_fresh || (row?.is_usable && row.is_leased)) return present()
      const lease = { lease_id, lease_s: LEASE_S, token_no: row?.token_no ?? 0 }
      const claimed = await claimTokenLease(tx, source, lease)
      if (claimed) return { claimed: claimed.token_no }
      return row?.is_usable ? present() : {}
    })
    if ('token' in found) return found.token
    if ('claimed' in found) {
      const fetched = await fetchNextToken(kernel, transact, source, { lease_id, token_no: found.claimed })
      if (fetched) return fetched
    } else if (performance.now() > giveUpAt_ms) {
      fail('dependency_unavailable', { detail: 'The token endpoint of the provider did not answer.', retry_after_s: 5 })
    } else {
      await sleep(WAIT_MS)
    }
  }
}

/** Undefined when the lease was lost meanwhile: another process has the newer token. */
async function fetchNextToken(
  kernel: Capabilities<'encryption'>,
  transact: Transact,
  source: TokenSource,
  { lease_id, token_no }: { readonly lease_id: string; readonly token_no: number },
): Promise<AccessToken | undefined> {
  const { credential_id, version, is_verification, call_id } = source
  try {
    const mark = async () => undefined
    const use = { credential_id, version, is_verification, purpose: 'token' as const, call_id, mark }
    const { text, lifetime_s } = await withCredential(kernel, transact, use, source.fetchToken)
    const jitter = 1 + REFRESH_JITTER * (2 * Math.random() - 1)
    const stored = await transact(async (tx) => {
      const token = await encryptToken(kernel, tx, source, { token_no: token_no + 1, text })
      const refresh_after_s = lifetime_s * REFRESH_SHARE * jitter
      return updateToken(tx, source, { lease_id, token_no, token, lifetime_s, refresh_after_s })
    })
    return stored === 1 ? { text, token_no: token_no + 1 } : undefined
  } catch (error) {
    await transact((tx) => shortenTokenLease(tx, source, lease_id))
    throw error
  }
}

/** For a token that the provider refused: the next call fetches another, once. */
export const discardToken = (transact: Transact, credential: CredentialId, token_no: number): Promise<number> =>
  transact((tx) => removeToken(tx, credential, token_no))
