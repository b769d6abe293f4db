/** The integrity keys of an installation: created at the first start, renewed by the operator. */
import { type AuditKeys, createAuditKeys } from '#kernel/audit/chain.ts'
import { signingKeyContext } from '#kernel/auth/built-in-issuer.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Scope, Transactions, Tx } from '#kernel/database/tx.ts'
import { DecryptionFailed, type Keyring } from '#kernel/encryption/keyring.ts'
import { createRenewedKeys, ensureIntegrityKeys, loadIntegrityKeys, systemPurposes } from '#kernel/integrity/keys.ts'
import {
  distrustEarlierKeys,
  type IntegrityKeyRow,
  insertIntegrityKeys,
  listIntegrityKeys,
} from '#kernel/integrity/queries.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { listTenants, listWrappedSigningKeys, lockSeeding, type WrappedSigningKey } from './queries.ts'

export interface KeyContext {
  readonly app: Pick<Transactions, 'one' | 'write'>
  readonly steward: Pick<Transactions, 'write'>
  readonly keyring: Keyring
}

const ACTOR = 'operator:cli'
const SYSTEM: Scope = fullScope(SYSTEM_TENANT, ACTOR)
const tenantScope = (tenant_id: string): Scope => fullScope(tenant_id, ACTOR)

const listTenantIds = async (tx: Tx): Promise<string[]> => (await listTenants(tx)).map(({ tenant_id }) => tenant_id)

/** Creates missing keys. With a master key that decrypts nothing of this installation, it would create the wrong ones. */
export async function prepareIntegrityKeys({ steward, keyring }: Omit<KeyContext, 'app'>): Promise<void> {
  const active = (await steward.write(SYSTEM, listWrappedSigningKeys)).find(({ state }) => state === 'active')
  if (active && (await tryOpen(keyring, active)) === null) return
  await ensureIntegrityKeys(steward, keyring, listTenantIds)
}

export const loadAuditKeys = async ({ app, keyring }: Omit<KeyContext, 'steward'>): Promise<AuditKeys> =>
  createAuditKeys(await loadIntegrityKeys(app, keyring))

async function tryOpen(keyring: Keyring, { kid, sealed_private }: WrappedSigningKey): Promise<Buffer | null> {
  try {
    return await keyring.unwrap(sealed_private, signingKeyContext(kid))
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error
    return null
  }
}

/** Of the system first, then of each tenant in its own transaction. */
async function* iterateAllKeyRows(
  steward: KeyContext['steward'],
): AsyncGenerator<{ tenant_id: string; rows: IntegrityKeyRow[] }> {
  const tenants = await steward.write(SYSTEM, listTenantIds)
  for (const tenant_id of [SYSTEM_TENANT, ...tenants]) {
    yield { tenant_id, rows: await steward.write(tenantScope(tenant_id), (tx) => listIntegrityKeys(tx, tenant_id)) }
  }
}

/**
 * Creates new integrity keys in addition to the existing ones; `distrust`: codes of the earlier keys are no longer accepted.
 * Processes read their keys when they start: none may run meanwhile.
 */
export async function renewIntegrityKeys(
  { steward, keyring }: Omit<KeyContext, 'app'>,
  options: { readonly which: 'lost' | 'all'; readonly distrust?: boolean },
): Promise<number> {
  let renewed = 0
  for await (const { tenant_id, rows } of iterateAllKeyRows(steward)) {
    const made = await createRenewedKeys(keyring, rows, options.which)
    if (made.length === 0) continue
    renewed += await steward.write(tenantScope(tenant_id), async (tx) => {
      await lockSeeding(tx)
      const inserted = await insertIntegrityKeys(tx, made)
      if (options.distrust && tenant_id === SYSTEM_TENANT) await distrustEarlierKeys(tx, tenant_id, systemPurposes)
      return inserted
    })
  }
  return renewed
}
