/** How credentials and their versions are shown: names, states and times, never values. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { listCredentialMembers } from '#provider/credential-members.ts'
import { getCredentialStatus } from './credential-status.ts'
import { findProvidersInForce } from './provider-manifest.ts'
import { type CredentialRow, type CredentialVersionRow, listCredentialVersions } from './queries.ts'

export async function getCredentialViews(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  credentials: readonly CredentialRow[],
) {
  if (credentials.length === 0) return []
  const providers = await findProvidersInForce(kernel, tx, [
    ...new Set(credentials.map(({ provider_key }) => provider_key)),
  ])
  const versions = await listCredentialVersions(
    tx,
    credentials.map(({ credential_id }) => credential_id),
  )
  return credentials.map((credential) => {
    const own = versions.filter(({ credential_id }) => credential_id === credential.credential_id)
    const provider = providers.get(credential.provider_key)
    const required = provider ? listCredentialMembers(provider.manifest).map(({ name }) => name) : []
    const findVersion = (state: CredentialVersionRow['state']) => own.find((row) => row.state === state)
    const active = findVersion('active')
    return {
      ...credential,
      gap: getCredentialStatus(credential, own, required).gap,
      active_version: active?.version ?? null,
      active_verified_at: active?.last_verified_at ?? null,
      staged_version: findVersion('staged')?.version ?? null,
    }
  })
}

export function toCredentialVersionView(row: CredentialVersionRow) {
  const { credential_id: _, is_expired: _expired, is_in_overlap: _overlap, ...view } = row
  return view
}
