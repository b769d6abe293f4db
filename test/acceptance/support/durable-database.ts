/** The setup of job runs: a durable embedded PostgreSQL of their own, migrated and seeded, with the table of the demo jobs. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { type Role, startEmbedded } from '#app/embedded/launcher.ts'
import { modules } from '#app/modules.ts'
import { readProject, readProjectMigrations } from '#app/project.ts'
import { createTenant, type SeedContext, seed } from '#app/seed.ts'
import { migrate } from '#kernel/database/migrations.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import { createKeyring, type FileKeyring } from '#kernel/encryption/keyring.ts'
import { JobQueue } from '#kernel/job/queue.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { createEffectTable, demoJobs } from '#test/support/demo-jobs.ts'

export const ACCEPTANCE_MASTER_KEY = Buffer.alloc(32, 7)

export interface DurableDatabase {
  connection(role: Role): pg.PoolConfig
  /** As superuser, who bypasses tenant isolation: a run compares what is stored. */
  call<R extends object>(sql: string, values?: readonly unknown[]): Promise<R[]>
  makeTenants(count: number): Promise<string[]>
  enqueue(tenant_id: string, kind: string, payloads: readonly object[]): Promise<string[]>
  readonly seedContext: SeedContext & {
    readonly app: Database
    readonly steward: Database
    readonly keyring: FileKeyring
  }
  stop(): Promise<void>
}

export async function startDurableDatabase(): Promise<DurableDatabase> {
  const project = readProject()
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-acceptance-'))
  const embedded = await startEmbedded({ dataDir, projectRoot: project.root, durable: true, maxConnections: 200 })
  const connection = (role: Role): pg.PoolConfig => ({ ...embedded.url(role) })
  const connect = (role: 'app' | 'steward') =>
    new Database({
      connection: connection(role),
      max: 8,
      prepared: true,
      statement_timeout_ms: 15_000,
      wait_ms: 10_000,
    })
  const app = connect('app')
  const steward = connect('steward')
  const admin = new pg.Pool({ ...connection('postgres'), max: 3 })
  // The server ends idle connections when it stops.
  admin.on('error', () => {})
  const stop = async () => {
    await Promise.allSettled([app.end(), steward.end(), admin.end()])
    await embedded.stop()
    fs.rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    await migrate(connection('migrator'), readProjectMigrations(project))
    const context = { app, steward, keyring: createKeyring(ACCEPTANCE_MASTER_KEY), modules, project_root: project.root }
    await seed(context, { demo: false })
    await createEffectTable(connection('migrator'))
    const queue = new JobQueue(demoJobs)
    return {
      connection,
      seedContext: context,
      call: async (sql, values = []) => (await admin.query(sql, [...values])).rows,
      makeTenants: async (count) => {
        const tenants = Array.from({ length: count }, () => uuidv7())
        for (const tenant_id of tenants) {
          const slug = `acceptance-${tenant_id.slice(-12)}`
          await createTenant(
            context,
            { tenant_id, slug, name: slug, demo: false, four_eyes: false },
            'operator:acceptance',
          )
        }
        return tenants
      },
      enqueue: (tenant_id, kind, payloads) =>
        app.write(fullScope(tenant_id, 'operator:acceptance'), async (tx) => {
          const ids: string[] = []
          for (const payload of payloads) ids.push((await queue.enqueue(tx, { kind, payload })).job_id)
          return ids
        }),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
