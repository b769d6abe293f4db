/**
 * Integrity keys: keys of stored authentication codes, hashes and signatures. Each is a row, wrapped by a master key, so that
 * the master key can be replaced without invalidating anything. The first ones are derived from the master key files, as all
 * were before there were rows; where the master key is behind a command, they are random.
 */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { type Cache, declareCache } from '../cache/caches.ts'
import { unrestrictedScope } from '../database/scope.ts'
import type { Scope, Transactions, Tx } from '../database/tx.ts'
import { MasterKeyMissing } from '../encryption/failures.ts'
import { DecryptionFailed, type FileKeyring, type Keyring, type KeyWrapper } from '../encryption/keyring.ts'
import { SYSTEM_TENANT } from '../uuid.ts'
import { type IntegrityKeyRow, insertIntegrityKeys, listIntegrityKeys, type NewIntegrityKey } from './queries.ts'

/** One key for all tenants. The names are part of the derivation of the first keys and never change. */
export const systemPurposes = [
  'audit-checkpoint',
  'audit-event',
  'cursor',
  'evaluation-record',
  'idempotency-fingerprint',
] as const
export type SystemPurpose = (typeof systemPurposes)[number]

/** A key of its own for each tenant. */
export const tenantPurposes = ['dataset-hash'] as const
export type TenantPurpose = (typeof tenantPurposes)[number]

export interface IntegrityKeys {
  /** Computes new codes. */
  current(purpose: SystemPurpose): Buffer
  /** Newest first, to verify codes of any of them. */
  all(purpose: SystemPurpose): readonly Buffer[]
  /** The same, prepared for computing message authentication codes. */
  macKeys(purpose: SystemPurpose): readonly KeyObject[]
  tenantKey(tenant_id: string, purpose: TenantPurpose): Promise<Buffer>
}

export class IntegrityKeyUnavailable extends Error {
  override readonly name = 'IntegrityKeyUnavailable'
}

const SCOPE: Scope = unrestrictedScope(SYSTEM_TENANT, 'operator:keys')
export const toWrapContext = ({
  tenant_id,
  purpose,
  key_no,
}: Omit<NewIntegrityKey, 'wrapped' | 'wrapped_by'>): string => `${tenant_id}/integrity-key:${purpose}:${key_no}`

const toDerivationPurpose = (tenant_id: string, purpose: TenantPurpose): string => `${purpose}:${tenant_id}`

/** Derived from the master keys, without a database. */
export const deriveIntegrityKeys = (keyring: FileKeyring): IntegrityKeys => ({
  current: (purpose) => keyring.derive(purpose),
  all: (purpose) => keyring.deriveEach(purpose),
  macKeys: (purpose) => keyring.deriveEach(purpose).map((key) => createSecretKey(key)),
  tenantKey: async (tenant_id, purpose) => keyring.derive(toDerivationPurpose(tenant_id, purpose)),
})

/** Reads the rows once; nothing else is awaited inside a transaction. */
export async function loadIntegrityKeys(
  transactions: Pick<Transactions, 'one' | 'write'>,
  keyring: Keyring,
): Promise<IntegrityKeys> {
  const rows = await transactions.one(SCOPE, (tx) => listIntegrityKeys(tx, SYSTEM_TENANT))
  const unwrapped = await Promise.all(
    systemPurposes.map(async (purpose) => [purpose, await unwrapAll(keyring, rows, purpose)] as const),
  )
  const keys = new Map<string, readonly Buffer[]>(unwrapped)
  const macKeys = new Map([...keys].map(([purpose, each]) => [purpose, each.map((key) => createSecretKey(key))]))
  const all = (purpose: SystemPurpose) => keys.get(purpose) as readonly Buffer[]
  return {
    all,
    macKeys: (purpose) => macKeys.get(purpose) as readonly KeyObject[],
    current: (purpose) => all(purpose)[0] as Buffer,
    tenantKey: async (tenant_id, purpose) => {
      const scope = unrestrictedScope(tenant_id, SCOPE.actor)
      const read = () => transactions.one(scope, (tx) => listIntegrityKeys(tx, tenant_id))
      let stored = await read()
      if (!stored.some((row) => row.purpose === purpose)) {
        // A process of the previous release created the tenant: it derives this same key.
        const made = await createTenantKeys(keyring, tenant_id)
        await transactions.write(scope, (tx) => insertIntegrityKeys(tx, made))
        stored = await read()
      }
      return (await unwrapAll(keyring, stored, purpose))[0] as Buffer
    },
  }
}

/** How long the key of a tenant is used without asking the master key again. */
const CACHE_TTL_MS = 3_600_000

export const integrityKeyCache = declareCache<Buffer>({
  name: 'tenant_integrity_keys',
  summary: 'Integrity keys of tenants, unwrapped, for an hour.',
  bound: { max_entries: 10_000 },
})

export const cacheTenantKeys = (keys: IntegrityKeys, cache: Cache<Buffer>): IntegrityKeys => ({
  ...keys,
  tenantKey: async (tenant_id, purpose) => {
    const name = `${tenant_id}/${purpose}`
    const cached = cache.get(name)
    if (cached) return cached
    const key = await keys.tenantKey(tenant_id, purpose)
    cache.set(name, key, { ttl_ms: CACHE_TTL_MS })
    return key
  },
})

/**
 * The newest must be decryptable, since it computes new codes; of the earlier ones, those whose wrapping key is available are
 * used.
 */
async function unwrapAll(wrapper: KeyWrapper, rows: readonly IntegrityKeyRow[], purpose: string): Promise<Buffer[]> {
  const ofPurpose = rows.filter((row) => row.purpose === purpose)
  const [newest] = ofPurpose
  if (!newest)
    throw new IntegrityKeyUnavailable(`There is no integrity key for ${purpose} yet. Run "npx probity seed".`)
  const used = ofPurpose.filter((row) => row === newest || row.state === 'trusted')
  const keys = await Promise.all(used.map((row) => tryUnwrap(wrapper, row)))
  const [first] = keys
  if (first instanceof DecryptionFailed) throw new IntegrityKeyUnavailable(describeFailure(newest, first))
  return keys.filter((key) => Buffer.isBuffer(key))
}

function describeFailure({ purpose, wrapped_by }: IntegrityKeyRow, failure: DecryptionFailed): string {
  const renewal =
    'If it is lost for good, "npx probity keys renew" makes new integrity keys; what the lost ones have made can then no ' +
    'longer be verified.'
  if (failure instanceof MasterKeyMissing) {
    return (
      `The integrity key for ${purpose} was encrypted with the master key ${wrapped_by}, which is not there. Add its ` +
      `file to PROBITY_MASTER_KEY_FILE, or its name to PROBITY_KEY_COMMAND_ID. ${renewal}`
    )
  }
  return (
    `The integrity key for ${purpose} is damaged in the database, or the master key ${wrapped_by} is not the one that has ` +
    `encrypted it: ${failure.reason}. Restore the row of app.integrity_key from a backup. ${renewal}`
  )
}

/** The key, or why it cannot be decrypted. */
async function tryUnwrap(wrapper: KeyWrapper, row: IntegrityKeyRow): Promise<Buffer | DecryptionFailed> {
  try {
    return await wrapper.unwrap(row.wrapped, toWrapContext(row))
  } catch (error) {
    // A key command that does not answer says nothing about the key.
    if (!(error instanceof DecryptionFailed)) throw error
    return error
  }
}

async function wrapped(
  wrapper: KeyWrapper,
  row: Omit<NewIntegrityKey, 'wrapped' | 'wrapped_by'>,
  key: Buffer,
): Promise<NewIntegrityKey> {
  return { ...row, wrapped: await wrapper.wrap(key, toWrapContext(row)), wrapped_by: wrapper.key_id }
}

/** The first keys of the system, derived from every master key, the oldest, which is last, as number 1. */
async function createSystemKeys(keyring: Keyring, purposes: readonly SystemPurpose[]): Promise<NewIntegrityKey[]> {
  const rows: NewIntegrityKey[] = []
  for (const purpose of purposes) {
    const derived = keyring.deriveEach(purpose).toReversed()
    for (const [index, key] of (derived.length > 0 ? derived : [randomBytes(32)]).entries()) {
      rows.push(await wrapped(keyring, { tenant_id: SYSTEM_TENANT, purpose, key_no: index + 1 }, key))
    }
  }
  return rows
}

/** The first keys of a tenant, derived from the master key. */
export async function createTenantKeys(keyring: Keyring, tenant_id: string): Promise<NewIntegrityKey[]> {
  return Promise.all(
    tenantPurposes.map((purpose) => {
      const [derived] = keyring.deriveEach(toDerivationPurpose(tenant_id, purpose))
      return wrapped(keyring, { tenant_id, purpose, key_no: 1 }, derived ?? randomBytes(32))
    }),
  )
}

/**
 * Creates missing rows from the current master keys. Any number of processes may do this concurrently. The system's own tenant
 * key is written last: if it exists, every older tenant has its own.
 */
export async function ensureIntegrityKeys(
  steward: Pick<Transactions, 'write'>,
  keyring: Keyring,
  listTenantIds: (tx: Tx) => Promise<readonly string[]>,
): Promise<void> {
  const { rows, tenants } = await steward.write(SCOPE, async (tx) => {
    const found = await listIntegrityKeys(tx, SYSTEM_TENANT)
    const isDone = tenantPurposes.every((purpose) => found.some((row) => row.purpose === purpose))
    return { rows: found, tenants: isDone ? [] : [...(await listTenantIds(tx)), SYSTEM_TENANT] }
  })
  const missing = systemPurposes.filter((purpose) => !rows.some((row) => row.purpose === purpose))
  if (missing.length > 0) {
    const made = await createSystemKeys(keyring, missing)
    await steward.write(SCOPE, (tx) => insertIntegrityKeys(tx, made))
  }
  for (const tenant_id of tenants) {
    const made = await createTenantKeys(keyring, tenant_id)
    await steward.write(unrestrictedScope(tenant_id, SCOPE.actor), (tx) => insertIntegrityKeys(tx, made))
  }
}

/**
 * New random keys in addition to the existing ones. `lost`: only where the newest cannot be decrypted. `all`: also where it can,
 * except for tenants, since another key would change every hashed member of their lists.
 */
export async function createRenewedKeys(
  keyring: Keyring,
  rows: readonly IntegrityKeyRow[],
  which: 'lost' | 'all',
): Promise<NewIntegrityKey[]> {
  const newest = rows.filter((row, index) => rows.findIndex(({ purpose }) => purpose === row.purpose) === index)
  const renewed: NewIntegrityKey[] = []
  for (const row of newest) {
    const isRenewed = which === 'all' && (systemPurposes as readonly string[]).includes(row.purpose)
    if (!isRenewed && Buffer.isBuffer(await tryUnwrap(keyring, row))) continue
    const { tenant_id, purpose, key_no } = row
    renewed.push(await wrapped(keyring, { tenant_id, purpose, key_no: key_no + 1 }, randomBytes(32)))
  }
  return renewed
}
