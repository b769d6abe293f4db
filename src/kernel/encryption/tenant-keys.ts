/**
 * Tenant keys: wrapped by a master key in the database, unwrapped in memory for an hour. Unwrapping may ask another program, so
 * it never happens inside a transaction: what needs a key that is not in memory throws NeedsPrecompute.
 */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { RaiseAlarm } from '../alarm.ts'
import { type Cache, declareCache } from '../cache/caches.ts'
import { NeedsPrecompute } from '../database/precompute.ts'
import type { Scope, Transactions } from '../database/tx.ts'
import { fail } from '../problem.ts'
import { KEY_BYTES } from './aes-gcm.ts'
import { MasterKeyMissing } from './failures.ts'
import type { KeyWrapper } from './keyring.ts'
import {
  insertTenantKey,
  listTenantKeys,
  type NewTenantKey,
  type StoredTenantKey,
  type TenantKeyRow,
} from './queries.ts'

/** How long an unwrapped key is used without asking the master key again. */
const CACHE_TTL_MS = 3_600_000

export interface CachedTenantKey {
  readonly key_no: number
  readonly key: KeyObject
  readonly expires_at_ms: number
}

export const tenantKeyCache = declareCache<CachedTenantKey>({
  name: 'tenant_keys',
  summary: 'Tenant keys, unwrapped, for an hour.',
  bound: { max_entries: 10_000 },
})

const toActiveName = (tenant_id: string): string => `${tenant_id}/active`

export const toTenantKeyContext = (tenant_id: string, key_no: number): string => `${tenant_id}/tenant-key:${key_no}`

/** A random key, wrapped by the current master key. */
export async function createTenantKey(
  wrapper: KeyWrapper,
  tenant_id: string,
  key_no: number,
): Promise<NewTenantKey & { readonly key: Buffer }> {
  const key = randomBytes(KEY_BYTES)
  const wrapped = await wrapper.wrap(key, toTenantKeyContext(tenant_id, key_no))
  return { key_no, wrapped, wrapped_by: wrapper.key_id, key }
}

/** Throws unless the wrapping and the key are whole. */
export async function unwrapTenantKey(
  wrapper: KeyWrapper,
  { tenant_id, key_no, wrapped }: Pick<TenantKeyRow, 'tenant_id' | 'key_no' | 'wrapped'>,
): Promise<Buffer> {
  return wrapper.unwrap(wrapped, toTenantKeyContext(tenant_id, key_no))
}

/** Creates the first key of a tenant that has none. Any number of processes may do this at once. */
export async function ensureTenantKey(
  transactions: Pick<Transactions, 'write'>,
  wrapper: KeyWrapper,
  scope: Scope,
): Promise<void> {
  const rows = await transactions.write(scope, listTenantKeys)
  if (rows.some(({ state }) => state === 'active')) return
  const key = await createTenantKey(wrapper, scope.tenant_id, (rows[0]?.key_no ?? 0) + 1)
  await transactions.write(scope, (tx) => insertTenantKey(tx, key))
}

export interface TenantKeysOptions {
  readonly wrapper: KeyWrapper
  readonly transactions: Pick<Transactions, 'write'>
  readonly cache: Cache<CachedTenantKey>
  readonly raiseAlarm: RaiseAlarm
}

export class TenantKeys {
  readonly #options: TenantKeysOptions
  /** Requests that need the same key wait for one call. */
  readonly #pending = new Map<string, Promise<void>>()

  constructor(options: TenantKeysOptions) {
    this.#options = options
  }

  /** The key that wraps new owner keys. */
  getActive(scope: Scope, rows: readonly StoredTenantKey[]): { readonly key_no: number; readonly key: KeyObject } {
    const active = rows.find((row): row is TenantKeyRow => row.state === 'active')
    if (!active) {
      const { transactions, wrapper } = this.#options
      throw new NeedsPrecompute(() =>
        this.#once(`${scope.tenant_id}/new`, () => ensureTenantKey(transactions, wrapper, scope)),
      )
    }
    this.#evictDestroyed(scope.tenant_id, rows)
    const cached = this.#get(active)
    this.#options.cache.set(toActiveName(scope.tenant_id), cached)
    return cached
  }

  /** The key that was active when it was last read: the statement that uses it checks that it still is. */
  findLastActive(tenant_id: string): { readonly key_no: number; readonly key: KeyObject } | undefined {
    return this.#find(toActiveName(tenant_id))
  }

  evictActive(tenant_id: string): void {
    this.#options.cache.delete(toActiveName(tenant_id))
  }

  get(row: TenantKeyRow): KeyObject {
    return this.#get(row).key
  }

  #get(row: TenantKeyRow): CachedTenantKey {
    const name = `${row.tenant_id}/${row.key_no}`
    const cached = this.#find(name)
    if (cached) return cached
    throw new NeedsPrecompute(() => this.#once(name, () => this.#unwrap(name, row)))
  }

  #find(name: string): CachedTenantKey | undefined {
    const cached = this.#options.cache.get(name)
    if (!cached || performance.now() < cached.expires_at_ms) return cached
    this.#options.cache.delete(name)
    return undefined
  }

  async #unwrap(name: string, row: TenantKeyRow): Promise<void> {
    const { wrapper, cache, raiseAlarm } = this.#options
    // Another request has unwrapped it since this one missed it.
    if (this.#find(name)) return
    try {
      const key = createSecretKey(await unwrapTenantKey(wrapper, row))
      cache.set(name, { key_no: row.key_no, key, expires_at_ms: performance.now() + CACHE_TTL_MS })
    } catch (error) {
      const facts = { tenant_id: row.tenant_id, key_no: row.key_no, wrapped_by: row.wrapped_by, err: error }
      raiseAlarm('key_unavailable', facts, 'failed to unwrap a tenant key')
      if (!(error instanceof MasterKeyMissing)) throw error
      fail('dependency_unavailable', 'The master key of this tenant is not available. Tell the operator.')
    }
  }

  /** After a rotation in another process. */
  #evictDestroyed(tenant_id: string, rows: readonly StoredTenantKey[]): void {
    for (const { key_no, state } of rows) {
      if (state === 'destroyed') this.#options.cache.delete(`${tenant_id}/${key_no}`)
    }
  }

  #once(name: string, work: () => Promise<void>): Promise<void> {
    const pending = this.#pending.get(name) ?? work().finally(() => this.#pending.delete(name))
    this.#pending.set(name, pending)
    return pending
  }
}
