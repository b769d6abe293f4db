/**
 * Everything that a master key wraps: which keys still need which master key, and wrapping them again with the current one.
 * The wrapped keys themselves do not change, so processes may keep running.
 */
import { signingKeyContext } from '#kernel/auth/built-in-issuer.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Scope, Tx } from '#kernel/database/tx.ts'
import { MasterKeyMissing } from '#kernel/encryption/failures.ts'
import { DecryptionFailed, getMasterKeyId, type KeyWrapper, needsRewrap } from '#kernel/encryption/keyring.ts'
import { toTenantKeyContext } from '#kernel/encryption/tenant-keys.ts'
import { toWrapContext } from '#kernel/integrity/keys.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import type { KeyContext } from '../integrity-keys.ts'
import {
  deferForTenant,
  listTenants,
  listWrappedSigningKeys,
  updateWrappedKey,
  type WrappedSigningKey,
} from '../queries.ts'
import { countWrappings, listKeysToRewrap, updateWrappings, type WrappedKeyRow } from './queries.ts'

const SYSTEM: Scope = fullScope(SYSTEM_TENANT, 'operator:cli')
/** Tenants whose keys are changed in one transaction. */
const CHUNK_TENANTS = 100
/** Calls of a key command at a time. */
const CONCURRENCY = 4

/** What is wrapped by one master key. */
export interface MasterKeyUse {
  readonly key_id: string
  readonly integrity_keys: number
  readonly tenant_keys: number
  readonly signing_keys: number
}

/** Everything in the database that is wrapped by a master key, by key; backup files are not counted. */
export async function listMasterKeyUses({ steward }: Pick<KeyContext, 'steward'>): Promise<MasterKeyUse[]> {
  const uses = new Map<string, MasterKeyUse>()
  const add = (key_id: string, kind: keyof Omit<MasterKeyUse, 'key_id'>, count: number) => {
    const use = uses.get(key_id) ?? { key_id, integrity_keys: 0, tenant_keys: 0, signing_keys: 0 }
    uses.set(key_id, { ...use, [kind]: use[kind] + count })
  }
  for (const { sealed_private } of await steward.write(SYSTEM, listWrappedSigningKeys)) {
    add(getMasterKeyId(sealed_private), 'signing_keys', 1)
  }
  for (const chunk of splitIntoChunks([SYSTEM_TENANT, ...(await listTenantIds(steward))])) {
    for (const { kind, wrapped_by, count } of await steward.write(SYSTEM, (tx) => countWrappings(tx, chunk))) {
      add(wrapped_by, `${kind}s`, count)
    }
  }
  return [...uses.values()].sort((one, two) => (one.key_id < two.key_id ? -1 : 1))
}

const listTenantIds = async (steward: KeyContext['steward']): Promise<string[]> =>
  (await steward.write(SYSTEM, listTenants)).map(({ tenant_id }) => tenant_id)

function splitIntoChunks<T>(items: readonly T[], size = CHUNK_TENANTS): T[][] {
  const chunks: T[][] = []
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size))
  return chunks
}

export interface RewrapResult {
  readonly rewrapped: number
  /** What could not be unwrapped, since its master key is not available. */
  readonly unopened: number
  /** What could not be unwrapped although its master key is available. */
  readonly damaged: number
}

/** Recorded in the transaction that changes the keys of a tenant or of the system; `tx` is inside that tenant. */
export type RecordKeyChange = (tx: Tx, tenant_id: string, detail: Record<string, unknown>) => Promise<void>

/** Wraps everything with the current master key. After an interruption the next run continues. */
export async function rewrapAll(
  context: Omit<KeyContext, 'app'>,
  record: RecordKeyChange,
  options: { readonly chunk_tenants?: number } = {},
): Promise<RewrapResult> {
  const system = await rewrapSystem(context, record)
  let { rewrapped, unopened, damaged } = system
  for (const chunk of splitIntoChunks(await listTenantIds(context.steward), options.chunk_tenants)) {
    const done = await rewrapTenants(context, chunk, record)
    rewrapped += done.rewrapped
    unopened += done.unopened
    damaged += done.damaged
  }
  return { rewrapped, unopened, damaged }
}

async function rewrapSystem(
  { steward, keyring }: Omit<KeyContext, 'app'>,
  record: RecordKeyChange,
): Promise<RewrapResult> {
  const { rows, signing } = await steward.write(SYSTEM, async (tx) => ({
    rows: await listKeysToRewrap(tx, [SYSTEM_TENANT], keyring.key_id),
    signing: (await listWrappedSigningKeys(tx)).filter((key) => needsRewrap(keyring, key.sealed_private)),
  }))
  const keys = await rewrapEach(keyring, rows, readKeyRow)
  const signingKeys = await rewrapEach(keyring, signing, readSigningKey)
  const rewrapped = await steward.write(SYSTEM, async (tx) => {
    let changed = (await updateWrappings(tx, keys.changes, keyring.key_id)).length
    for (const { row, wrapped } of signingKeys.changes) changed += await updateWrappedKey(tx, row, wrapped)
    if (changed > 0) await record(tx, SYSTEM_TENANT, { keys: changed, master_key: keyring.key_id })
    return changed
  })
  return {
    rewrapped,
    unopened: keys.unopened + signingKeys.unopened,
    damaged: keys.damaged + signingKeys.damaged,
  }
}

/** A wrapped key, and the context that it is bound to. */
interface Wrapping {
  readonly wrapped: string
  readonly context: string
}

const readSigningKey = ({ kid, sealed_private }: WrappedSigningKey): Wrapping => ({
  wrapped: sealed_private,
  context: signingKeyContext(kid),
})

async function rewrapTenants(
  { steward, keyring }: Omit<KeyContext, 'app'>,
  tenant_ids: readonly string[],
  record: RecordKeyChange,
): Promise<RewrapResult> {
  const rows = await steward.write(SYSTEM, (tx) => listKeysToRewrap(tx, tenant_ids, keyring.key_id))
  if (rows.length === 0) return { rewrapped: 0, unopened: 0, damaged: 0 }
  const { changes, unopened, damaged } = await rewrapEach(keyring, rows, readKeyRow)
  const rewrapped = await steward.write(SYSTEM, async (tx) => {
    const changed = await updateWrappings(tx, changes, keyring.key_id)
    for (const tenant_id of new Set(changed)) {
      const keys = changed.filter((id) => id === tenant_id).length
      await record(deferForTenant(tx, tenant_id), tenant_id, { keys, master_key: keyring.key_id })
    }
    return changed.length
  })
  return { rewrapped, unopened, damaged }
}

const readKeyRow = ({ tenant_id, purpose, key_no, wrapped }: WrappedKeyRow): Wrapping => ({
  wrapped,
  context: purpose === null ? toTenantKeyContext(tenant_id, key_no) : toWrapContext({ tenant_id, purpose, key_no }),
})

/** Outside a transaction: a key command may be asked for each of them. */
async function rewrapEach<R>(
  keyring: KeyWrapper,
  rows: readonly R[],
  read: (row: R) => Wrapping,
): Promise<{ changes: { row: R; wrapped: string }[] } & Omit<RewrapResult, 'rewrapped'>> {
  const changes: { row: R; wrapped: string }[] = []
  let [unopened, damaged] = [0, 0]
  const waiting = rows.values()
  const work = async () => {
    for (const row of waiting) {
      const wrapped = await rewrap(keyring, read(row))
      if (typeof wrapped === 'string') changes.push({ row, wrapped })
      else if (wrapped instanceof MasterKeyMissing) unopened++
      else damaged++
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return { changes, unopened, damaged }
}

/** The new text, or why the old one cannot be unwrapped. */
async function rewrap(keyring: KeyWrapper, { wrapped, context }: Wrapping): Promise<string | DecryptionFailed> {
  let key: Buffer
  try {
    key = await keyring.unwrap(wrapped, context)
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error
    return error
  }
  return keyring.wrap(key, context)
}
