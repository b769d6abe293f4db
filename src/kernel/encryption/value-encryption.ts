/**
 * Encrypts values under the key of their owner: master key, tenant key, owner key, value. An owner key is a row, wrapped by the
 * tenant key; it is read in the transaction of its value, so a key that was destroyed is never used from memory.
 */
import { createHmac, createSecretKey, hkdfSync } from 'node:crypto'
import type { RaiseAlarm } from '../alarm.ts'
import { NeedsPrecompute } from '../database/precompute.ts'
import { scopeOfTransaction } from '../database/scope.ts'
import type { Transactions, Tx } from '../database/tx.ts'
import { KEY_BYTES } from './aes-gcm.ts'
import { DecryptionFailed } from './failures.ts'
import { OwnerKeys, toOwnerName } from './owner-keys.ts'
import { findEncryptionKeys, insertDestroyedKey, type OwnerName, updateOwnerKeysDestroyed } from './queries.ts'
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
  /** The same for an owner that this transaction creates, with one statement less. */
  encryptFirst(tx: Tx, owner: KeyOwner, at: ValueLocation, plaintext: Buffer): Promise<Buffer>
  /** Throws DecryptionFailed unless tenant, owner, location and bytes are the ones of the encryption. */
  decrypt(tx: Tx, owner: KeyOwner, at: ValueLocation, stored: Buffer): Promise<Buffer>
  /**
   * Reads the keys of these owners in one statement, and creates those that do not exist. The function encrypts values of this
   * transaction for them without another statement; null where the owner's key was destroyed.
   */
  prepareEncryption(tx: Tx, owners: readonly KeyOwner[]): Promise<(value: PlainValue) => Buffer | null>
  /** Reads the keys of all owners in one statement. Null for a value whose owner's key was destroyed; a failure for one that was altered. */
  decryptAll(tx: Tx, values: readonly EncryptedValue[]): Promise<(Buffer | DecryptionFailed | null)[]>
  /**
   * Makes everything that is encrypted for the owner unreadable for good, and refuses to encrypt anything else for it, also where it
   * had no key. Returns how many keys were destroyed. The caller checks holds and records the erasure.
   */
  destroyOwner(tx: Tx, owner: KeyOwner): Promise<number>
  /** A keyed hash, in hexadecimal digits: equal inputs are visible inside one tenant and for one purpose only. */
  fingerprint(tx: Tx, purpose: string, plaintext: Buffer): Promise<string>
  /** For many of them, with one statement. */
  prepareFingerprints(tx: Tx, purpose: string): Promise<(plaintext: Buffer) => string>
}

export interface ValueEncryptionOptions {
  readonly tenantKeys: TenantKeys
  readonly transactions: Pick<Transactions, 'write'>
  readonly raiseAlarm: RaiseAlarm
}

const distinctOwners = (owners: readonly KeyOwner[]): OwnerName[] => [
  ...new Map(owners.map((owner) => [toOwnerName(owner), owner])).values(),
]

const hashWith = (key: Buffer, plaintext: Buffer): string => createHmac('sha256', key).update(plaintext).digest('hex')

export function createValueEncryption(options: ValueEncryptionOptions): ValueEncryption {
  const { tenantKeys, transactions, raiseAlarm } = options
  const ownerKeys = new OwnerKeys(tenantKeys)

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
      throw new NeedsPrecompute(() => transactions.write(scopeOfTransaction(tx), (own) => ownerKeys.ensure(own, owner)))
    }
    const key = ownerKeys.open(owner_key, tenant_keys)
    return Buffer.from(hkdfSync('sha256', createSecretKey(key), Buffer.alloc(0), `fingerprint/${purpose}`, KEY_BYTES))
  }

  return {
    encrypt: async (tx, owner, at, plaintext) => encryptValue(await ownerKeys.ensure(tx, owner), at, plaintext),

    encryptFirst: async (tx, owner, at, plaintext) => encryptValue(await ownerKeys.create(tx, owner), at, plaintext),

    decrypt: async (tx, owner, at, stored) => {
      try {
        return decryptValue(await ownerKeys.find(tx, owner, readKeyNumber(stored)), at, stored)
      } catch (error) {
        if (error instanceof DecryptionFailed) raiseDecryptionAlarm(tx, at, error)
        throw error
      }
    },

    prepareEncryption: async (tx, owners) => {
      const keys = await ownerKeys.ensureAll(tx, distinctOwners(owners))
      return ({ owner, at, plaintext }) => {
        const key = keys.get(toOwnerName(owner))
        return key ? encryptValue(key, at, plaintext) : null
      }
    },

    decryptAll: async (tx, values) => {
      if (values.length === 0) return []
      const { open } = await ownerKeys.openAll(tx, distinctOwners(values.map(({ owner }) => owner)))
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

    prepareFingerprints: async (tx, purpose) => {
      const key = await findHashKey(tx, purpose)
      return (plaintext) => hashWith(key, plaintext)
    },
  }
}
