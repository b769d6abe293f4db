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
  insertOwnerKey,
  type NewOwnerKey,
  type OwnerKeyRow,
  type OwnerKind,
  type StoredOwnerKey,
  type StoredTenantKey,
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

export interface ValueEncryption {
  /** Creates the owner's key where there is none. Throws NeedsPrecompute while the tenant key is not in memory. */
  encrypt(tx: Tx, owner: KeyOwner, at: ValueLocation, plaintext: Buffer): Promise<Buffer>
  /** Throws DecryptionFailed unless tenant, owner, location and bytes are the ones of the encryption. */
  decrypt(tx: Tx, owner: KeyOwner, at: ValueLocation, stored: Buffer): Promise<Buffer>
  /** A keyed hash, in hexadecimal digits: equal inputs are visible inside one tenant and for one purpose only. */
  fingerprint(tx: Tx, purpose: string, plaintext: Buffer): Promise<string>
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

interface AnyOwner {
  readonly kind: OwnerKind
  readonly id: string
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

const isUsable = (row: StoredOwnerKey): row is OwnerKeyRow => row.state !== 'destroyed'

export function createValueEncryption(options: ValueEncryptionOptions): ValueEncryption {
  const { tenantKeys, transactions, raiseAlarm } = options

  const openOwnerKey = (owner_key: OwnerKeyRow, tenant_keys: readonly StoredTenantKey[]): Buffer => {
    const tenant_key = tenant_keys.find(({ key_no }) => key_no === owner_key.tenant_key_no)
    if (!tenant_key || tenant_key.state === 'destroyed') throw new DecryptionFailed('its tenant key is destroyed')
    return unwrapOwnerKey(tenantKeys.get(tenant_key), owner_key)
  }

  /** The newest key of the owner; a new one where there is none, or where the newest is lost. */
  const ensureOwnerKey = async (tx: Tx, owner: AnyOwner): Promise<OpenOwnerKey> => {
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

  const findKey = async (tx: Tx, owner: AnyOwner, key_no: number): Promise<OpenOwnerKey> => {
    const found = await findOwnerKey(tx, owner.kind, owner.id, key_no)
    if (!found) throw new DecryptionFailed('its owner has no such key')
    const { owner_key, tenant_key } = found
    if (!isUsable(owner_key)) throw new OwnerKeyDestroyed()
    if (!tenant_key) throw new DecryptionFailed('its tenant key is not there')
    return { tenant_id: tx.tenant_id, key_no, key: unwrapOwnerKey(tenantKeys.get(tenant_key), owner_key) }
  }

  return {
    encrypt: async (tx, owner, at, plaintext) => encryptValue(await ensureOwnerKey(tx, owner), at, plaintext),

    decrypt: async (tx, owner, at, stored) => {
      try {
        return decryptValue(await findKey(tx, owner, readKeyNumber(stored)), at, stored)
      } catch (error) {
        if (error instanceof DecryptionFailed) {
          const { table, row_id, column } = at
          const facts = { tenant_id: tx.tenant_id, table, row_id, column, err: error }
          raiseAlarm('decryption_failed', facts, 'failed to decrypt a stored value')
        }
        throw error
      }
    },

    fingerprint: async (tx, purpose, plaintext) => {
      if (purpose === '') throw new TypeError('A fingerprint needs a purpose')
      const owner: AnyOwner = { kind: 'tenant', id: tx.tenant_id }
      const { owner_key, tenant_keys } = await findEncryptionKeys(tx, owner.kind, owner.id)
      // In a transaction of its own: also where the caller only reads, and kept when the caller is rolled back.
      if (owner_key?.state !== 'active') {
        throw new NeedsPrecompute(() => transactions.write(scopeOfTransaction(tx), (own) => ensureOwnerKey(own, owner)))
      }
      const key = openOwnerKey(owner_key, tenant_keys)
      const hashKey = hkdfSync('sha256', createSecretKey(key), Buffer.alloc(0), `fingerprint/${purpose}`, KEY_BYTES)
      return createHmac('sha256', Buffer.from(hashKey)).update(plaintext).digest('hex')
    },
  }
}
