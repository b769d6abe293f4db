/**
 * Encrypts values under the key of their owner: master key, tenant key, owner key, value. An owner key is a row, wrapped by the
 * tenant key; it is read in the transaction of its value, so a key that was destroyed is never used from memory.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import type { RaiseAlarm } from '../alarm.ts'
import { NeedsPrecompute } from '../database/precompute.ts'
import { scopeOfTransaction } from '../database/scope.ts'
import type { Transactions, Tx } from '../database/tx.ts'
import { decryptBytes, encryptBytes, KEY_BYTES } from './aes-gcm.ts'
import { DecryptionFailed, OwnerKeyDestroyed } from './failures.ts'
import {
  findEncryptionKeys,
  findOwnerKey,
  insertDestroyedKey,
  insertOwnerKey,
  insertOwnerKeys,
  listEncryptionKeys,
  type NewOwnerKey,
  type OwnerKeyRow,
  type OwnerKind,
  type OwnerName,
  type StoredOwnerKey,
  type StoredTenantKey,
  updateOwnerKeysDestroyed,
} from './queries.ts'
import type { TenantKeys } from './tenant-keys.ts'
import { decryptValue, encryptValue, readKeyNumber, type ValueLocation } from './value-format.ts'

export type { ValueLocation } from './value-format.ts'

/** Whose key encrypts a value: a subject, or the object itself where it concerns no subject. */
export interface KeyOwner {
  readonly kind: 'subject' | 'object'
  /** A UUID. */
  readonly id: string
}

export interface PlainValue {
  readonly owner: KeyOwner
  readonly at: ValueLocation
  readonly plaintext: Buffer
}

export interface EncryptedValue {
  readonly owner: KeyOwner
  readonly at: ValueLocation
  readonly stored: Buffer
}

export interface ValueEncryption {
  /** Creates the owner's key where there is none. Throws NeedsPrecompute while the tenant key is not in memory. */
  encrypt(tx: Tx, owner: KeyOwner, at: ValueLocation, plaintext: Buffer): Promise<Buffer>
  /** Throws DecryptionFailed unless tenant, owner, location and bytes are the ones of the encryption. */
  decrypt(tx: Tx, owner: KeyOwner, at: ValueLocation, stored: Buffer): Promise<Buffer>
  /** Reads the keys of all owners in one statement. Null for a value whose owner's key was destroyed. */
  encryptAll(tx: Tx, values: readonly PlainValue[]): Promise<(Buffer | null)[]>
  /** Reads the keys of all owners in one statement. Null for a value whose owner's key was destroyed; a failure for one that was altered. */
  decryptAll(tx: Tx, values: readonly EncryptedValue[]): Promise<(Buffer | DecryptionFailed | null)[]>
  /**
   * Makes everything that is encrypted for the owner unreadable for good, and refuses to encrypt anything else for it, also where it
   * had no key. Returns how many keys were destroyed. The caller checks holds and records the erasure.
   */
  destroyOwner(tx: Tx, owner: KeyOwner): Promise<number>
  /** A keyed hash, in hexadecimal digits: equal inputs are visible inside one tenant and for one purpose only. */
  fingerprint(tx: Tx, purpose: string, plaintext: Buffer): Promise<string>
  /** Many of them, with one statement. */
  fingerprintAll(tx: Tx, purpose: string, plaintexts: readonly Buffer[]): Promise<string[]>
}

export interface ValueEncryptionOptions {
  readonly tenantKeys: TenantKeys
  readonly transactions: Pick<Transactions, 'write'>
  readonly raiseAlarm: RaiseAlarm
}

interface OpenOwnerKey {
  readonly tenant_id: string
  readonly key_no: number
  readonly key: Buffer
}

type OwnerKeyPlace = Pick<NewOwnerKey, 'owner_kind' | 'owner_id' | 'key_no' | 'tenant_key_no'> & {
  readonly tenant_id: string
}

const toWrapAad = ({ tenant_id, owner_kind, owner_id, key_no, tenant_key_no }: OwnerKeyPlace): Buffer =>
  Buffer.from(`owner-key|${tenant_id}|${owner_kind}|${owner_id}|${key_no}|${tenant_key_no}`)

export const wrapOwnerKey = (tenantKey: Buffer | KeyObject, place: OwnerKeyPlace, key: Buffer): Buffer =>
  encryptBytes(tenantKey, key, toWrapAad(place))

export const unwrapOwnerKey = (tenantKey: Buffer | KeyObject, row: OwnerKeyPlace & { wrapped: Buffer }): Buffer =>
  decryptBytes(tenantKey, row.wrapped, toWrapAad(row))

/** A random key of an owner, wrapped by the tenant key. */
export function createOwnerKey(
  tenantKey: { readonly key_no: number; readonly key: Buffer | KeyObject },
  owner: { readonly tenant_id: string; readonly kind: OwnerKind; readonly id: string; readonly key_no?: number },
): NewOwnerKey & { readonly key: Buffer } {
  const key = randomBytes(KEY_BYTES)
  const place: OwnerKeyPlace = {
    tenant_id: owner.tenant_id,
    owner_kind: owner.kind,
    owner_id: owner.id,
    key_no: owner.key_no ?? 1,
    tenant_key_no: tenantKey.key_no,
  }
  return { ...place, wrapped: wrapOwnerKey(tenantKey.key, place, key), key }
}

const TENANT_KEY_REFERENCE = 'owner_key_tenant_key_fk'

/** A rotation destroyed the tenant key since this transaction read it: the next attempt finds the new one. */
function retryAfterRotation(error: unknown): never {
  if ((error as { constraint?: string } | null)?.constraint !== TENANT_KEY_REFERENCE) throw error
  throw new NeedsPrecompute(async () => {})
}

const toName = ({ kind, id }: OwnerName): string => `${kind}/${id}`

const distinctOwners = (values: readonly { readonly owner: KeyOwner }[]): OwnerName[] => [
  ...new Map(values.map(({ owner }) => [toName(owner), owner])).values(),
]

const hashWith = (key: Buffer, plaintext: Buffer): string => createHmac('sha256', key).update(plaintext).digest('hex')

const isUsable = (row: StoredOwnerKey): row is OwnerKeyRow => row.state !== 'destroyed'

export function createValueEncryption(options: ValueEncryptionOptions): ValueEncryption {
  const { tenantKeys, transactions, raiseAlarm } = options

  const openOwnerKey = (owner_key: OwnerKeyRow, tenant_keys: readonly StoredTenantKey[]): Buffer => {
    const tenant_key = tenant_keys.find(({ key_no }) => key_no === owner_key.tenant_key_no)
    if (!tenant_key || tenant_key.state === 'destroyed') throw new DecryptionFailed('its tenant key is destroyed')
    return unwrapOwnerKey(tenantKeys.get(tenant_key), owner_key)
  }

  /** The newest key of the owner; a new one where there is none, or where the newest is lost. */
  const ensureOwnerKey = async (tx: Tx, owner: OwnerName): Promise<OpenOwnerKey> => {
    const { tenant_id } = tx
    const { tenant_keys, owner_key } = await findEncryptionKeys(tx, owner.kind, owner.id)
    if (owner_key && !isUsable(owner_key)) throw new OwnerKeyDestroyed()
    if (owner_key?.state === 'active') {
      return { tenant_id, key_no: owner_key.key_no, key: openOwnerKey(owner_key, tenant_keys) }
    }
    const active = tenantKeys.getActive(tx, tenant_keys)
    const made = createOwnerKey(active, { ...owner, tenant_id, key_no: (owner_key?.key_no ?? 0) + 1 })
    const inserted = await insertOwnerKey(tx, made).catch(retryAfterRotation)
    // Another transaction was first, and has committed: its key is found now.
    return inserted === 1 ? { tenant_id, key_no: made.key_no, key: made.key } : ensureOwnerKey(tx, owner)
  }

  const findKey = async (tx: Tx, owner: OwnerName, key_no: number): Promise<OpenOwnerKey> => {
    const found = await findOwnerKey(tx, owner.kind, owner.id, key_no)
    if (!found) throw new DecryptionFailed('its owner has no such key')
    const { owner_key, tenant_key } = found
    if (!isUsable(owner_key)) throw new OwnerKeyDestroyed()
    if (!tenant_key) throw new DecryptionFailed('its tenant key is not there')
    return { tenant_id: tx.tenant_id, key_no, key: unwrapOwnerKey(tenantKeys.get(tenant_key), owner_key) }
  }

  /** The keys of several owners, by name and number, and which owners have none left. */
  const openOwnerKeys = async (tx: Tx, owners: readonly OwnerName[]) => {
    const { tenant_id } = tx
    const { tenant_keys, owner_keys } = await listEncryptionKeys(tx, owners)
    const newest = new Map<string, StoredOwnerKey>()
    const rows = new Map<string, StoredOwnerKey>()
    for (const row of owner_keys) {
      const name = toName(row)
      rows.set(`${name}/${row.key_no}`, row)
      if ((newest.get(name)?.key_no ?? 0) < row.key_no) newest.set(name, row)
    }
    const opened = new Map<string, OpenOwnerKey>()
    const open = (owner: OwnerName, key_no: number): OpenOwnerKey | null => {
      const name = `${toName(owner)}/${key_no}`
      const known = opened.get(name)
      if (known) return known
      const row = rows.get(name)
      if (!row) throw new DecryptionFailed('its owner has no such key')
      if (!isUsable(row)) return null
      const key = { tenant_id, key_no, key: openOwnerKey(row, tenant_keys) }
      opened.set(name, key)
      return key
    }
    return { tenant_keys, newest, open }
  }

  /** Creates the keys of owners that have none; owners whose key was destroyed are left out. */
  const ensureOwnerKeys = async (tx: Tx, owners: readonly OwnerName[]): Promise<Map<string, OpenOwnerKey>> => {
    const { tenant_id } = tx
    const { tenant_keys, newest, open } = await openOwnerKeys(tx, owners)
    const keys = new Map<string, OpenOwnerKey>()
    const missing: OwnerName[] = []
    for (const owner of owners) {
      const row = newest.get(toName(owner))
      if (row?.state === 'destroyed') continue
      const key = row?.state === 'active' ? open(owner, row.key_no) : null
      if (key) keys.set(toName(owner), key)
      else missing.push(owner)
    }
    if (missing.length === 0) return keys
    const active = tenantKeys.getActive(tx, tenant_keys)
    // In a fixed order, so that two transactions do not deadlock.
    const made = missing
      .toSorted((a, b) => (toName(a) < toName(b) ? -1 : 1))
      .map((owner) =>
        createOwnerKey(active, { ...owner, tenant_id, key_no: (newest.get(toName(owner))?.key_no ?? 0) + 1 }),
      )
    const inserted = await insertOwnerKeys(tx, made).catch(retryAfterRotation)
    // Another transaction was first for some of them, and has committed: its keys are found now.
    if (inserted !== made.length) return ensureOwnerKeys(tx, owners)
    for (const { owner_kind, owner_id, key_no, key } of made)
      keys.set(toName({ kind: owner_kind, id: owner_id }), { tenant_id, key_no, key })
    return keys
  }

  const raiseDecryptionAlarm = (tx: Tx, { table, row_id, column }: ValueLocation, err: DecryptionFailed): void => {
    const facts = { tenant_id: tx.tenant_id, table, row_id, column, err }
    raiseAlarm('decryption_failed', facts, 'failed to decrypt a stored value')
  }

  /** The key of the tenant's keyed hashes for one purpose. */
  const findHashKey = async (tx: Tx, purpose: string): Promise<Buffer> => {
    if (purpose === '') throw new TypeError('A fingerprint needs a purpose')
    const owner: OwnerName = { kind: 'tenant', id: tx.tenant_id }
    const { owner_key, tenant_keys } = await findEncryptionKeys(tx, owner.kind, owner.id)
    // In a transaction of its own: also where the caller only reads, and kept when the caller is rolled back.
    if (owner_key?.state !== 'active') {
      throw new NeedsPrecompute(() => transactions.write(scopeOfTransaction(tx), (own) => ensureOwnerKey(own, owner)))
    }
    const key = openOwnerKey(owner_key, tenant_keys)
    return Buffer.from(hkdfSync('sha256', createSecretKey(key), Buffer.alloc(0), `fingerprint/${purpose}`, KEY_BYTES))
  }

  return {
    encrypt: async (tx, owner, at, plaintext) => encryptValue(await ensureOwnerKey(tx, owner), at, plaintext),

    decrypt: async (tx, owner, at, stored) => {
      try {
        return decryptValue(await findKey(tx, owner, readKeyNumber(stored)), at, stored)
      } catch (error) {
        if (error instanceof DecryptionFailed) raiseDecryptionAlarm(tx, at, error)
        throw error
      }
    },

    encryptAll: async (tx, values) => {
      if (values.length === 0) return []
      const keys = await ensureOwnerKeys(tx, distinctOwners(values))
      return values.map(({ owner, at, plaintext }) => {
        const key = keys.get(toName(owner))
        return key ? encryptValue(key, at, plaintext) : null
      })
    },

    decryptAll: async (tx, values) => {
      if (values.length === 0) return []
      const { open } = await openOwnerKeys(tx, distinctOwners(values))
      return values.map(({ owner, at, stored }) => {
        try {
          const key = open(owner, readKeyNumber(stored))
          return key && decryptValue(key, at, stored)
        } catch (error) {
          if (!(error instanceof DecryptionFailed)) throw error
          raiseDecryptionAlarm(tx, at, error)
          return error
        }
      })
    },

    destroyOwner: async (tx, owner) => {
      const destroyed = await updateOwnerKeysDestroyed(tx, owner)
      if (destroyed > 0 || (await insertDestroyedKey(tx, owner)) > 0) return destroyed
      // Either it was destroyed before, or another transaction has just made a key and committed it.
      return updateOwnerKeysDestroyed(tx, owner)
    },

    fingerprint: async (tx, purpose, plaintext) => hashWith(await findHashKey(tx, purpose), plaintext),

    fingerprintAll: async (tx, purpose, plaintexts) => {
      if (plaintexts.length === 0) return []
      const key = await findHashKey(tx, purpose)
      return plaintexts.map((plaintext) => hashWith(key, plaintext))
    },
  }
}
