/** One row in each table of provider credentials, for the canary tenant and the isolation tests. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  claimTokenLease,
  deferAccess,
  insertCredential,
  insertCredentialVersion,
  upsertProviderSetting,
} from './queries.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const credential = { credential_id: uuidv7(), version: 1 }
  const { credential_id } = credential
  const provider_key = `canary-${credential_id.slice(-12)}`
  await insertCredential(tx, { credential_id, provider_key, label: 'canary', environment: 'test' })
  await insertCredentialVersion(tx, {
    ...credential,
    members: ['canary'],
    secret: Buffer.from('canary'),
    fingerprint: '00000000',
    expires_at: null,
  })
  deferAccess(tx, { access_id: uuidv7(), ...credential, purpose: 'verify', call_id: null })
  await claimTokenLease(tx, credential, { lease_id: uuidv7(), lease_s: 1, token_no: 0 })
  await upsertProviderSetting(tx, { provider_key, mode: 'fixtures', environment: 'test', reason: 'canary' })
}
