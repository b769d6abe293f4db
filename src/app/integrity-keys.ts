/** The integrity keys of an installation: created at the first start, re-encrypted or renewed by the operator. */
import { type AuditKeys, createAuditKeys } from '#kernel/audit/chain.ts'
import { signingKeyContext } from '#kernel/auth/built-in-issuer.ts'
import type { Scope, Transactions, Tx } from '#kernel/database/tx.ts'
import type { Keyring } from '#kernel/encryption.ts'
import {
  createFileKeyWrapper,
  createRenewedKeys,
  ensureIntegrityKeys,
  loadIntegrityKeys,
  rewrapKey,
  systemPurposes,
} from '#kernel/integrity/keys.ts'
import {
  distrustEarlierKeys,
  type IntegrityKeyRow,
  insertIntegrityKeys,
  listIntegrityKeys,
  updateWrapping,
} from '#kernel/integrity/queries.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import {
  listSealedSigningKeys,
  listTenants,
  lockSeeding,
  type SealedSigningKey,
  updateSigningKeySeal,
} from './queries.ts'

export interface KeyContext {
  readonly app: Pick<Transactions, 'one' | 'write'>
  readonly steward: Pick<Transactions, 'write'>
  readonly keyring: Keyring
}

const ACTOR = 'operator:cli'
const SYSTEM: Scope = { tenant_id: SYSTEM_TENANT, actor: ACTOR }
const tenantScope = (tenant_id: string): Scope => ({ tenant_id, actor: ACTOR })

const listTenantIds = async (tx: Tx): Promise<string[]> => (await listTenants(tx)).map(({ tenant_id }) => tenant_id)

/** Creates missing keys. With a master key that decrypts nothing of this installation, it would create the wrong ones. */
export async function prepareIntegrityKeys({ steward, keyring }: Omit<KeyContext, 'app'>): Promise<void> {
  const active = (await steward.write(SYSTEM, listSealedSigningKeys)).find(({ state }) => state === 'active')
  if (active && tryOpen(keyring, active) === null) return
  await ensureIntegrityKeys(steward, keyring, listTenantIds)
}

export const loadAuditKeys = async ({ app, keyring }: Omit<KeyContext, 'steward'>): Promise<AuditKeys> =>
  createAuditKeys(await loadIntegrityKeys(app, keyring))

function tryOpen(keyring: Keyring, { kid, sealed_private }: SealedSigningKey): Buffer | null {
  try {
    return keyring.decrypt(sealed_private, signingKeyContext(kid))
  } catch {
    return null
  }
}

/** What is encrypted with one master key. */
export interface MasterKeyUse {
  readonly key_id: string
  readonly integrity_keys: number
  readonly signing_keys: number
}

/** Everything in the database that is encrypted with a master key, by key; backup files are not counted. */
export async function listMasterKeyUses({ steward }: Pick<KeyContext, 'steward'>): Promise<MasterKeyUse[]> {
  const uses = new Map<string, { integrity_keys: number; signing_keys: number }>()
  const add = (key_id: string, kind: 'integrity_keys' | 'signing_keys') => {
    const use = uses.get(key_id) ?? { integrity_keys: 0, signing_keys: 0 }
    uses.set(key_id, { ...use, [kind]: use[kind] + 1 })
  }
  for (const key of await steward.write(SYSTEM, listSealedSigningKeys)) add(getMasterKeyId(key), 'signing_keys')
  for await (const { rows } of iterateAllKeyRows(steward))
    for (const { wrapped_by } of rows) add(wrapped_by, 'integrity_keys')
  return [...uses].map(([key_id, use]) => ({ key_id, ...use })).sort((a, b) => (a.key_id < b.key_id ? -1 : 1))
}

const getMasterKeyId = ({ sealed_private }: SealedSigningKey): string => sealed_private.split('.')[1] as string

/** Of the system first, then of each tenant in its own transaction. */
async function* iterateAllKeyRows(
  steward: KeyContext['steward'],
): AsyncGenerator<{ tenant_id: string; rows: IntegrityKeyRow[] }> {
  const tenants = await steward.write(SYSTEM, listTenantIds)
  for (const tenant_id of [SYSTEM_TENANT, ...tenants]) {
    yield { tenant_id, rows: await steward.write(tenantScope(tenant_id), (tx) => listIntegrityKeys(tx, tenant_id)) }
  }
}

export interface RewrapResult {
  readonly rewrapped: number
  /** What could not be decrypted, since its master key is not available. */
  readonly unopened: number
}

/** Recorded in the transaction that changes the keys of a tenant or of the system. */
export type RecordKeyChange = (tx: Tx, tenant_id: string, detail: Record<string, unknown>) => Promise<void>

/**
 * Encrypts everything again with the first master key. Processes may keep running, since the keys themselves do not change;
 * after an interruption the next run continues.
 */
export async function rewrapAll(
  { steward, keyring }: Omit<KeyContext, 'app'>,
  record: RecordKeyChange,
): Promise<RewrapResult> {
  const wrapper = createFileKeyWrapper(keyring)
  const totals = { rewrapped: 0, unopened: 0 }
  for await (const { tenant_id, rows } of iterateAllKeyRows(steward)) {
    const old = rows.filter(({ wrapped_by }) => wrapped_by !== wrapper.id)
    const again = await Promise.all(old.map(async (row) => ({ row, wrapped: await rewrapKey(wrapper, row) })))
    const signing = tenant_id === SYSTEM_TENANT ? await resealSigningKeys({ steward, keyring }) : []
    const done = await steward.write(tenantScope(tenant_id), async (tx) => {
      let changed = 0
      for (const { row, wrapped } of again) {
        if (wrapped !== null) changed += await updateWrapping(tx, row, wrapped, wrapper.id)
      }
      for (const { key, sealed } of signing) {
        if (sealed !== null) changed += await updateSigningKeySeal(tx, key, sealed)
      }
      if (changed > 0) await record(tx, tenant_id, { keys: changed, master_key: wrapper.id })
      return changed
    })
    totals.rewrapped += done
    totals.unopened += again.filter(({ wrapped }) => wrapped === null).length
    totals.unopened += signing.filter(({ sealed }) => sealed === null).length
  }
  return totals
}

async function resealSigningKeys({ steward, keyring }: Omit<KeyContext, 'app'>) {
  const keys = await steward.write(SYSTEM, listSealedSigningKeys)
  return keys
    .filter(({ sealed_private }) => keyring.needsRewrap(sealed_private))
    .map((key) => {
      const opened = tryOpen(keyring, key)
      return { key, sealed: opened && keyring.encrypt(opened, signingKeyContext(key.kid)) }
    })
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
