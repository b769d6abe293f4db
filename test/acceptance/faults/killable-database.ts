/**
 * The setup of fault runs: a durable PostgreSQL of their own that can be killed and started again, migrated and
 * seeded, with tenants and tokens. Services reach it by role URLs, as on a server that is not ours.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { type EmbeddedServer, type Role, startEmbedded } from '#app/embedded/launcher.ts'
import { modules } from '#app/modules.ts'
import { readProject, readProjectMigrations } from '#app/project.ts'
import { createTenant, seed } from '#app/seed.ts'
import { createBuiltInIssuer } from '#kernel/auth/built-in-issuer.ts'
import { roles } from '#kernel/auth/roles.ts'
import { migrate } from '#kernel/database/migrations.ts'
import { Database } from '#kernel/database/tx.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { uuidv7 } from '#kernel/uuid.ts'

const MASTER_KEY = Buffer.alloc(32, 7)

export interface KillableDatabase {
  /** Everything a service process needs to know of it. */
  readonly env: Readonly<Record<string, string>>
  readonly tenants: readonly { readonly tenant_id: string; readonly token: string }[]
  /** As superuser, who bypasses tenant isolation: a run compares what is stored. */
  ask<R extends object>(sql: string, values?: readonly unknown[]): Promise<R[]>
  /** The server dies at once, as by a failure of its machine; SIGQUIT is its own immediate stop. */
  killServer(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void>
  startServer(): Promise<void>
  stop(): Promise<void>
}

function urlOf({ host, user, password, database }: ReturnType<EmbeddedServer['url']>): string {
  return `postgres://${user}:${encodeURIComponent(password)}@localhost/${database}?host=${encodeURIComponent(host)}`
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // In a container without an init nobody buries what its parent left behind.
  return !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

export async function startKillableDatabase(tenantCount: number): Promise<KillableDatabase> {
  const project = readProject()
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-acceptance-'))
  const start = () => startEmbedded({ dataDir, projectRoot: project.root, durable: true, maxConnections: 150 })
  let embedded = await start()
  const connection = (role: Role): pg.PoolConfig => ({ ...embedded.url(role) })
  const ask: KillableDatabase['ask'] = async (sql, values = []) => {
    const client = new pg.Client(connection('postgres'))
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(sql, [...values])).rows
    } finally {
      await client.end()
    }
  }
  const stop = async () => {
    await embedded.stop()
    fs.rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  try {
    await migrate(connection('migrator'), readProjectMigrations(project))
    const tenants = await createTenants(connection, project.root, tenantCount)
    const keyFile = path.join(dataDir, 'acceptance.key')
    fs.writeFileSync(keyFile, MASTER_KEY.toString('hex'), { mode: 0o600 })
    const inherited = Object.entries(process.env).filter(([name]) => !/^PROBITY_|DATABASE_URL$/.test(name))
    return {
      env: {
        ...(Object.fromEntries(inherited) as Record<string, string>),
        NODE_ENV: 'development',
        PROBITY_DEMO: 'off',
        PROBITY_METRICS_PORT: '0',
        PROBITY_LOG_LEVEL: 'warn',
        PROBITY_MASTER_KEY_FILE: keyFile,
        DATABASE_URL: urlOf(embedded.url('app')),
        WORKER_DATABASE_URL: urlOf(embedded.url('worker')),
        STEWARD_DATABASE_URL: urlOf(embedded.url('steward')),
      },
      tenants,
      ask,
      killServer: async (signal) => {
        const file = path.join(dataDir, 'pg/postmaster.pid')
        const pid = Number(fs.readFileSync(file, 'utf8').split('\n')[0])
        process.kill(pid, signal)
        while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5))
      },
      startServer: async () => {
        const before = embedded
        embedded = await start()
        // Its server is gone; this only lets go of the dead connection.
        await before.stop().catch(() => {})
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function createTenants(connection: (role: Role) => pg.PoolConfig, root: string, count: number) {
  const connect = (role: 'app' | 'steward') =>
    new Database({
      connection: connection(role),
      max: 4,
      prepared: false,
      statement_timeout_ms: 15_000,
      wait_ms: 10_000,
    })
  const [app, steward] = [connect('app'), connect('steward')]
  try {
    const keyring = createKeyring(MASTER_KEY)
    const context = { app, steward, keyring, modules, project_root: root }
    await seed(context, { demo: false })
    const issuer = createBuiltInIssuer(app, keyring)
    const tenants: { tenant_id: string; token: string }[] = []
    for (let n = 0; n < count; n++) {
      const tenant_id = uuidv7()
      const slug = `acceptance-${tenant_id.slice(-12)}`
      await createTenant(context, { tenant_id, slug, name: slug, demo: false, four_eyes: false }, 'operator:acceptance')
      const holder = { tenant_id, principal: `user:${uuidv7()}`, roles, lifetime_s: 12 * 3600 } as const
      tenants.push({ tenant_id, token: (await issuer.mint(holder)).token })
    }
    return tenants
  } finally {
    await Promise.all([app.end(), steward.end()])
  }
}
