/**
 * Forward-only migrations: plain SQL files, one transaction each unless the first line says otherwise, recorded with a
 * checksum. Any number of processes may start at once; an advisory lock lets one of them migrate while the others wait and
 * then find nothing to do.
 */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { applyOnlineMigration, type OnlineStatement, parseOnlineMigration } from './online-migration.ts'
import { type ConnectionConfig, openClient } from './servers.ts'

export interface Migration {
  readonly version: string
  readonly name: string
  readonly checksum: string
  readonly sql: string
  /** Set when it runs outside a transaction. */
  readonly online?: OnlineStatement
}

/** How often a process that waits for another one's migrations checks again. */
const LOCK_RETRY_MS = 200
const LOCK = 7_205_759_403_792_793n

export function readMigrations(folder: string): Migration[] {
  const files = fs
    .readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
  return files.map((file, index) => {
    const [, version, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? []
    if (!version || !name) throw new Error(`migration file ${file} must be named NNNN_verb_noun.sql`)
    // A missing or duplicate file is detected before anything is applied.
    if (Number(version) !== index + 1)
      throw new Error(`migration ${file} is out of order: expected number ${index + 1}`)
    const sql = fs.readFileSync(path.join(folder, file), 'utf8')
    const online = parseOnlineMigration(file, sql)
    return { version, name, sql, checksum: createHash('sha256').update(sql).digest('hex'), ...(online && { online }) }
  })
}

export const latestVersion = (migrations: readonly Migration[]): string => migrations.at(-1)?.version ?? '0000'

/** Lists applied migrations without changing anything. Empty for an empty database. */
async function readAppliedVersions(client: pg.Client): Promise<Map<string, string>> {
  const known = await client.query<{ exists: boolean }>("select to_regclass('app.migration') is not null as exists")
  if (!known.rows[0]?.exists) return new Map()
  const { rows } = await client.query<{ version: string; checksum: string }>(
    'select version, checksum from app.migration order by version',
  )
  return new Map(rows.map((row) => [row.version, row.checksum]))
}

export interface MigrationPlan {
  readonly current: string
  readonly expected: string
  readonly pending: readonly Migration[]
}

async function buildPlan(client: pg.Client, migrations: readonly Migration[]): Promise<MigrationPlan> {
  const done = await readAppliedVersions(client)
  for (const migration of migrations) {
    const checksum = done.get(migration.version)
    if (checksum !== undefined && checksum !== migration.checksum) {
      throw new Error(
        `Migration ${migration.version}_${migration.name} was changed after it was applied. ` +
          'Restore the file as it was and put the change into a new migration.',
      )
    }
  }
  const pending = migrations.filter((migration) => !done.has(migration.version))
  return { current: [...done.keys()].at(-1) ?? '0000', expected: latestVersion(migrations), pending }
}

export async function planMigrations(
  config: ConnectionConfig,
  migrations: readonly Migration[],
): Promise<MigrationPlan> {
  return withMigrator(config, (client) => buildPlan(client, migrations))
}

/** Applies pending migrations as app_owner through the migrator role. Returns those applied by this call. */
export async function migrate(
  config: ConnectionConfig,
  migrations: readonly Migration[],
  onStep: (text: string) => void = () => {},
): Promise<readonly Migration[]> {
  return withMigrator(config, async (client) => {
    await awaitLock(client)
    const { pending } = await buildPlan(client, migrations)
    for (const migration of pending) {
      onStep(`migration ${migration.version} ${migration.name.replaceAll('_', ' ')}`)
      if (migration.online) await applyOnlineMigration(client, migration, migration.online)
      else await applyMigration(client, migration)
    }
    return pending
  })
}

/**
 * Polls instead of waiting inside PostgreSQL: a waiting statement has a snapshot, a concurrent index build waits for every older
 * snapshot, and the two would deadlock.
 */
async function awaitLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [LOCK.toString()])
    if (rows[0]?.held) return
    await sleep(LOCK_RETRY_MS)
  }
}

async function applyMigration(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin')
  try {
    await client.query('set local role app_owner')
    await client.query("select set_config('app.actor', 'operator:migrate', true)")
    await client.query(migration.sql)
    await client.query('insert into app.migration (version, name, checksum) values ($1, $2, $3)', [
      migration.version,
      migration.name,
      migration.checksum,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(`Migration ${migration.version}_${migration.name} failed: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

async function withMigrator<T>(config: ConnectionConfig, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await openClient(config, {})
  try {
    await client.query('set role app_owner')
    return await body(client)
  } finally {
    await client.end()
  }
}
