/**
 * Owner keys: rows wrapped by the tenant key, read in the transaction of the values that they encrypt, so a key that was destroyed is never
 * used from memory.
 */
import { type KeyObject, randomBytes } from 'node:crypto'
import { NeedsPrecompute } from '../database/precompute.ts'
import type { Tx } from '../database/tx.ts'
import { decryptBytes, encryptBytes, KEY_BYTES } from './aes-gcm.ts'
import { DecryptionFailed, OwnerKeyDestroyed } from './failures.ts'
import {
  deferFirstKey,
  findEncryptionKeys,
  findOwnerKey,
  insertOwnerKey,
  insertOwnerKeys,
  listEncryptionKeys,
  type NewOwnerKey,
  type OwnerKeyRow,
  type OwnerKind,
  type OwnerName,
  type StoredOwnerKey,
  type StoredTenantKey,
} from './queries.ts'
import type { TenantKeys } from './tenant-keys.ts'

export interface OpenOwnerKey {
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

export const toOwnerName = ({ kind, id }: OwnerName): string => `${kind}/${id}`

const isUsable = (row: StoredOwnerKey): row is OwnerKeyRow => row.state !== 'destroyed'

export class OwnerKeys {
  readonly #tenantKeys: TenantKeys

  constructor(tenantKeys: TenantKeys) {
    this.#tenantKeys = tenantKeys
  }

  /** The key itself, for the row of an owner key. */
  open(owner_key: OwnerKeyRow, tenant_keys: readonly StoredTenantKey[]): Buffer {
    const tenant_key = tenant_keys.find(({ key_no }) => key_no === owner_key.tenant_key_no)
    if (!tenant_key || tenant_key.state === 'destroyed') throw new DecryptionFailed('its tenant key is destroyed')
    return unwrapOwnerKey(this.#tenantKeys.get(tenant_key), owner_key)
  }

  /** The newest key of the owner; a new one where there is none, or where the newest is lost. */
  async ensure(tx: Tx, owner: OwnerName): Promise<OpenOwnerKey> {
    const { tenant_id } = tx
    const { tenant_keys, owner_key } = await findEncryptionKeys(tx, owner.kind, owner.id)
    if (owner_key && !isUsable(owner_key)) throw new OwnerKeyDestroyed()
    if (owner_key?.state === 'active') {
      return { tenant_id, key_no: owner_key.key_no, key: this.open(owner_key, tenant_keys) }
    }
    const active = this.#tenantKeys.getActive(tx, tenant_keys)
    const made = createOwnerKey(active, { ...owner, tenant_id, key_no: (owner_key?.key_no ?? 0) + 1 })
    const inserted = await insertOwnerKey(tx, made).catch(retryAfterRotation)
    // Another transaction was first, and has committed: its key is found now.
    return inserted === 1 ? { tenant_id, key_no: made.key_no, key: made.key } : this.ensure(tx, owner)
  }

  /** The first key of an owner that this transaction creates: without a statement of its own where the active tenant key is known. */
  async create(tx: Tx, owner: OwnerName): Promise<OpenOwnerKey> {
    const { tenant_id } = tx
    const active = this.#tenantKeys.findLastActive(tenant_id)
    if (!active) return this.ensure(tx, owner)
    const made = createOwnerKey(active, { ...owner, tenant_id })
    deferFirstKey(tx, made)
    // It may have failed because the tenant key was rotated: the next attempt reads it.
    tx.onRollback(() => this.#tenantKeys.evictActive(tenant_id))
    return { tenant_id, key_no: made.key_no, key: made.key }
  }

  async find(tx: Tx, owner: OwnerName, key_no: number): Promise<OpenOwnerKey> {
    const found = await findOwnerKey(tx, owner.kind, owner.id, key_no)
    if (!found) throw new DecryptionFailed('its owner has no such key')
    const { owner_key, tenant_key } = found
    if (!isUsable(owner_key)) throw new OwnerKeyDestroyed()
    if (!tenant_key) throw new DecryptionFailed('its tenant key is not there')
    return { tenant_id: tx.tenant_id, key_no, key: unwrapOwnerKey(this.#tenantKeys.get(tenant_key), owner_key) }
  }

  /** The keys of several owners, by name and number, and which owners have none left. */
  async openAll(tx: Tx, owners: readonly OwnerName[]) {
    const { tenant_id } = tx
    const { tenant_keys, owner_keys } = await listEncryptionKeys(tx, owners)
    const newest = new Map<string, StoredOwnerKey>()
    const rows = new Map<string, StoredOwnerKey>()
    for (const row of owner_keys) {
      const name = toOwnerName(row)
      rows.set(`${name}/${row.key_no}`, row)
      if ((newest.get(name)?.key_no ?? 0) < row.key_no) newest.set(name, row)
    }
    const opened = new Map<string, OpenOwnerKey>()
    const open = (owner: OwnerName, key_no: number): OpenOwnerKey | null => {
      const name = `${toOwnerName(owner)}/${key_no}`
      const known = opened.get(name)
      if (known) return known
      const row = rows.get(name)
      if (!row) throw new DecryptionFailed('its owner has no such key')
      if (!isUsable(row)) return null
      const key = { tenant_id, key_no, key: this.open(row, tenant_keys) }
      opened.set(name, key)
      return key
    }
    return { tenant_keys, newest, open }
  }

  /** Creates the keys of owners that have none; owners whose key was destroyed are left out. */
  async ensureAll(tx: Tx, owners: readonly OwnerName[]): Promise<Map<string, OpenOwnerKey>> {
    const { tenant_id } = tx
    const { tenant_keys, newest, open } = await this.openAll(tx, owners)
    const keys = new Map<string, OpenOwnerKey>()
    const missing: OwnerName[] = []
    for (const owner of owners) {
      const row = newest.get(toOwnerName(owner))
      if (row?.state === 'destroyed') continue
      const key = row?.state === 'active' ? open(owner, row.key_no) : null
      if (key) keys.set(toOwnerName(owner), key)
      else missing.push(owner)
    }
    if (missing.length === 0) return keys
    const active = this.#tenantKeys.getActive(tx, tenant_keys)
    // In a fixed order, so that two transactions do not deadlock.
    const made = missing
      .toSorted((a, b) => (toOwnerName(a) < toOwnerName(b) ? -1 : 1))
      .map((owner) =>
        createOwnerKey(active, { ...owner, tenant_id, key_no: (newest.get(toOwnerName(owner))?.key_no ?? 0) + 1 }),
      )
    const inserted = await insertOwnerKeys(tx, made).catch(retryAfterRotation)
    // Another transaction was first for some of them, and has committed: its keys are found now.
    if (inserted !== made.length) return this.ensureAll(tx, owners)
    for (const { owner_kind, owner_id, key_no, key } of made)
      keys.set(toOwnerName({ kind: owner_kind, id: owner_id }), { tenant_id, key_no, key })
    return keys
  }
}
