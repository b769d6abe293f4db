/** SQL of tenant keys and owner keys. */
import type { Tx } from '../database/tx.ts'

export interface TenantKeyRow {
  readonly tenant_id: string
  readonly key_no: number
  readonly wrapped: string
  readonly wrapped_by: string
  readonly state: 'active' | 'retiring'
}

export type OwnerKind = 'subject' | 'object' | 'tenant'

export interface OwnerKeyRow {
  readonly tenant_id: string
  readonly owner_kind: OwnerKind
  readonly owner_id: string
  readonly key_no: number
  readonly wrapped: Buffer
  readonly tenant_key_no: number
  readonly state: 'active' | 'lost'
}

/** A destroyed key keeps its number only. */
export type StoredTenantKey = TenantKeyRow | { readonly key_no: number; readonly state: 'destroyed' }
export type StoredOwnerKey = OwnerKeyRow | { readonly key_no: number; readonly state: 'destroyed' }

const tenantKeyColumns = 'tenant_id, key_no, wrapped, wrapped_by, state'
const ownerKeyColumns = 'tenant_id, owner_kind, owner_id, key_no, wrapped, tenant_key_no, state'

/** Newest first, including those that are destroyed. */
export const listTenantKeys = (tx: Tx) =>
  tx.query<StoredTenantKey>(
    `select ${tenantKeyColumns} from app.tenant_key where tenant_id = $1 order by key_no desc`,
    [tx.tenant_id],
  )

interface EncryptionKeysRow extends Omit<TenantKeyRow, 'state'> {
  readonly state: StoredTenantKey['state']
  readonly owner_key_no: number | null
  readonly owner_wrapped: Buffer
  readonly owner_tenant_key_no: number
  readonly owner_state: OwnerKeyRow['state']
}

/**
 * All keys of the tenant and the newest key of one owner. In one statement: between two, a rotation could replace the tenant key
 * that wraps the owner key.
 */
export async function findEncryptionKeys(
  tx: Tx,
  owner_kind: OwnerKind,
  owner_id: string,
): Promise<{ tenant_keys: StoredTenantKey[]; owner_key: StoredOwnerKey | undefined }> {
  const rows = await tx.query<EncryptionKeysRow>(
    `select k.tenant_id, k.key_no, k.wrapped, k.wrapped_by, k.state, o.key_no as owner_key_no, o.wrapped as owner_wrapped,
            o.tenant_key_no as owner_tenant_key_no, o.state as owner_state
       from app.tenant_key k
       left join lateral (select key_no, wrapped, tenant_key_no, state from app.owner_key
                           where tenant_id = k.tenant_id and owner_kind = $2 and owner_id = $3 order by key_no desc limit 1) o on true
      where k.tenant_id = $1 order by k.key_no desc`,
    [tx.tenant_id, owner_kind, owner_id],
  )
  const [first] = rows
  return { tenant_keys: rows as StoredTenantKey[], owner_key: first && toOwnerKey(first, owner_kind, owner_id) }
}

const toOwnerKey = (row: EncryptionKeysRow, owner_kind: OwnerKind, owner_id: string): StoredOwnerKey | undefined =>
  row.owner_key_no === null
    ? undefined
    : {
        tenant_id: row.tenant_id,
        owner_kind,
        owner_id,
        key_no: row.owner_key_no,
        wrapped: row.owner_wrapped,
        tenant_key_no: row.owner_tenant_key_no,
        state: row.owner_state,
      }

/** One key of an owner together with the tenant key that wraps it. */
export interface WrappedKeyPair {
  readonly owner_key: StoredOwnerKey
  readonly tenant_key: TenantKeyRow | null
}

export async function findOwnerKey(
  tx: Tx,
  owner_kind: OwnerKind,
  owner_id: string,
  key_no: number,
): Promise<WrappedKeyPair | undefined> {
  const row = await tx.find<
    OwnerKeyRow & { tenant_wrapped: string; tenant_wrapped_by: string; tenant_state: 'active' }
  >(
    `select ${ownerKeyColumns
      .split(', ')
      .map((column) => `o.${column}`)
      .join(', ')}, k.wrapped as tenant_wrapped, k.wrapped_by as tenant_wrapped_by, k.state as tenant_state
       from app.owner_key o left join app.tenant_key k on k.tenant_id = o.tenant_id and k.key_no = o.tenant_key_no
      where o.tenant_id = $1 and o.owner_kind = $2 and o.owner_id = $3 and o.key_no = $4`,
    [tx.tenant_id, owner_kind, owner_id, key_no],
  )
  if (!row) return undefined
  const { tenant_wrapped, tenant_wrapped_by, tenant_state, ...owner_key } = row
  if (tenant_wrapped === null) return { owner_key, tenant_key: null }
  return {
    owner_key,
    tenant_key: {
      tenant_id: row.tenant_id,
      key_no: row.tenant_key_no,
      wrapped: tenant_wrapped,
      wrapped_by: tenant_wrapped_by,
      state: tenant_state,
    },
  }
}

export interface OwnerName {
  readonly kind: OwnerKind
  readonly id: string
}

interface AnyKeyRow {
  /** NULL: the row is a tenant key. */
  readonly owner_kind: OwnerKind | null
  readonly owner_id: string | null
  readonly key_no: number
  readonly state: string
  readonly wrapped: Buffer | null
  readonly tenant_key_no: number | null
  readonly tenant_wrapped: string | null
  readonly wrapped_by: string | null
}

/**
 * All keys of the tenant and all keys of these owners, in one statement for the same reason as above. `offset 0` keeps one index lookup
 * per owner: while a batch adds keys, statistics lag behind, and a plain join reads all keys of the tenant for each owner.
 */
export async function listEncryptionKeys(
  tx: Tx,
  owners: readonly OwnerName[],
): Promise<{ tenant_keys: StoredTenantKey[]; owner_keys: (StoredOwnerKey & OwnerName)[] }> {
  const rows = await tx.query<AnyKeyRow>(
    `select null as owner_kind, null::uuid as owner_id, key_no, state, null::bytea as wrapped, null::bigint as tenant_key_no,
            wrapped as tenant_wrapped, wrapped_by
       from app.tenant_key where tenant_id = $1
     union all
     select o.owner_kind, o.owner_id, o.key_no, o.state, o.wrapped, o.tenant_key_no, null, null
       from unnest($2::text[], $3::uuid[]) as w (kind, id)
       cross join lateral (select * from app.owner_key where tenant_id = $1 and owner_kind = w.kind and owner_id = w.id offset 0) as o`,
    [tx.tenant_id, owners.map(({ kind }) => kind), owners.map(({ id }) => id)],
  )
  const { tenant_id } = tx
  const tenant_keys = rows
    .filter(({ owner_kind }) => owner_kind === null)
    .map(({ key_no, state, tenant_wrapped: wrapped, wrapped_by }) => ({
      tenant_id,
      key_no,
      state,
      wrapped,
      wrapped_by,
    }))
  const owner_keys = rows
    .filter(({ owner_kind }) => owner_kind !== null)
    .map(({ owner_kind, owner_id, key_no, state, wrapped, tenant_key_no }) => ({
      ...{ tenant_id, owner_kind, owner_id, key_no, state, wrapped, tenant_key_no },
      ...{ kind: owner_kind, id: owner_id },
    }))
  return { tenant_keys: tenant_keys as StoredTenantKey[], owner_keys: owner_keys as (StoredOwnerKey & OwnerName)[] }
}

export type NewTenantKey = Pick<TenantKeyRow, 'key_no' | 'wrapped' | 'wrapped_by'>

/** 0 when another process has inserted it meanwhile, or when another key is active. */
export const insertTenantKey = (tx: Tx, key: NewTenantKey) =>
  tx.run(
    `insert into app.tenant_key (tenant_id, key_no, wrapped, wrapped_by) values ($1, $2, $3, $4) on conflict do nothing`,
    [tx.tenant_id, key.key_no, key.wrapped, key.wrapped_by],
  )

export type NewOwnerKey = Omit<OwnerKeyRow, 'tenant_id' | 'state'>

/** 0 when another transaction has inserted it meanwhile. */
export const insertOwnerKey = (tx: Tx, key: NewOwnerKey) =>
  tx.run(
    `insert into app.owner_key (tenant_id, owner_kind, owner_id, key_no, wrapped, tenant_key_no)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [tx.tenant_id, key.owner_kind, key.owner_id, key.key_no, key.wrapped, key.tenant_key_no],
  )

/** Sent with COMMIT. The transaction is repeated when the tenant key is not the active one any more. */
export const deferFirstKey = (tx: Tx, key: NewOwnerKey) =>
  tx.defer(
    `insert into app.owner_key (tenant_id, owner_kind, owner_id, key_no, wrapped, tenant_key_no)
     values ($1, $2, $3, $4, $5, app.require_active_key($1, $6))`,
    [tx.tenant_id, key.owner_kind, key.owner_id, key.key_no, key.wrapped, key.tenant_key_no],
  )

/** The number of keys that were inserted: fewer when another transaction has inserted some of them meanwhile. */
export const insertOwnerKeys = (tx: Tx, keys: readonly NewOwnerKey[]) =>
  tx.run(
    `insert into app.owner_key (tenant_id, owner_kind, owner_id, key_no, wrapped, tenant_key_no)
     select $1, g.* from unnest($2::text[], $3::uuid[], $4::bigint[], $5::bytea[], $6::bigint[]) as g on conflict do nothing`,
    [
      tx.tenant_id,
      keys.map((key) => key.owner_kind),
      keys.map((key) => key.owner_id),
      keys.map((key) => key.key_no),
      keys.map((key) => key.wrapped),
      keys.map((key) => key.tenant_key_no),
    ],
  )

/** Destroys all keys of an owner, lost ones too; 0 where it has none, or none any more. */
export const updateOwnerKeysDestroyed = (tx: Tx, { kind, id }: OwnerName) =>
  tx.run(
    `update app.owner_key set state = 'destroyed', wrapped = null, tenant_key_no = null, destroyed_at = now()
      where tenant_id = $1 and owner_kind = $2 and owner_id = $3 and state <> 'destroyed'`,
    [tx.tenant_id, kind, id],
  )

/** A key that never existed and counts as destroyed, so that the owner never gets one; 0 where the owner has a key. */
export const insertDestroyedKey = (tx: Tx, { kind, id }: OwnerName) =>
  tx.run(
    `insert into app.owner_key (tenant_id, owner_kind, owner_id, key_no, state, destroyed_at)
     values ($1, $2, $3, 1, 'destroyed', now()) on conflict do nothing`,
    [tx.tenant_id, kind, id],
  )
