/**
 * Owner keys: rows wrapped by the tenant key, read in the transaction of the values that they encrypt, so a key that was destroyed is never
 * used from memory.
 */
import type { KeyObject } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { NeedsPrecompute } from '../database/precompute.ts'
import type { Tx } from '../database/tx.ts'
import { createRandomPool } from '../random-pool.ts'
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

const takeRandom = createRandomPool(KEY_BYTES, 128)

/** A copy: the pool keeps nothing of a key. */
function makeKey(): Buffer {
  const random = takeRandom()
  const key = Buffer.from(random)
  random.fill(0)
  return key
}

/** A random key of an owner, wrapped by the tenant key. */
export function createOwnerKey(
  tenantKey: { readonly key_no: number; readonly key: Buffer | KeyObject },
  owner: { readonly tenant_id: string; readonly kind: OwnerKind; readonly id: string; readonly key_no?: number },
): NewOwnerKey & { readonly key: Buffer } {
  const key = makeKey()
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

  /**
   * Creates the keys of owners that have none; owners whose key was destroyed are left out. In portions, since opening and wrapping keys
   * block the event loop.
   */
  async ensureAll(tx: Tx, owners: readonly OwnerName[]): Promise<Map<string, OpenOwnerKey>> {
    const keys = new Map<string, OpenOwnerKey>()
    const missing: MissingKey[] = []
    let tenant_keys: readonly StoredTenantKey[] = []
    for (const portion of toPortions(owners)) {
      const opened = await this.openAll(tx, portion)
      tenant_keys = opened.tenant_keys
      for (const owner of portion) {
        const name = toOwnerName(owner)
        const row = opened.newest.get(name)
        if (row?.state === 'destroyed') continue
        const key = row?.state === 'active' ? opened.open(owner, row.key_no) : null
        if (key) keys.set(name, key)
        else missing.push({ owner, name, key_no: (row?.key_no ?? 0) + 1 })
      }
    }
    if (missing.length === 0) return keys
    const isComplete = await this.#insertMissing(tx, this.#tenantKeys.getActive(tx, tenant_keys), { missing, keys })
    // Another transaction was first for some of them, and has committed: its keys are found now.
    return isComplete ? keys : this.ensureAll(tx, owners)
  }

  /** The database stores one portion while the next one is wrapped. False where another transaction was first. */
  async #insertMissing(
    tx: Tx,
    active: ReturnType<TenantKeys['getActive']>,
    { missing, keys }: { readonly missing: readonly MissingKey[]; readonly keys: Map<string, OpenOwnerKey> },
  ): Promise<boolean> {
    const { tenant_id } = tx
    let inserting = Promise.resolve(0)
    let inserted = 0
    // In a fixed order, so that two transactions do not deadlock.
    for (const portion of toPortions(missing.toSorted((a, b) => (a.name < b.name ? -1 : 1)))) {
      const made = portion.map(({ owner, name, key_no }) => {
        const key = createOwnerKey(active, { ...owner, tenant_id, key_no })
        keys.set(name, { tenant_id, key_no, key: key.key })
        return key
      })
      inserted += await inserting.catch(retryAfterRotation)
      inserting = insertOwnerKeys(tx, made)
      // Its failure is thrown when it is awaited; until then it must not be an unhandled rejection.
      inserting.catch(() => {})
      // Sends the statement before the next portion is wrapped.
      await setImmediate()
    }
    inserted += await inserting.catch(retryAfterRotation)
    return inserted === missing.length
  }
}

interface MissingKey {
  readonly owner: OwnerName
  readonly name: string
  readonly key_no: number
}

/** Wrapping so many keys takes about ten milliseconds. */
const PORTION = 500

function toPortions<T>(items: readonly T[]): (readonly T[])[] {
  const portions: (readonly T[])[] = []
  for (let from = 0; from < items.length; from += PORTION) portions.push(items.slice(from, from + PORTION))
  return portions
}
