/**
 * SQL of the operator's work on keys. Rows of several tenants are read and written in one transaction as steward, by functions that
 * name each tenant in turn: a policy shows the rows of one tenant at a time.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { OwnerKeyRow } from '#kernel/encryption/queries.ts'

/** A key that is wrapped by a master key. */
export interface WrappedKeyRow {
  readonly tenant_id: string
  readonly kind: 'integrity_key' | 'tenant_key'
  /** Null for a tenant key. */
  readonly purpose: string | null
  readonly key_no: number
  readonly wrapped: string
}

/** Keys of these tenants that another master key than this one wraps. */
export const listKeysToRewrap = (tx: Tx, tenant_ids: readonly string[], key_id: string) =>
  tx.query<WrappedKeyRow>('select * from app.list_keys_to_rewrap($1::uuid[], $2)', [tenant_ids, key_id])

export interface WrappingCount {
  readonly kind: WrappedKeyRow['kind']
  readonly wrapped_by: string
  readonly count: number
}

export const countWrappings = (tx: Tx, tenant_ids: readonly string[]) =>
  tx.query<WrappingCount>('select * from app.count_wrapped_keys($1::uuid[])', [tenant_ids])

/** Compare and set: the tenant of each key that was changed, without those that another process has wrapped meanwhile. */
export async function updateWrappings(
  tx: Tx,
  changes: readonly { readonly row: WrappedKeyRow; readonly wrapped: string }[],
  key_id: string,
): Promise<string[]> {
  const rows = await tx.query<{ tenant_id: string }>(
    'select tenant_id from app.rewrap_keys($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6) as tenant_id',
    [
      changes.map(({ row }) => row.tenant_id),
      changes.map(({ row }) => row.purpose),
      changes.map(({ row }) => row.key_no),
      changes.map(({ row }) => row.wrapped),
      changes.map(({ wrapped }) => wrapped),
      key_id,
    ],
  )
  return rows.map(({ tenant_id }) => tenant_id)
}

/** 0 when it is not active any more. */
export const retireTenantKey = (tx: Tx, key_no: number) =>
  tx.run(`update app.tenant_key set state = 'retiring' where tenant_id = $1 and key_no = $2 and state = 'active'`, [
    tx.tenant_id,
    key_no,
  ])

/** Refused by the database while an owner key needs it. */
export const destroyTenantKey = (tx: Tx, key_no: number) =>
  tx.run(
    `update app.tenant_key set state = 'destroyed', wrapped = null, wrapped_by = null, destroyed_at = now()
      where tenant_id = $1 and key_no = $2 and state = 'retiring'`,
    [tx.tenant_id, key_no],
  )

/** Position in the owner keys of one tenant key. */
export type OwnerKeyPosition = Pick<OwnerKeyRow, 'owner_kind' | 'owner_id' | 'key_no'>

export const listOwnerKeysByTenantKey = (
  tx: Tx,
  tenant_key_no: number,
  after: OwnerKeyPosition | null,
  limit: number,
) =>
  tx.query<OwnerKeyRow>(
    `select tenant_id, owner_kind, owner_id, key_no, wrapped, tenant_key_no, state from app.owner_key
      where tenant_id = $1 and tenant_key_no = $2
        and ($3::text is null or (owner_kind, owner_id, key_no) > ($3, $4::uuid, $5::bigint))
      order by owner_kind, owner_id, key_no limit $6`,
    [tx.tenant_id, tenant_key_no, after?.owner_kind ?? null, after?.owner_id ?? null, after?.key_no ?? null, limit],
  )

/** Compare and set: the number of keys that were changed. */
export const updateOwnerKeyWrappings = (
  tx: Tx,
  changes: readonly { readonly row: OwnerKeyRow; readonly wrapped: Buffer }[],
  tenant_key_no: number,
) =>
  tx.run(
    `update app.owner_key o set wrapped = g.wrapped, tenant_key_no = $2
       from unnest($3::text[], $4::uuid[], $5::bigint[], $6::bytea[], $7::bytea[])
         as g (owner_kind, owner_id, key_no, before, wrapped)
      where o.tenant_id = $1 and o.owner_kind = g.owner_kind and o.owner_id = g.owner_id and o.key_no = g.key_no
        and o.wrapped = g.before`,
    [
      tx.tenant_id,
      tenant_key_no,
      changes.map(({ row }) => row.owner_kind),
      changes.map(({ row }) => row.owner_id),
      changes.map(({ row }) => row.key_no),
      changes.map(({ row }) => row.wrapped),
      changes.map(({ wrapped }) => wrapped),
    ],
  )

/** Owner keys whose tenant key cannot be unwrapped any more: their owners get new ones. */
export const markOwnerKeysLost = (tx: Tx, tenant_key_no: number) =>
  tx.run(`update app.owner_key set state = 'lost' where tenant_id = $1 and tenant_key_no = $2 and state = 'active'`, [
    tx.tenant_id,
    tenant_key_no,
  ])
