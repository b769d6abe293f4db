/** What the generated suites share: the route table, sending an example, the tables of the register, and statements tried and undone. */
import path from 'node:path'
import pg from 'pg'
import { modules } from '#app/modules.ts'
import { roles as allRoles, type Role } from '#kernel/auth/roles.ts'
import { latestVersion, readMigrations } from '#kernel/database/migrations.ts'
import type { Route } from '#kernel/route.ts'
import { projectRoot } from '../support/database.ts'
import type { ExampleTenant } from '../support/example-tenant.ts'
import { fixtures } from '../support/fixtures.ts'
import type { Example, Fixture } from '../support/operation-fixture.ts'
import type { CallOptions, Reply, TestApp } from '../support/test-app.ts'

/** Known before a server runs, so that each route is a test of its own; `w.kernel.routes` is asserted to be the same. */
export const routes: readonly Route[] = modules.flatMap((module) => module.routes)
export const tenantRoutes = routes.filter((route) => route.access === 'tenant')
export const publicRoutes = routes.filter((route) => route.access === 'public')

/** The schema that this state of the sources makes. */
export const LATEST_SCHEMA = latestVersion(readMigrations(path.join(projectRoot, 'db/migrations')))

export function getExample(route: Route, tenant: ExampleTenant, role?: Role): Example | Promise<Example> {
  const fixture: Fixture | undefined = fixtures[route.id]
  if (!fixture) throw new Error(`the fixtures of the module have no entry for ${route.id}`)
  return fixture(tenant, role ?? (route.roles[0] as Role))
}

export function getRequestLine(route: Route, example: Example): string {
  const path = route.path.replace(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(example.params?.[name] ?? ''))
  const query = example.query ? `?${new URLSearchParams(example.query)}` : ''
  return `${route.method} ${path}${query}`
}

let sentCount = 0

/** Without a token: unauthenticated. Every call has an address of its own, so that no limit per address applies. */
export function sendAs(
  w: Pick<TestApp, 'call'>,
  token: string | undefined,
  route: Route,
  example: Example,
): Promise<Reply> {
  sentCount++
  const address = `10.${(sentCount >> 16) & 255}.${(sentCount >> 8) & 255}.${sentCount & 255}`
  const options: CallOptions = {
    address,
    ...(token !== undefined && { token }),
    ...(example.body !== undefined && { body: example.body }),
    ...(example.bytes !== undefined && {
      payload: example.bytes,
      headers: { 'content-type': 'application/octet-stream' },
    }),
  }
  return w.call(getRequestLine(route, example), options)
}

/** As somebody of the tenant who holds the roles. */
export async function send(
  tenant: ExampleTenant,
  route: Route,
  example: Example,
  held: readonly Role[] = allRoles,
): Promise<Reply> {
  return sendAs(tenant.w, await tenant.token(held, example.principal ?? tenant.caller), route, example)
}

export interface Column {
  readonly name: string
  readonly type: string
  /** May app change it? */
  readonly writable: boolean
}
export interface Reference {
  readonly constraint: string
  /** What it refers to, and by which columns; tenant_id is left out. */
  readonly table: string
  readonly columns: readonly { readonly name: string; readonly target: string }[]
}
export interface Table {
  readonly name: string
  readonly kind: 'tenant' | 'append' | 'copy' | 'erasable' | 'shared' | 'queue' | 'ledger' | 'directory' | 'system'
  /** Stored columns: generated ones cannot be given a value. */
  readonly columns: readonly Column[]
  readonly references: readonly Reference[]
}

/** Every table of the schema with its kind in the register. */
export async function readTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname::text as name, w.kind,
            (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null),
                      'writable', has_column_privilege('app', c.oid, a.attnum, 'UPDATE')) order by a.attnum)
               from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
            (select coalesce(json_agg(json_build_object('constraint', k.conname, 'table', r.relname, 'columns', (
                      select json_agg(json_build_object('name', a.attname, 'target', b.attname))
                        from unnest(k.conkey, k.confkey) as pair (own, target)
                        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = pair.own
                        join pg_attribute b on b.attrelid = k.confrelid and b.attnum = pair.target
                       where a.attname <> 'tenant_id'))), '[]')
               from pg_constraint k join pg_class r on r.oid = k.confrelid
              where k.conrelid = c.oid and k.contype = 'f' and cardinality(k.conkey) > 1) as references
       from pg_class c left join app.wall_register w on w.table_name = c.relname
      where c.relnamespace = 'app'::regnamespace and c.relkind in ('r', 'p') order by c.relname`,
  )
  return rows
}

export const selectIsolated = (tables: readonly Table[]): Table[] => tables.filter(({ kind }) => kind !== 'system')

export async function connect(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config)
  await client.connect()
  return client
}

/**
 * The rest of the transaction speaks for the tenant, with full sight: what people may see has tests of its own. `null`: the
 * kernel never set a tenant, or an actor.
 */
export async function setTenantContext(
  client: pg.Client,
  tenant_id: string | null,
  actor: string | null = 'user:probe',
) {
  await client.query(
    `select set_config('app.tenant_id', $1, true), set_config('app.actor', $2, true), set_config('app.sight', 'all', true)`,
    [tenant_id ?? '', actor ?? ''],
  )
}

/** Inside a transaction: how many rows the statement gives or touches, or the SQLSTATE that refused it. It is undone. */
export async function attempt(
  client: pg.Client,
  text: string,
  values: readonly unknown[] = [],
): Promise<number | string> {
  await client.query('savepoint attempt')
  const observed = await client.query(text, [...values]).then(
    ({ rowCount }) => rowCount ?? 0,
    (error: { code?: string }) => error.code ?? String(error),
  )
  await client.query('rollback to savepoint attempt')
  return observed
}

export interface Attempt {
  readonly text: string
  readonly values: readonly unknown[]
  readonly as: { readonly tenant_id: string | null; readonly actor: string | null }
}

/** Ends a statement that went through, so that the block undoes it. */
const UNDONE = 'PB999'

/** Runs as its caller. Each statement is a block of its own, which is undone before the next. */
const ATTEMPT_ALL = `create or replace function pg_temp.attempt_all(attempts jsonb) returns text[] language plpgsql as $$
declare
  one jsonb;
  touched bigint;
  observed text[] := '{}';
begin
  for one in select * from jsonb_array_elements(attempts) loop
    begin
      perform set_config('app.tenant_id', one ->> 'tenant_id', true), set_config('app.actor', one ->> 'actor', true),
        set_config('app.sight', 'all', true);
      execute one ->> 'text';
      get diagnostics touched = row_count;
      raise exception using errcode = '${UNDONE}';
    exception when others then
      observed := observed || case when sqlstate = '${UNDONE}' then 'rows ' || touched else sqlstate end;
    end;
  end loop;
  return observed;
end $$`

const toLiteral = (value: unknown): string =>
  pg.escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value))

/**
 * Inside a transaction, in one round trip: how many rows each statement gives or touches, or the SQLSTATE that refused it.
 * Every one is undone before the next.
 */
export async function attemptAll(client: pg.Client, attempts: readonly Attempt[]): Promise<(number | string)[]> {
  const given = attempts.map(({ text, values, as }) => ({
    text: text.replace(/\$(\d+)/g, (_, number: string) => toLiteral(values[Number(number) - 1])),
    tenant_id: as.tenant_id ?? '',
    actor: as.actor ?? '',
  }))
  await client.query(ATTEMPT_ALL)
  const { rows } = await client.query<{ observed: string[] }>('select pg_temp.attempt_all($1) as observed', [
    JSON.stringify(given),
  ])
  return (rows[0]?.observed ?? []).map((text) => (text.startsWith('rows ') ? Number(text.slice(5)) : text))
}

/** Runs the body in a transaction that is always rolled back. */
export async function withRollback<T>(client: pg.Client, body: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    return await body()
  } finally {
    await client.query('rollback')
  }
}

export type Row = Readonly<Record<string, unknown>>

/** A row of the tenant as JSON, read as superuser. */
export async function findRow(superuser: pg.Client, table: string, tenant_id: string): Promise<Row | undefined> {
  const { rows } = await superuser.query(`select to_jsonb(t) as row from app.${table} t where tenant_id = $1 limit 1`, [
    tenant_id,
  ])
  return rows[0]?.row
}

/** Inserts a row given as JSON in $1. */
export function buildInsertSql(table: Table): string {
  const columns = table.columns.map(({ name }) => `"${name}"`).join(', ')
  return `insert into app.${table.name} (${columns}) select ${columns} from jsonb_populate_record(null::app.${table.name}, $1)`
}
