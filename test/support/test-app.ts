/** A running Probity for one test file: its own database cloned from the template, the real server, fresh tenants, real tokens. */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { installAssets } from '#app/assets.ts'
import type { ConfiguredIssuer } from '#app/issuers.ts'
import { modules } from '#app/modules.ts'
import { createRuntime, type Runtime } from '#app/runtime.ts'
import { createTenant, demoTenants } from '#app/seed.ts'
import { type DemoSignIn, findDemoSignIn } from '#kernel/auth/demo-sign-in.ts'
import { roles as allRoles, type Role } from '#kernel/auth/roles.ts'
import { latestVersion, readMigrations } from '#kernel/database/migrations.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import type { EgressSettings } from '#kernel/egress/settings.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import type { ErasureLedger } from '#kernel/erasure/ledger.ts'
import type { HttpServer } from '#kernel/http/server.ts'
import type { JobKind } from '#kernel/job/kind.ts'
import { createSilentLog, type Log } from '#kernel/log.ts'
import type { ScannerAddress } from '#kernel/malware-scanner.ts'
import type { Module } from '#kernel/module.ts'
import type { PluginPolicy } from '#kernel/plugin-policy.ts'
import { ThreadAdmission } from '#kernel/thread-admission.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { WorkerThreads } from '#kernel/worker-threads.ts'
import { insertUser } from '#modules/access/index.ts'
import { updateApprovalRules } from './approval-rules.ts'
import { createCaller } from './caller.ts'
import { projectRoot, type RoleName, TEMPLATE, TEST_MASTER_KEY } from './database.ts'
import { createMemoryLedger } from './memory-ledger.ts'
import { countResource } from './resource-counts.ts'
import { threadsDir } from './threads.ts'

export interface TestAppOptions {
  readonly jobs?: readonly JobKind[]
  readonly modules?: readonly Module[]
  readonly log?: Log
  readonly issuers?: readonly ConfiguredIssuer[]
  readonly egress?: EgressSettings
  readonly plugin_policy?: PluginPolicy
  readonly scanner?: ScannerAddress
  readonly pool_size?: number
  readonly wait_ms?: number
  readonly prepared?: boolean
  readonly upload_max_bytes?: number
  /** In memory unless given. */
  readonly erasureLedger?: ErasureLedger | null
  readonly backup_days?: number
  readonly heavy_threads?: number
  readonly preview_max_rows?: number
  readonly preview_time_limit_ms?: number
  readonly cors_origins?: readonly string[]
  readonly trusted_proxies?: number
  /** On, for callers on this machine, unless given. */
  readonly demoSignIn?: DemoSignIn | null
  readonly scripts_dir?: string
  /** http://localhost unless given; null: the server does not know its own address. */
  readonly public_url?: string | null
}

export interface CallOptions {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly payload?: string | Buffer
  /** Where the call comes from, for limits per address. */
  readonly address?: string
}

interface Caller {
  readonly tenant_id?: string
  readonly roles?: readonly Role[]
  readonly principal?: `user:${string}` | `key:${string}`
  readonly lifetime_s?: number
  readonly name?: string
}

export interface Reply {
  readonly status: number
  readonly headers: Record<string, string | string[] | number | undefined>
  readonly text: string
  readonly bytes: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into replies whose shape they assert.
  readonly json: any
}

const localDemoSignIn = findDemoSignIn(
  { demo: true, demo_remote: false, host: 'localhost', public_url: null, trusted_proxies: 0 },
  demoTenants,
)

/** Read once per worker: the migrations do not change during a run. */
const schema_version = latestVersion(readMigrations(path.join(projectRoot, 'db/migrations')))

/** The same number on every machine: what waits for a thread must not depend on its cores. */
const HEAVY_THREADS = 4

let sharedThreads: WorkerThreads | undefined

/** Starting a thread compiles its script, so the apps of a worker process share them, one app after the other. */
function chooseThreads({ heavy_threads, scripts_dir }: TestAppOptions) {
  if (heavy_threads !== undefined || scripts_dir !== undefined)
    return { heavy_threads: heavy_threads ?? HEAVY_THREADS, scripts_dir: scripts_dir ?? threadsDir }
  sharedThreads ??= new WorkerThreads(new ThreadAdmission({ threads: HEAVY_THREADS }), threadsDir)
  return { threads: sharedThreads }
}

/** Clones the template; connections for every role. */
export async function cloneDatabase(): Promise<Record<RoleName, pg.ClientConfig> & { drop(): Promise<void> }> {
  const template = inject('connections')
  const database = `t_${randomUUID().replaceAll('-', '')}`
  const admin = async (sql: string) => {
    const client = new pg.Client({ ...template.postgres, database: 'postgres' })
    await client.connect()
    try {
      await client.query(sql)
    } finally {
      await client.end()
    }
  }
  countResource('database')
  await admin(`create database ${database} template ${TEMPLATE} strategy file_copy owner app_owner`)
  await admin(`grant connect on database ${database} to app, worker, steward, migrator`)
  const configs = Object.fromEntries(Object.entries(template).map(([role, config]) => [role, { ...config, database }]))
  return {
    ...(configs as Record<RoleName, pg.ClientConfig>),
    drop: () => admin(`drop database ${database} with (force)`),
  }
}

export async function startTestApp(options: TestAppOptions = {}) {
  const clone = await cloneDatabase()
  const keyring = createKeyring(TEST_MASTER_KEY)
  const runtime: Runtime = await createRuntime({
    connections: { app: clone.app, worker: clone.worker },
    keyring,
    build: { version: '0.0.0-test', commit: null, node: process.version, schema_version },
    log: options.log ?? createSilentLog(),
    issuers: options.issuers ?? [],
    ...(options.egress && { egress: options.egress }),
    ...(options.plugin_policy && { plugin_policy: options.plugin_policy }),
    ...(options.scanner && { scanner: options.scanner }),
    demoSignIn: options.demoSignIn === undefined ? localDemoSignIn : options.demoSignIn,
    public_url: options.public_url === undefined ? 'http://localhost' : options.public_url,
    cors_origins: options.cors_origins ?? [],
    trusted_proxies: options.trusted_proxies ?? 0,
    pool_size: options.pool_size ?? 6,
    prepared_statements: (options.prepared ?? true) && inject('prepared'),
    statement_timeout_ms: 60_000,
    // A busy machine is no reason for a test to fail; the limit itself is tested where it belongs.
    wait_ms: options.wait_ms ?? 60_000,
    readiness_timeout_ms: 60_000,
    upload_max_bytes: options.upload_max_bytes ?? 16 * 1024 * 1024,
    erasureLedger: options.erasureLedger === undefined ? createMemoryLedger() : options.erasureLedger,
    ...(options.backup_days !== undefined && { backup_days: options.backup_days }),
    ...chooseThreads(options),
    ...(options.preview_max_rows !== undefined && { preview_max_rows: options.preview_max_rows }),
    ...(options.preview_time_limit_ms !== undefined && { preview_time_limit_ms: options.preview_time_limit_ms }),
    strict: true,
    assets: (app) => installAssets(app, projectRoot),
    ...(options.modules && { modules: options.modules }),
    ...(options.jobs && { extra_jobs: options.jobs }),
  })
  const steward = new Database({
    connection: clone.steward,
    max: 2,
    prepared: false,
    statement_timeout_ms: 60_000,
    wait_ms: 60_000,
  })
  const server: HttpServer = await runtime.createServer()
  const seedContext = { app: runtime.database, steward, keyring, modules, project_root: projectRoot }

  const makeTenant = async (settings: { four_eyes?: boolean } = {}): Promise<string> => {
    const tenant_id = uuidv7()
    const slug = `t-${tenant_id.slice(-12)}`
    const four_eyes = settings.four_eyes ?? false
    await createTenant(
      seedContext,
      { tenant_id, slug, name: `Tenant ${slug}`, demo: false, four_eyes },
      'operator:test',
    )
    return tenant_id
  }
  const mint = async (tenant_id: string, who: Caller) => {
    const minted = await runtime.kernel.issuer.mint({
      tenant_id,
      principal: who.principal ?? `user:${uuidv7()}`,
      roles: who.roles ?? allRoles,
      lifetime_s: who.lifetime_s ?? 3600,
      name: who.name ?? 'Test Person',
    })
    return minted.token
  }

  /** The tenant used when a test does not name one, and tokens for it. */
  const createOwnTenant = () => {
    let ownTenant: Promise<string> | undefined
    const tenant = (): Promise<string> => (ownTenant ??= makeTenant())
    return { tenant, token: async (who: Caller = {}) => mint(who.tenant_id ?? (await tenant()), who) }
  }

  /** A person of the tenant with a row and a token. */
  const person = async (tenant_id: string, held: readonly Role[]) => {
    const user_id = uuidv7()
    await runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
      insertUser(tx, {
        user_id,
        issuer: runtime.kernel.issuer.issuer,
        subject: `user:${user_id}`,
        email: `${user_id}@example.com`,
        name: 'Test Person',
        team: null,
        locale: null,
        roles: held,
        origin: 'built_in',
        state: 'active',
      }),
    )
    const principal = `user:${user_id}` as const
    return { user_id, principal, token: await mint(tenant_id, { principal, roles: held }) }
  }

  /** Sets the approval policy without the checks of the API. */
  const setApprovalRules = (tenant_id: string, rules: readonly object[]) =>
    runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) => updateApprovalRules(tx, tenant_id, rules))

  let address: Promise<string> | undefined

  return {
    runtime,
    kernel: runtime.kernel,
    server,
    clone,
    steward,
    seedContext,
    ...createOwnTenant(),
    createOwnTenant,
    makeTenant,
    person,
    setApprovalRules,
    call: createCaller(server),
    listen: () => {
      address ??= server.listen(0, '127.0.0.1').then((port) => `http://127.0.0.1:${port}`)
      return address
    },
    close: async () => {
      await server.close()
      await runtime.close()
      await steward.end()
      await clone.drop()
    },
  }
}

export type TestApp = Awaited<ReturnType<typeof startTestApp>>

let sharedApp: Promise<TestApp> | undefined

/**
 * For test files that look at nothing but tenants of their own: those of one worker process share an app, whose connections know
 * the statements already. What a file needs of the process itself (settings, workers, metrics, the database) takes an app of its own.
 */
export async function shareTestApp(): Promise<TestApp> {
  sharedApp ??= startTestApp()
  const app = await sharedApp
  // It ends with the process; its database goes with the server of the run.
  return { ...app, ...app.createOwnTenant(), close: async () => {} }
}
