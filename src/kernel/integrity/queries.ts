/** SQL of integrity keys. Those of the system tenant are readable in every transaction, those of a tenant in its own only. */
import type { Tx } from '../database/tx.ts'

export interface IntegrityKeyRow {
  readonly tenant_id: string
  readonly purpose: string
  readonly key_no: number
  readonly wrapped: string
  readonly wrapped_by: string
  readonly state: 'trusted' | 'distrusted'
}

/** Of one tenant, newest first, including those that are no longer trusted. */
export const listIntegrityKeys = (tx: Tx, tenant_id: string) =>
  tx.query<IntegrityKeyRow>(
    `select tenant_id, purpose, key_no, wrapped, wrapped_by, state from app.integrity_key
      where tenant_id = $1 order by purpose, key_no desc`,
    [tenant_id],
  )

export type NewIntegrityKey = Omit<IntegrityKeyRow, 'state'>

/** Existing rows are kept: of several processes that start together, the first one inserts the rows for all. */
export const insertIntegrityKeys = (tx: Tx, rows: readonly NewIntegrityKey[]) =>
  tx.run(
    `insert into app.integrity_key (tenant_id, purpose, key_no, wrapped, wrapped_by)
     select g.tenant_id, g.purpose, g.key_no, g.wrapped, g.wrapped_by
       from unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[]) as g (tenant_id, purpose, key_no, wrapped, wrapped_by)
     on conflict on constraint integrity_key_pkey do nothing`,
    [
      rows.map((row) => row.tenant_id),
      rows.map((row) => row.purpose),
      rows.map((row) => row.key_no),
      rows.map((row) => row.wrapped),
      rows.map((row) => row.wrapped_by),
    ],
  )

/** All of a purpose except the newest. */
export const distrustEarlierKeys = (tx: Tx, tenant_id: string, purposes: readonly string[]) =>
  tx.run(
    `update app.integrity_key k set state = 'distrusted'
      where tenant_id = $1 and purpose = any($2::text[]) and state = 'trusted'
        and key_no < (select max(n.key_no) from app.integrity_key n where n.tenant_id = k.tenant_id and n.purpose = k.purpose)`,
    [tenant_id, purposes],
  )
