/**
 * SQL of backup and restore. Tables come from the register of isolated tables and the catalogue, so a new table needs no change
 * here; only a column that must not be restored as it was has a rule.
 */
import pg from 'pg'

export type IsolationKind = 'tenant' | 'append' | 'copy' | 'erasable' | 'shared' | 'queue' | 'ledger' | 'directory'

export interface BackupTable {
  readonly name: string
  readonly kind: IsolationKind
  /** Without generated columns, which the database computes again. */
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  /** Sort order of its rows, the same under every locale. */
  readonly key: readonly string[] | null
  readonly refers_to: readonly string[]
}

/** One transaction inside one tenant, for the queries below. */
export interface QueryRunner {
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>
  run(text: string, values?: readonly unknown[]): Promise<number>
}

/** Settings of one transaction: tenant, actor, and the same spelling of values on every server. */
export const SET_CONTEXT = `select set_config('app.tenant_id', $1, true), set_config('app.actor', $2, true),
  set_config('app.sight', 'all', true), set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true),
  set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO, YMD', true), set_config('intervalstyle', 'iso_8601', true),
  set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true), set_config('app.restoring', 'on', true)`

export const exportSnapshot = async (tx: QueryRunner): Promise<string> =>
  (await tx.query<{ id: string }>('select pg_export_snapshot() as id'))[0]?.id as string

export const listTables = (tx: QueryRunner) =>
  tx.query<BackupTable>(
    `select w.table_name as name, w.kind,
            (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attnum)
               from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
            (select json_agg(quote_ident(a.attname) || case when a.attcollation = 0 then '' else ' collate "C"' end order by k.place)
               from pg_index i cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
               join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
              where i.indrelid = c.oid and i.indisprimary and k.place <= i.indnkeyatts) as key,
            (select coalesce(json_agg(distinct r.relname), '[]') from pg_constraint f join pg_class r on r.oid = f.confrelid
              where f.conrelid = c.oid and f.contype = 'f') as refers_to
       from app.wall_register w join pg_class c on c.relname = w.table_name and c.relnamespace = 'app'::regnamespace
      where w.kind <> 'system' order by w.table_name collate "C"`,
  )

export const listMigrations = (tx: QueryRunner) =>
  tx.query<{ version: string; checksum: string }>('select version, checksum from app.migration order by version')

export const listTenantIds = async (tx: QueryRunner): Promise<string[]> =>
  (await tx.query<{ tenant_id: string }>('select tenant_id from app.tenant order by tenant_id')).map(
    (row) => row.tenant_id,
  )

/**
 * What a column is stored as in a backup where its value means nothing elsewhere; SQL over the row `t`.
 * - A job that was running is queued again: the worker that held its lease is not there.
 * - Transaction numbers start again in a new cluster. An event counts as sealed at number 0, before everything to come;
 *   one that was not sealed yet gets number 1, so that the first worker chains it. The head is after every sealed one,
 *   and names no cluster, so that the first worker compares events with links.
 */
const columnRules: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  job: {
    state: `case when t.state = 'running' then 'queued' else t.state end`,
    lease_token: 'null',
    lease_until: 'null',
  },
  audit_event: {
    txid: `case when exists (select 1 from app.audit_link l where l.tenant_id = t.tenant_id and l.event_id = t.event_id)
                then 0 else 1 end`,
  },
  audit_head: {
    last_txid: '0',
    last_event_id: `'ffffffff-ffff-ffff-ffff-ffffffffffff'`,
    cluster_id: 'null',
  },
}

/** Until everything is restored and verified: a suspended tenant without access, whose jobs wait. */
const restoreOverrides: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tenant: { state: `'suspended'` },
}

const name = (text: string): string => pg.escapeIdentifier(text)

const names = (table: BackupTable): string => table.columns.map((column) => name(column.name)).join(', ')

/** The rows of one tenant, or all rows of a directory. `stored` applies the rules, `raw` does not. */
export function selectRowsSql(table: BackupTable, as: 'stored' | 'raw'): string {
  const rules = as === 'stored' ? (columnRules[table.name] ?? {}) : {}
  const columns = table.columns.map((column) => rules[column.name] ?? `t.${name(column.name)}`)
  const order = table.key ?? table.columns.map((column) => `t.${name(column.name)}::text collate "C"`)
  const own = table.kind === 'directory' ? '$1::uuid is not null' : 't.tenant_id = $1'
  return `select ${columns.join(', ')} from app.${name(table.name)} t where ${own} order by ${order.join(', ')}`
}

const values = (table: BackupTable, line: string): string[] =>
  table.columns.map((column, index) => `(${line}->>${index})::${column.type}`)

/** $1: the rows as a JSON array of arrays of texts, as in the file. */
export function insertRowsSql(table: BackupTable): string {
  const held = restoreOverrides[table.name] ?? {}
  const given = values(table, 'r.line').map((value, index) => held[table.columns[index]?.name ?? ''] ?? value)
  return `insert into app.${name(table.name)} (${names(table)}) select ${given.join(', ')} from jsonb_array_elements($1::jsonb) as r (line)`
}

/** Gives rows of a directory the values that were held back, and those that triggers have changed meanwhile. */
export function updateRowsSql(table: BackupTable): string {
  return `update app.${name(table.name)} t set (${names(table)}) = row (${values(table, 'r.line').join(', ')})
    from jsonb_array_elements($1::jsonb) as r (line) where t.tenant_id = ${values(table, 'r.line')[tenantColumnIndex(table)]}`
}

/** Of those that are in use. */
export const SUSPEND_TENANTS = `update app.tenant set state = 'suspended', suspended_at = now() where tenant_id = any ($1::uuid[]) and state = 'active'`

const tenantColumnIndex = (table: BackupTable): number =>
  table.columns.findIndex((column) => column.name === 'tenant_id')

// Tables that refer to themselves or to each other: staged first, then inserted by one statement, since PostgreSQL
// compares foreign keys when a statement ends.

export const CREATE_STAGING = 'create temporary table restore_staging (table_name text, line jsonb)'
export const DROP_STAGING = 'drop table pg_temp.restore_staging'

export const INSERT_STAGING =
  'insert into pg_temp.restore_staging select $2, r.line from jsonb_array_elements($1::jsonb) as r (line)'

export function insertFromStaging(tables: readonly BackupTable[]): string {
  const parts = tables.map(
    (table, index) => `part_${index} as (insert into app.${name(table.name)} (${names(table)})
      select ${values(table, 'a.line').join(', ')} from pg_temp.restore_staging a where a.table_name = ${pg.escapeLiteral(table.name)})`,
  )
  return `with ${parts.join(', ')} select 1`
}

export const hasTenantRows = async (tx: QueryRunner, table: BackupTable, tenant_id: string): Promise<boolean> =>
  (await tx.query(`${selectRowsSql(table, 'raw')} limit 1`, [tenant_id])).length > 0
