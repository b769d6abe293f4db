/**
 * Replaces the key of one tenant: a new key becomes active, the owner keys are wrapped by it in chunks, and the old key is destroyed
 * when none needs it. Values are encrypted under owner keys, so none of them is touched; processes may keep running.
 */
import { createSecretKey, type KeyObject } from 'node:crypto'
import type { Scope, Tx } from '#kernel/database/tx.ts'
import { DecryptionFailed, type Keyring } from '#kernel/encryption/keyring.ts'
import { unwrapOwnerKey, wrapOwnerKey } from '#kernel/encryption/owner-keys.ts'
import { insertTenantKey, listTenantKeys, type OwnerKeyRow, type TenantKeyRow } from '#kernel/encryption/queries.ts'
import { createTenantKey, unwrapTenantKey } from '#kernel/encryption/tenant-keys.ts'
import type { KeyContext } from '../integrity-keys.ts'
import {
  destroyTenantKey,
  listOwnerKeysByTenantKey,
  markOwnerKeysLost,
  type OwnerKeyPosition,
  retireTenantKey,
  updateOwnerKeyWrappings,
} from './queries.ts'

const CHUNK_KEYS = 100
/** A process that encrypts for a new owner may wrap its key with the old tenant key while this runs. */
const MAX_PASSES = 10
const FOREIGN_KEY_VIOLATION = '23503'

/** Records what was done in the transaction that does it. */
export type RecordRotation = (tx: Tx, detail: Record<string, unknown>) => void

export interface RotationOptions {
  readonly record: RecordRotation
  readonly chunk_keys?: number
  /** Called after each committed chunk. */
  readonly onChunk?: (owner_keys: number) => void
}

export interface RotationResult {
  readonly active_key_no: number
  /** Owner keys that are wrapped by the active key now and were not before. */
  readonly owner_keys: number
  readonly destroyed_key_nos: readonly number[]
  /** Owner keys that could not be unwrapped: the tenant keys that they need stay. */
  readonly unopened: number
}

/** Goes on with a rotation that was interrupted; otherwise begins one. */
export async function rotateTenantKey(
  context: KeyContext,
  scope: Scope,
  options: RotationOptions,
): Promise<RotationResult> {
  const begun = await listUsableKeys(context, scope)
  const isInterrupted = begun.some(({ state }) => state === 'retiring')
  if (!isInterrupted) await addTenantKey(context, scope, options.record)
  const keys = isInterrupted ? begun : await listUsableKeys(context, scope)
  const active = keys.find(({ state }) => state === 'active') as TenantKeyRow
  const activeKey = createSecretKey(await unwrapTenantKey(context.keyring, active))
  const totals = { owner_keys: 0, unopened: 0 }
  const destroyed_key_nos: number[] = []
  for (const old of keys.filter(({ state }) => state === 'retiring')) {
    const oldKey = await tryUnwrap(context.keyring, old)
    const work = { context, scope, options, old, oldKey, active: { key_no: active.key_no, key: activeKey } }
    for (let pass = 1; pass <= MAX_PASSES; pass++) {
      const { owner_keys, unopened } = await rewrapOwnerKeys(work)
      totals.owner_keys += owner_keys
      const isDestroyed = unopened === 0 && (await tryDestroy(work))
      if (isDestroyed) destroyed_key_nos.push(old.key_no)
      if (pass === 1) totals.unopened += unopened
      if (isDestroyed || unopened > 0) break
    }
  }
  return { active_key_no: active.key_no, ...totals, destroyed_key_nos }
}

const listUsableKeys = async ({ steward }: KeyContext, scope: Scope): Promise<TenantKeyRow[]> =>
  (await steward.write(scope, listTenantKeys)).filter((row): row is TenantKeyRow => row.state !== 'destroyed')

/** A new active key; the active one before it, if there is one, is retiring from now on. */
async function addTenantKey({ steward, keyring }: KeyContext, scope: Scope, record: RecordRotation): Promise<void> {
  const [newest] = await steward.write(scope, listTenantKeys)
  const made = await createTenantKey(keyring, scope.tenant_id, (newest?.key_no ?? 0) + 1)
  await steward.write(scope, async (tx) => {
    const isFirst = newest === undefined
    if (!isFirst && (await retireTenantKey(tx, newest.key_no)) === 0) throw new Error(CONCURRENT)
    if ((await insertTenantKey(tx, made)) === 0) throw new Error(CONCURRENT)
    record(tx, { key_no: made.key_no, step: 'begun' })
  })
}

const CONCURRENT = 'Another process has changed the keys of this tenant meanwhile. Run the command again.'

async function tryUnwrap(keyring: Keyring, row: TenantKeyRow): Promise<KeyObject | null> {
  try {
    return createSecretKey(await unwrapTenantKey(keyring, row))
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error
    return null
  }
}

interface RotationWork {
  readonly context: KeyContext
  readonly scope: Scope
  readonly options: RotationOptions
  readonly old: TenantKeyRow
  /** Null: it cannot be unwrapped. */
  readonly oldKey: KeyObject | null
  readonly active: { readonly key_no: number; readonly key: KeyObject }
}

async function rewrapOwnerKeys(work: RotationWork): Promise<{ owner_keys: number; unopened: number }> {
  const { context, scope, options, old, active } = work
  const limit = options.chunk_keys ?? CHUNK_KEYS
  const totals = { owner_keys: 0, unopened: 0 }
  let after: OwnerKeyPosition | null = null
  for (;;) {
    const position: OwnerKeyPosition | null = after
    const rows = await context.app.one(scope, (tx) => listOwnerKeysByTenantKey(tx, old.key_no, position, limit))
    const changes = rows.flatMap((row) => {
      const wrapped = rewrapOwnerKey(work, row)
      return wrapped ? [{ row, wrapped }] : []
    })
    totals.unopened += rows.length - changes.length
    if (changes.length > 0) {
      const changed = await context.app.write(scope, async (tx) => {
        const count = await updateOwnerKeyWrappings(tx, changes, active.key_no)
        if (count > 0) options.record(tx, { key_no: active.key_no, step: 'rewrapped', owner_keys: count })
        return count
      })
      totals.owner_keys += changed
      options.onChunk?.(changed)
    }
    if (rows.length < limit) return totals
    after = rows[rows.length - 1] as OwnerKeyRow
  }
}

function rewrapOwnerKey({ oldKey, active }: RotationWork, row: OwnerKeyRow): Buffer | null {
  if (!oldKey) return null
  try {
    return wrapOwnerKey(active.key, { ...row, tenant_key_no: active.key_no }, unwrapOwnerKey(oldKey, row))
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error
    return null
  }
}

/** False while an owner key needs it: the database refuses. */
async function tryDestroy({ context, scope, options, old }: RotationWork): Promise<boolean> {
  try {
    await context.steward.write(scope, async (tx) => {
      const changed = await destroyTenantKey(tx, old.key_no)
      if (changed > 0) options.record(tx, { key_no: old.key_no, step: 'destroyed' })
    })
    return true
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    return false
  }
}

const isForeignKeyViolation = (error: unknown): boolean =>
  (error as { code?: string } | null)?.code === FOREIGN_KEY_VIOLATION

/**
 * After a master key was lost: a tenant whose key cannot be unwrapped gets a new one. Its values cannot be decrypted any more; their
 * owners get new keys with the next encryption.
 */
export async function renewLostTenantKey(context: KeyContext, scope: Scope, record: RecordRotation): Promise<number> {
  const active = (await listUsableKeys(context, scope)).find(({ state }) => state === 'active')
  if (!active || (await tryUnwrap(context.keyring, active))) return 0
  await addTenantKey(context, scope, record)
  await context.app.write(scope, (tx) => markOwnerKeysLost(tx, active.key_no))
  return 1
}
