/** Global set-up: one embedded PostgreSQL for the whole run, a migrated template, and a seeded one that every test file clones. */
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { type Connection, startEmbedded } from '#app/embedded/launcher.ts'
import { rolesSql } from '#app/embedded/roles.ts'
import { modules } from '#app/modules.ts'
import { seed } from '#app/seed.ts'
import { migrate, readMigrations } from '#kernel/database/migrations.ts'
import { Database } from '#kernel/database/tx.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { createDatabaseFolder } from './database-folder.ts'
import { startPgBouncer } from './pgbouncer.ts'

export const TEMPLATE = 'probity_template'
/** Migrated and otherwise empty. */
export const EMPTY_TEMPLATE = 'probity_empty'
export const TEST_MASTER_KEY = Buffer.alloc(32, 7)
export const projectRoot = path.resolve(import.meta.dirname, '../..')

export type RoleName = 'app' | 'worker' | 'steward' | 'migrator' | 'postgres'

declare module 'vitest' {
  export interface ProvidedContext {
    connections: Record<RoleName, pg.ClientConfig>
    /** False where named statements cannot be used: behind an old PgBouncer. */
    prepared: boolean
  }
}

const roleNames: readonly RoleName[] = ['app', 'worker', 'steward', 'migrator', 'postgres']
const servingRoles: readonly RoleName[] = ['app', 'worker', 'steward']

/**
 * PostgreSQL plans a named statement five times with its values before it considers one plan for all values, and most test
 * files send a statement less often than that. One plan from the start saves about 30 percent of the server's CPU; a whole run
 * of the matrices keeps the default. Plans for parallel workers are not considered: no table is large enough for them. The other
 * settings turn off background work that only a long-running server needs.
 */
const serverSettings: Readonly<Record<string, string>> = {
  ...(process.env['PROBITY_TEST_WHOLE'] !== '1' && { plan_cache_mode: 'force_generic_plan' }),
  max_parallel_workers_per_gather: '0',
  autovacuum: 'off',
  bgwriter_lru_maxpages: '0',
  checkpoint_timeout: '1h',
  wal_writer_delay: '10s',
}

export default async function setup(project: TestProject) {
  // Short on purpose: a unix socket path may have at most 107 bytes.
  const dataDir = createDatabaseFolder('probity-test-')
  const embedded = await startEmbedded({ dataDir, projectRoot, durable: false, maxConnections: 300 })
  const as = (role: RoleName, database: string) => ({ ...embedded.url(role, database) }) as pg.ClientConfig
  const admin = new pg.Client(as('postgres', 'postgres'))
  await admin.connect()
  for (const [name, value] of Object.entries(serverSettings)) await admin.query(`alter system set ${name} = '${value}'`)
  await admin.query('select pg_reload_conf()')
  await shortenSignIn(admin, as)
  await admin.query(`create database ${EMPTY_TEMPLATE}`)
  await prepareRoles(as('postgres', EMPTY_TEMPLATE), EMPTY_TEMPLATE)
  await migrate(as('migrator', EMPTY_TEMPLATE), readMigrations(path.join(projectRoot, 'db/migrations')))
  await admin.query(`create database ${TEMPLATE} template ${EMPTY_TEMPLATE}`)
  await admin.end()
  await prepareRoles(as('postgres', TEMPLATE), TEMPLATE)
  await seedTemplate((role) => as(role, TEMPLATE))
  const connections = Object.fromEntries(roleNames.map((role) => [role, as(role, TEMPLATE)]))
  // Set by `npm run acceptance -- pgbouncer`: those who serve then come through it, operator and migrations directly as ever.
  const program = process.env['PROBITY_TEST_BOUNCER']
  const serving = servingRoles.map((role) => connections[role] as Connection)
  const bouncer = program ? await startPgBouncer(program, dataDir, serving) : undefined
  if (bouncer) for (const one of serving) connections[one.user] = { ...bouncer.through(one) }
  project.provide('connections', connections as never)
  project.provide('prepared', process.env['PROBITY_TEST_PREPARED'] !== 'off')
  return async () => {
    await bouncer?.stop()
    await embedded.stop()
    fs.rmSync(dataDir, { recursive: true, force: true })
  }
}

/** The same passwords, derived with one round of hashing: thousands of connections are opened in a run. */
async function shortenSignIn(admin: pg.Client, as: (role: RoleName, database: string) => pg.ClientConfig) {
  await admin.query('set scram_iterations = 1')
  for (const role of roleNames) {
    const { password } = as(role, 'postgres')
    await admin.query(`alter role ${role} password ${pg.escapeLiteral(password as string)}`)
  }
}

async function prepareRoles(superuser: pg.ClientConfig, database: string): Promise<void> {
  const client = new pg.Client(superuser)
  await client.connect()
  await client.query(rolesSql({ database }))
  await client.end()
}

async function seedTemplate(as: (role: RoleName) => pg.ClientConfig): Promise<void> {
  const connect = (role: RoleName) =>
    new Database({ connection: as(role), max: 2, prepared: false, statement_timeout_ms: 60_000, wait_ms: 60_000 })
  const app = connect('app')
  const steward = connect('steward')
  const context = { app, steward, keyring: createKeyring(TEST_MASTER_KEY), modules, project_root: projectRoot }
  await seed(context, { demo: true })
  // A template may not be in use while it is cloned.
  await Promise.all([app.end(), steward.end()])
}
