/**
 * Integrity keys: keys of stored authentication codes, hashes and signatures. Each is a row, encrypted by a key wrapper, so that
 * the wrapping key can be replaced without invalidating anything. The first ones are derived from the master key, as all were
 * before there were rows.
 */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Scope, Transactions, Tx } from '../database/tx.ts'
import type { Keyring } from '../encryption.ts'
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

/** Encrypts keys at rest. Asynchronous, so that a key management service can implement it. */
export interface KeyWrapper {
  /** Identifies the current wrapping key. */
  readonly id: string
  wrap(key: Buffer, context: string): Promise<string>
  /** Throws unless text, context and wrapping key are the ones it was wrapped with. */
  unwrap(wrapped: string, context: string): Promise<Buffer>
}

/** Wraps with the first master key file, unwraps with any of them. */
export const createFileKeyWrapper = (keyring: Keyring): KeyWrapper => ({
  id: keyring.key_id,
  wrap: async (key, context) => keyring.encrypt(key, context),
  unwrap: async (wrapped, context) => keyring.decrypt(wrapped, context),
})

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

const SCOPE: Scope = { tenant_id: SYSTEM_TENANT, actor: 'operator:keys' }
const toWrapContext = ({ tenant_id, purpose, key_no }: Omit<NewIntegrityKey, 'wrapped' | 'wrapped_by'>): string =>
  `${tenant_id}/integrity-key:${purpose}:${key_no}`

const toDerivationPurpose = (tenant_id: string, purpose: TenantPurpose): string => `${purpose}:${tenant_id}`

/** Derived from the master keys, without a database. */
export const deriveIntegrityKeys = (keyring: Keyring): IntegrityKeys => ({
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
  const wrapper = createFileKeyWrapper(keyring)
  const rows = await transactions.one(SCOPE, (tx) => listIntegrityKeys(tx, SYSTEM_TENANT))
  const keys = new Map<string, readonly Buffer[]>()
  for (const purpose of systemPurposes) keys.set(purpose, await unwrapAll(wrapper, rows, purpose))
  const macKeys = new Map([...keys].map(([purpose, each]) => [purpose, each.map((key) => createSecretKey(key))]))
  const all = (purpose: SystemPurpose) => keys.get(purpose) as readonly Buffer[]
  return {
    all,
    macKeys: (purpose) => macKeys.get(purpose) as readonly KeyObject[],
    current: (purpose) => all(purpose)[0] as Buffer,
    tenantKey: async (tenant_id, purpose) => {
      const scope = { tenant_id, actor: SCOPE.actor }
      const read = () => transactions.one(scope, (tx) => listIntegrityKeys(tx, tenant_id))
      let stored = await read()
      if (!stored.some((row) => row.purpose === purpose)) {
        // A process of the previous release created the tenant: it derives this same key.
        const made = await createTenantKeys(keyring, tenant_id)
        await transactions.write(scope, (tx) => insertIntegrityKeys(tx, made))
        stored = await read()
      }
      return (await unwrapAll(wrapper, stored, purpose))[0] as Buffer
    },
  }
}

/**
 * The newest must be decryptable, since it computes new codes; of the earlier ones, those whose wrapping key is available are
 * used.
 */
async function unwrapAll(wrapper: KeyWrapper, rows: readonly IntegrityKeyRow[], purpose: string): Promise<Buffer[]> {
  const ofPurpose = rows.filter((row) => row.purpose === purpose)
  const [newest] = ofPurpose
  if (!newest)
    throw new IntegrityKeyUnavailable(`There is no integrity key for ${purpose} yet. Run "npx probity seed".`)
  const opened: Buffer[] = []
  for (const row of ofPurpose) {
    const key = row === newest || row.state === 'trusted' ? await tryUnwrap(wrapper, row) : null
    if (row === newest && key === null) {
      throw new IntegrityKeyUnavailable(
        `The integrity key for ${purpose} was encrypted with the master key ${row.wrapped_by}, which is not there. Add its ` +
          'file to PROBITY_MASTER_KEY_FILE. If it is lost for good, "npx probity keys renew" makes new integrity keys; what ' +
          'the lost ones have made can then no longer be verified.',
      )
    }
    if (key) opened.push(key)
  }
  return opened
}

async function tryUnwrap(wrapper: KeyWrapper, row: IntegrityKeyRow): Promise<Buffer | null> {
  try {
    return await wrapper.unwrap(row.wrapped, toWrapContext(row))
  } catch {
    return null
  }
}

async function wrapped(
  wrapper: KeyWrapper,
  row: Omit<NewIntegrityKey, 'wrapped' | 'wrapped_by'>,
  key: Buffer,
): Promise<NewIntegrityKey> {
  return { ...row, wrapped: await wrapper.wrap(key, toWrapContext(row)), wrapped_by: wrapper.id }
}

/** The same key, encrypted by the wrapper's current key; null where its wrapping key is not available. */
export async function rewrapKey(wrapper: KeyWrapper, row: IntegrityKeyRow): Promise<string | null> {
  const key = await tryUnwrap(wrapper, row)
  return key && (await wrapper.wrap(key, toWrapContext(row)))
}

/** The first keys of the system, derived from every master key, the oldest, which is last, as number 1. */
async function createSystemKeys(keyring: Keyring, purposes: readonly SystemPurpose[]): Promise<NewIntegrityKey[]> {
  const wrapper = createFileKeyWrapper(keyring)
  const rows: NewIntegrityKey[] = []
  for (const purpose of purposes) {
    for (const [index, key] of keyring.deriveEach(purpose).toReversed().entries()) {
      rows.push(await wrapped(wrapper, { tenant_id: SYSTEM_TENANT, purpose, key_no: index + 1 }, key))
    }
  }
  return rows
}

/** The first keys of a tenant, derived from the master key. */
export async function createTenantKeys(keyring: Keyring, tenant_id: string): Promise<NewIntegrityKey[]> {
  const wrapper = createFileKeyWrapper(keyring)
  return Promise.all(
    tenantPurposes.map((purpose) =>
      wrapped(wrapper, { tenant_id, purpose, key_no: 1 }, keyring.derive(toDerivationPurpose(tenant_id, purpose))),
    ),
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
    await steward.write({ tenant_id, actor: SCOPE.actor }, (tx) => insertIntegrityKeys(tx, made))
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
  const wrapper = createFileKeyWrapper(keyring)
  const newest = rows.filter((row, index) => rows.findIndex(({ purpose }) => purpose === row.purpose) === index)
  const renewed: NewIntegrityKey[] = []
  for (const row of newest) {
    const isRenewed = which === 'all' && (systemPurposes as readonly string[]).includes(row.purpose)
    if (!isRenewed && (await tryUnwrap(wrapper, row)) !== null) continue
    const { tenant_id, purpose, key_no } = row
    renewed.push(await wrapped(wrapper, { tenant_id, purpose, key_no: key_no + 1 }, randomBytes(32)))
  }
  return renewed
}
