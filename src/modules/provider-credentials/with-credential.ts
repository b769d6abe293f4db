/**
 * The only place where secrets of credentials and access tokens are decrypted. Opening a secret and recording who opened it are
 * one transaction; the values are overwritten when the use is over.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { decodeMembers, encodeMembers, type SecretMembers } from './member-encoding.ts'
import { deferAccess, findSecret, type NewAccess, type TokenRow } from './queries.ts'

type EncryptionKernel = Capabilities<'encryption'>

/** Opens one write transaction of the tenant. */
export type Transact = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

export interface CredentialId {
  readonly credential_id: string
  readonly version: number
}

/** The version was destroyed, or can no longer be used, since it was chosen. */
export class CredentialGone extends Error {}

const toOwner = ({ credential_id }: CredentialId) => ({ kind: 'object' as const, id: credential_id })

const toSecretLocation = ({ credential_id, version }: CredentialId) => ({
  table: 'provider_credential_version',
  row_id: `${credential_id}:${version}`,
  column: 'secret',
})

const toTokenLocation = ({ credential_id, version }: CredentialId, token_no: number) => ({
  table: 'credential_token',
  row_id: `${credential_id}:${version}:${token_no}`,
  column: 'token',
})

/** The encrypted values and their fingerprint, for a new version. */
export async function encryptSecret(
  kernel: EncryptionKernel,
  tx: Tx,
  credential: CredentialId,
  members: Readonly<Record<string, string>>,
): Promise<{ secret: Buffer; fingerprint: string }> {
  const plaintext = encodeMembers(members)
  try {
    const secret = await kernel.encryption.encrypt(tx, toOwner(credential), toSecretLocation(credential), plaintext)
    const fingerprint = await kernel.encryption.fingerprint(tx, 'provider-credential', plaintext)
    return { secret, fingerprint: fingerprint.slice(0, 8) }
  } finally {
    plaintext.fill(0)
  }
}

export interface CredentialUse<M> extends CredentialId, Pick<NewAccess, 'purpose' | 'call_id'> {
  /** A person tries the version: it may be staged, rejected or expired, and its credential disabled. */
  readonly is_verification: boolean
  /** Written in the transaction that opens the secret, for example that a request is about to be sent. */
  readonly mark: (tx: Tx) => Promise<M>
}

/**
 * Runs `body` with the values of a credential. The access is recorded together with `mark`, and committed before `body` runs; no
 * transaction is open meanwhile.
 */
export async function withCredential<M, T>(
  kernel: EncryptionKernel,
  transact: Transact,
  use: CredentialUse<M>,
  body: (members: SecretMembers, marked: M) => Promise<T>,
): Promise<T> {
  const { plaintext, marked } = await transact(async (tx) => {
    const stored = await findSecret(tx, use)
    if (!stored) throw new CredentialGone()
    const plaintext = await kernel.encryption.decrypt(tx, toOwner(use), toSecretLocation(use), stored.secret)
    const { credential_id, version, purpose, call_id } = use
    deferAccess(tx, { access_id: uuidv7(), credential_id, version, purpose, call_id })
    return { plaintext, marked: await use.mark(tx) }
  })
  try {
    return await body(decodeMembers(plaintext), marked)
  } finally {
    plaintext.fill(0)
  }
}

export const encryptToken = (
  kernel: EncryptionKernel,
  tx: Tx,
  credential: CredentialId,
  token: { readonly token_no: number; readonly text: string },
): Promise<Buffer> =>
  kernel.encryption.encrypt(
    tx,
    toOwner(credential),
    toTokenLocation(credential, token.token_no),
    Buffer.from(token.text),
  )

export async function openToken(
  kernel: EncryptionKernel,
  tx: Tx,
  credential: CredentialId,
  { token, token_no }: Pick<TokenRow, 'token' | 'token_no'>,
): Promise<string> {
  const location = toTokenLocation(credential, token_no)
  return (await kernel.encryption.decrypt(tx, toOwner(credential), location, token as Buffer)).toString('utf8')
}
