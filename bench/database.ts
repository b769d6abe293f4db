/** Two databases with the same rows: one with row-level security as in production, one whose tables have no row-level security and no triggers. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { startEmbedded } from '#app/embedded/launcher.ts'
import { modules } from '#app/modules.ts'
import { demoTenants, seed } from '#app/seed.ts'
import { migrate, readMigrations } from '#kernel/database/migrations.ts'
import { Database } from '#kernel/database/tx.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'

export const MASTER_KEY_HEX = '07'.repeat(32)
const RLS_DATABASE = 'probity'
const NO_RLS_DATABASE = 'probity_open'

export type RoleName = 'app' | 'worker' | 'steward'
export interface BenchDatabases {
  isolated(role: RoleName): pg.PoolConfig
  open(role: RoleName): pg.PoolConfig
  /** Row-level security does not apply to it. */
  readonly superuser: pg.PoolConfig
  /** Runs statements in the isolated database as its administrator. */
  runAsAdmin(sql: string): Promise<void>
  stop(): Promise<void>
}

/** Far above what one machine can send: a refused request would be measured as a fast one. */
const raiseLimitsSql = `
  insert into app.tenant_limit (tenant_id, bucket, per_second, burst)
  select tenant_id, bucket, 1000000, 10000000 from unnest($1::uuid[]) as t (tenant_id),
         unnest(array['principal', 'tenant', 'in_flight', 'heavy']) as b (bucket)
  on conflict on constraint tenant_limit_pkey do update set per_second = excluded.per_second, burst = excluded.burst`

/** Enough rows that every plan uses the index it would use in production, before and after the writes of a run. */
const USERS_PER_TENANT = 20_000
const addUsersSql = `
  insert into app.user_account (tenant_id, user_id, issuer, subject, email, name, roles, origin, state, created_by)
  select tenant_id, gen_random_uuid(), 'probity', 'filler ' || n, 'filler' || n || '@bench.example', 'Filler ' || n,
         array['viewer'], 'built_in', 'active', 'operator:bench'
    from unnest($1::uuid[]) as t (tenant_id), generate_series(1, ${USERS_PER_TENANT}) as n`

const disableRlsSql = `
  do $$ declare name text; begin
    for name in select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = 'app' loop
      execute 'alter table ' || name || ' no force row level security, disable row level security, disable trigger user';
    end loop;
  end $$`

export async function startDatabases(projectRoot: string): Promise<BenchDatabases> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-bench-'))
  const embedded = await startEmbedded({ dataDir, projectRoot, maxConnections: 200 })
  const as = (role: RoleName | 'migrator' | 'postgres', database: string) =>
    ({ ...embedded.url(role, database) }) as pg.PoolConfig
  const executeAsAdmin = async (database: string, sql: string, values: unknown[] = []) => {
    const client = new pg.Client(as('postgres', database))
    await client.connect()
    await client.query("select set_config('app.actor', 'operator:bench', false)")
    await client.query(sql, values)
    await client.end()
  }
  const stop = async () => {
    await embedded.stop()
    fs.rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    await migrate(as('migrator', RLS_DATABASE), readMigrations(path.join(projectRoot, 'db/migrations')))
    await seedDemoData((role) => as(role, RLS_DATABASE), projectRoot)
    const tenant_ids = demoTenants.map((tenant) => tenant.tenant_id)
    await executeAsAdmin(RLS_DATABASE, raiseLimitsSql, [tenant_ids])
    await executeAsAdmin(RLS_DATABASE, addUsersSql, [tenant_ids])
    await executeAsAdmin('postgres', `create database ${NO_RLS_DATABASE} template ${RLS_DATABASE}`)
    await executeAsAdmin('postgres', `grant connect on database ${NO_RLS_DATABASE} to app, worker`)
    await executeAsAdmin(NO_RLS_DATABASE, disableRlsSql)
    for (const database of [RLS_DATABASE, NO_RLS_DATABASE]) await executeAsAdmin(database, 'vacuum analyze')
  } catch (error) {
    await stop()
    throw error
  }
  return {
    isolated: (role) => as(role, RLS_DATABASE),
    open: (role) => as(role, NO_RLS_DATABASE),
    superuser: as('postgres', RLS_DATABASE),
    runAsAdmin: (sql) => executeAsAdmin(RLS_DATABASE, sql),
    stop,
  }
}

async function seedDemoData(as: (role: 'app' | 'steward') => pg.PoolConfig, project_root: string): Promise<void> {
  const connect = (role: 'app' | 'steward') =>
    new Database({ connection: as(role), max: 2, prepared: false, statement_timeout_ms: 15_000, wait_ms: 2000 })
  const app = connect('app')
  const steward = connect('steward')
  try {
    const keyring = createKeyring(Buffer.from(MASTER_KEY_HEX, 'hex'))
    await seed({ app, steward, keyring, modules, project_root }, { demo: true })
  } finally {
    await Promise.all([app.end(), steward.end()])
  }
}
