/**
 * SQL that deletes a tenant. Rows are removed as app_owner inside the tenant: the isolation policies hold for it too, so no row of
 * another tenant can be reached. The record of the deletion belongs to the system tenant and is written as steward.
 */
import pg from 'pg'
import type { Tx } from '#kernel/database/tx.ts'
import type { BackupTable, QueryRunner } from '../backup/queries.ts'

/** A table of the tenant, as backups list it. */
export type TenantTable = BackupTable

/** A reference of one table to another: its columns, and those they name. */
export interface Reference {
  readonly from: string
  readonly to: string
  readonly columns: readonly string[]
  readonly to_columns: readonly string[]
}

const name = (text: string): string => pg.escapeIdentifier(text)

/** Settings of one transaction. */
export const SET_OWNER_CONTEXT = `select set_config('app.tenant_id', $1, true), set_config('app.actor', $2, true),
  set_config('app.sight', 'all', true), set_config('statement_timeout', '0', true)`

/** Append-only triggers ask for `app.deleting_tenant`, triggers that keep single rows for `app.restoring`: neither is accepted for a tenant in use. */
export const SET_REMOVAL_CONTEXT = `select set_config('app.deleting_tenant', $1, true), set_config('app.restoring', 'on', true)`

/** Held by the connection: two processes would only wait for each other. */
export const tryLockDeletion = async (client: QueryRunner, tenant_id: string): Promise<boolean> =>
  (
    await client.query<{ locked: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('tenant deletion ' || $1, 0)) as locked`,
      [tenant_id],
    )
  )[0]?.locked ?? false

export const listReferences = (tx: QueryRunner) =>
  tx.query<Reference>(
    `select c.relname::text as "from", r.relname::text as "to",
            (select json_agg(a.attname order by k.place) from unnest(f.conkey) with ordinality as k (attnum, place)
               join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.attnum) as columns,
            (select json_agg(a.attname order by k.place) from unnest(f.confkey) with ordinality as k (attnum, place)
               join pg_attribute a on a.attrelid = f.confrelid and a.attnum = k.attnum) as to_columns
       from pg_constraint f join pg_class c on c.oid = f.conrelid join pg_class r on r.oid = f.confrelid
      where f.contype = 'f' and c.relnamespace = 'app'::regnamespace order by f.conname`,
  )

const countSql = ({ name: table }: TenantTable): string =>
  `select ${pg.escapeLiteral(table)} as name, count(*)::text as rows from app.${name(table)} where tenant_id = $1`

export async function countRows(
  tx: QueryRunner,
  tables: readonly TenantTable[],
  tenant_id: string,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of tables) {
    const [found] = await tx.query<{ rows: string }>(countSql(table), [tenant_id])
    const rows = Number(found?.rows ?? 0)
    if (rows > 0) counts[table.name] = rows
  }
  return counts
}

/** One statement with one index probe for each table. */
export async function listFilledTables(
  tx: QueryRunner,
  tables: readonly TenantTable[],
  tenant_id: string,
): Promise<ReadonlySet<string>> {
  const probe = ({ name: table }: TenantTable) =>
    `select ${pg.escapeLiteral(table)} as name where exists (select 1 from app.${name(table)} where tenant_id = $1)`
  const rows = await tx.query<{ name: string }>(tables.map(probe).join(' union all '), [tenant_id])
  return new Set(rows.map((row) => row.name))
}

/** No row of the group refers to it; a row may refer to itself. */
const isUnreferenced = ({ from, to, columns, to_columns }: Reference): string => {
  const same = columns.map((column, index) => `c.${name(column)} = t.${name(to_columns[index] as string)}`)
  const other = from === to ? ' and c.ctid <> t.ctid' : ''
  return `not exists (select 1 from app.${name(from)} c where ${same.join(' and ')}${other})`
}

/**
 * The rows to remove, listed once: looking for the next ones each time would read all index entries of the removed ones again.
 * The cursor outlives its transaction. `references`: only rows that these do not name.
 */
export async function declareRows(
  tx: QueryRunner,
  table: TenantTable,
  tenant_id: string,
  references: readonly Reference[],
): Promise<void> {
  const conditions = [`t.tenant_id = ${pg.escapeLiteral(tenant_id)}`, ...references.map(isUnreferenced)]
  await tx.run(
    `declare doomed no scroll cursor with hold for select t.ctid::text as place from app.${name(table.name)} t
      where ${conditions.join(' and ')}`,
  )
}

export const fetchRows = async (tx: QueryRunner, count: number): Promise<string[]> =>
  (await tx.query<{ place: string }>(`fetch ${count} from doomed`)).map(({ place }) => place)

export const closeRows = (tx: QueryRunner) => tx.run('close doomed')

export const deleteRows = (tx: QueryRunner, table: TenantTable, tenant_id: string, places: readonly string[]) =>
  tx.run(`delete from app.${name(table.name)} where tenant_id = $1 and ctid = any ($2::tid[])`, [tenant_id, places])

/** Rows that refer to each other in a circle: PostgreSQL compares references when a statement ends. */
export const deleteAllRows = (tx: QueryRunner, tables: readonly TenantTable[], tenant_id: string) => {
  const parts = tables.map(
    ({ name: table }, index) => `part_${index} as (delete from app.${name(table)} where tenant_id = $1)`,
  )
  return tx.run(`with ${parts.join(', ')} select 1`, [tenant_id])
}

/** Its name comes from the catalogue. Not inside a transaction. */
export const vacuum = (client: QueryRunner, table: TenantTable) => client.run(`vacuum app.${name(table.name)}`)

/** The end of the audit chain; without one, what a chain starts from. */
export const findAuditEnd = async (tx: QueryRunner, tenant_id: string): Promise<{ seq: number; hash: string }> => {
  const [head] = await tx.query<{ seq: string; hash: string }>(
    'select seq::text as seq, hash from app.audit_head where tenant_id = $1',
    [tenant_id],
  )
  return { seq: Number(head?.seq ?? 0), hash: head?.hash ?? '0'.repeat(64) }
}

/** Undefined when its row is gone already. */
export const findTenantState = async (tx: QueryRunner, tenant_id: string): Promise<string | undefined> =>
  (await tx.query<{ state: string }>('select state from app.tenant where tenant_id = $1', [tenant_id]))[0]?.state

/** Refused by the database unless the tenant is suspended, its deletion is recorded and no legal hold keeps it. */
export const updateToDeleting = (tx: QueryRunner, tenant_id: string) =>
  tx.run(
    `update app.tenant set state = 'deleting', access_epoch = access_epoch + 1, revision = revision + 1, updated_at = now()
      where tenant_id = $1`,
    [tenant_id],
  )

export const deleteTenantRow = (tx: QueryRunner, tenant_id: string) =>
  tx.run('delete from app.tenant where tenant_id = $1', [tenant_id])

export const findTransactionId = async (tx: QueryRunner): Promise<string> =>
  (await tx.query<{ xid: string }>('select pg_current_xact_id()::text as xid'))[0]?.xid as string

/** Whether every transaction that wrote something before this one has ended. */
export const areOlderEnded = async (tx: QueryRunner, xid: string): Promise<boolean> =>
  (await tx.query<{ ended: boolean }>('select pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 as ended', [xid]))[0]
    ?.ended ?? false

// As steward, inside the system tenant ------------------------------------------------------------------------------

export interface TenantDeletionRow {
  readonly deleted_tenant_id: string
  readonly started_at: string
  readonly started_by: string
  readonly audit_seq: number
  readonly audit_hash: string
  readonly row_counts: Readonly<Record<string, number>>
  readonly finished_at: string | null
}

export const findTenantDeletion = (tx: Tx, tenant_id: string) =>
  tx.find<TenantDeletionRow>(
    `select deleted_tenant_id, started_at, started_by, audit_seq, audit_hash, row_counts, finished_at from app.tenant_deletion
      where tenant_id = app.system_tenant() and deleted_tenant_id::text = $1`,
    [tenant_id],
  )

/** Again after an attempt that was refused. The database refuses it once the rows are being removed. */
export const insertTenantDeletion = (
  tx: Tx,
  deletion: Pick<TenantDeletionRow, 'deleted_tenant_id' | 'audit_seq' | 'audit_hash' | 'row_counts'>,
) =>
  tx.run(
    `insert into app.tenant_deletion (tenant_id, deleted_tenant_id, started_by, audit_seq, audit_hash, row_counts)
     values (app.system_tenant(), $1, $2, $3, $4, $5::jsonb)
     on conflict on constraint tenant_deletion_pkey do update set started_at = excluded.started_at, started_by = excluded.started_by,
       audit_seq = excluded.audit_seq, audit_hash = excluded.audit_hash, row_counts = excluded.row_counts`,
    [
      deletion.deleted_tenant_id,
      tx.actor,
      deletion.audit_seq,
      deletion.audit_hash,
      JSON.stringify(deletion.row_counts),
    ],
  )

export const updateFinished = (tx: Tx, tenant_id: string) =>
  tx.run(
    `update app.tenant_deletion set finished_at = clock_timestamp()
      where tenant_id = app.system_tenant() and deleted_tenant_id = $1 and finished_at is null`,
    [tenant_id],
  )
