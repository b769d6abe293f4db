/** Puts the kernel together from configuration and connections. The only place that knows every part. */
import type { FastifyInstance } from 'fastify'
import { createAlarmReporter } from '#kernel/alarm.ts'
import { createAuditKeys } from '#kernel/audit/chain.ts'
import { AuditChainWriter, SCAN_EVERY_MS } from '#kernel/audit/chain-writer.ts'
import { AUDIENCE, BUILT_IN_ISSUER, createBuiltInIssuer } from '#kernel/auth/built-in-issuer.ts'
import { findTenantStatus } from '#kernel/auth/queries.ts'
import { roles } from '#kernel/auth/roles.ts'
import { TenantStatusCache, tenantStatuses } from '#kernel/auth/tenant-status-cache.ts'
import { createTokenVerifier, type TrustedIssuer, verifiedTokens } from '#kernel/auth/token-verifier.ts'
import { addCacheMetrics } from '#kernel/cache/cache-metrics.ts'
import { CacheSlots } from '#kernel/cache/caches.ts'
import { createCursorCodec } from '#kernel/cursor.ts'
import { declareConstraints } from '#kernel/database/failures.ts'
import type { ConnectionConfig } from '#kernel/database/servers.ts'
import { Database } from '#kernel/database/tx.ts'
import type { Keyring } from '#kernel/encryption.ts'
import { createCors } from '#kernel/http/response-headers.ts'
import { createServer, type HttpServer, type NotFoundFallback } from '#kernel/http/server.ts'
import { type IntegrityKeys, loadIntegrityKeys } from '#kernel/integrity/keys.ts'
import type { JobKind } from '#kernel/job/kind.ts'
import { JobQueue } from '#kernel/job/queue.ts'
import { JobRunner } from '#kernel/job/runner.ts'
import { type BuildInfo, type Kernel, pickCapabilities } from '#kernel/kernel.ts'
import { Limits } from '#kernel/limits.ts'
import type { Log } from '#kernel/log.ts'
import { Metrics } from '#kernel/metrics.ts'
import type { Module } from '#kernel/module.ts'
import { buildOpenapiDocument } from '#kernel/openapi.ts'
import type { ProcessKind } from '#kernel/process/queries.ts'
import { ProcessRegistry } from '#kernel/process/registry.ts'
import { runChecks } from '#kernel/readiness.ts'
import { ChangeReviews } from '#kernel/request/change-reviews.ts'
import type { Route } from '#kernel/route.ts'
import { defaultThreads, ThreadAdmission } from '#kernel/thread-admission.ts'
import { WorkerThreads } from '#kernel/worker-threads.ts'
import { createUserProvisioning, KeyUsageCounter } from '#modules/access/index.ts'
import { tuneGarbageCollector } from './garbage-collection.ts'
import type { ConfiguredIssuer } from './issuers.ts'
import { modules as allModules } from './modules.ts'
import { queueGauges, readQueueGauges } from './queue-gauges.ts'
import { createReadinessChecks } from './readiness.ts'

export interface RuntimeOptions {
  readonly connections: { readonly app: ConnectionConfig; readonly worker: ConnectionConfig }
  readonly keyring: Keyring
  /** Read from the database unless given. */
  readonly integrity?: IntegrityKeys
  readonly build: BuildInfo
  readonly log: Log
  readonly issuers: readonly ConfiguredIssuer[]
  readonly public_url: string | null
  readonly cors_origins: readonly string[]
  readonly trusted_proxies: number
  readonly pool_size: number
  readonly prepared_statements: boolean
  readonly statement_timeout_ms: number
  readonly wait_ms?: number
  readonly upload_max_bytes: number
  /** Threads that run heavy work at once; one less than there are cores unless said otherwise. */
  readonly heavy_threads?: number
  readonly preview_max_rows?: number
  readonly preview_time_limit_ms?: number
  /** Replies are checked against their declaration, undeclared problems are errors: on in tests. */
  readonly strict: boolean
  readonly modules?: readonly Module[]
  readonly extra_jobs?: readonly JobKind[]
  readonly assets?: (app: FastifyInstance) => Promise<NotFoundFallback>
  /** Where the scripts of worker threads are; beside the bundle unless said otherwise. */
  readonly scripts_dir?: string
}

export interface Runtime {
  readonly kernel: Kernel
  readonly database: Database
  readonly metrics: Metrics
  createServer(): Promise<HttpServer>
  createRunner(slots: number, timing?: { lease_ms?: number; heartbeat_ms?: number; poll_ms?: number }): JobRunner
  /** Makes this process known to the others; the caller starts and stops it. */
  createProcessRegistry(kind: ProcessKind): ProcessRegistry
  createChainWriter(change?: { transactions?: Pick<Database, 'write'> }): AuditChainWriter
  close(): Promise<void>
}

/** Who finds no free connection for longer than this is told that the service is busy. */
const WAIT_MS = 2000
/** So many can be answered within that time where each takes up to forty milliseconds; most takes far less. */
const WAITING_PER_CONNECTION = 50
const USAGE_EVERY_MS = 5000
const PREVIEW_MAX_ROWS = 1_000_000
const PREVIEW_TIME_LIMIT_MS = 10_000
/** A heartbeat must not wait for a claim: two are used, since the gate gives one tenant, here the system's, half of them. */
const QUEUE_CONNECTIONS = 4

export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  tuneGarbageCollector()
  const modules = options.modules ?? allModules
  const { log, keyring } = options
  for (const module of modules) declareConstraints(module.constraints ?? {})
  const connect = (connection: ConnectionConfig, max: number) =>
    new Database({
      connection,
      max,
      prepared: options.prepared_statements,
      statement_timeout_ms: options.statement_timeout_ms,
      wait_ms: options.wait_ms ?? WAIT_MS,
      onIdleError: (error) => log.warn({ err: error }, 'idle database connection lost'),
    })
  const database = connect(options.connections.app, options.pool_size)
  const integrity = options.integrity ?? (await loadKeysOrClose(database, keyring))
  let queue: Database | undefined
  let sealer: AuditChainWriter | undefined
  let processes: ProcessRegistry | undefined
  const metrics = new Metrics()
  metrics.addGauge(
    'probity_database_connections_in_use',
    'Connections held by requests and jobs.',
    () => database.semaphore.inUse,
  )
  metrics.addGauge('probity_database_waiting', 'Requests waiting for a connection.', () => database.semaphore.waiting)
  metrics.addGauges(queueGauges, async () => {
    try {
      return queue ? await readQueueGauges(queue, sealer) : []
    } catch (error) {
      // A database that is down must not take the other metrics with it.
      log.warn({ err: error }, 'failed to read queue depth')
      return []
    }
  })
  const admission = new ThreadAdmission({ threads: options.heavy_threads ?? defaultThreads() })
  const threads = new WorkerThreads(admission, options.scripts_dir ?? import.meta.dirname)
  const caches = new CacheSlots()
  addCacheMetrics(metrics, caches)
  metrics.addGauge('probity_heavy_threads_running', 'Worker threads that run heavy work.', () => admission.running)
  metrics.addGauge('probity_heavy_threads_waiting', 'Heavy work that waits for a thread.', () => admission.waiting)
  const issuer = createBuiltInIssuer(database, keyring)
  const trusted = buildTrustedIssuers(options.issuers, () => issuer.publicKeys())
  const routes = modules.flatMap((module) => module.routes)
  const routesById = new Map(routes.map((route) => [route.id, route]))
  if (routesById.size !== routes.length) throw new Error('two routes share an operation id')
  let server: HttpServer | undefined
  const checks = createReadinessChecks({
    database,
    expected_schema: options.build.schema_version,
    isDraining: () => server?.isDraining ?? false,
  })
  let document: Record<string, unknown> | undefined

  const kernel: Kernel = {
    build: options.build,
    transactions: database,
    caches,
    cursors: createCursorCodec(integrity.current('cursor')),
    integrity,
    auditKeys: createAuditKeys(integrity),
    jobs: new JobQueue([...modules.flatMap((module) => module.jobs), ...(options.extra_jobs ?? [])]),
    limits: new Limits(),
    threads,
    preview_limits: {
      max_rows: options.preview_max_rows ?? PREVIEW_MAX_ROWS,
      time_limit_ms: options.preview_time_limit_ms ?? PREVIEW_TIME_LIMIT_MS,
    },
    tenantStatusCache: new TenantStatusCache(caches.get(tenantStatuses), (tenant_id, epoch) =>
      database.one({ tenant_id, actor: 'operator:standing' }, (tx) => findTenantStatus(tx, epoch)),
    ),
    issuer,
    modules,
    routes,
    reviews: new ChangeReviews(modules, (uses) => pickCapabilities(kernel, uses)),
    log,
    raiseAlarm: createAlarmReporter(log, metrics),
    upload_max_bytes: options.upload_max_bytes,
    public_url: options.public_url,
    issuers: [
      { issuer: issuer.issuer, built_in: true },
      ...options.issuers.map(({ issuer: name, sign_in }) => ({
        issuer: name,
        built_in: false,
        ...(sign_in && { sign_in }),
      })),
    ],
    openapi: () => (document ??= buildOpenapiDocument(modules, options.build.version, options.public_url)),
    readiness: () => runChecks(checks),
    executeOperation: (operation, input) => {
      const route = routesById.get(operation) as Route
      return route.handle({ ...input, kernel: pickCapabilities(kernel, route.uses) })
    },
  }

  const usage = new KeyUsageCounter()
  const flushTimer = setInterval(() => {
    usage.flush(database).catch((error) => log.warn({ err: error }, 'failed to flush API key usage'))
  }, USAGE_EVERY_MS)
  flushTimer.unref()

  return {
    kernel,
    database,
    metrics,
    createServer: async () => {
      server = await createServer({
        kernel,
        metrics,
        strict: options.strict,
        trusted_proxies: options.trusted_proxies,
        cors: createCors(options.cors_origins),
        isOverloaded: () => database.semaphore.waiting >= options.pool_size * WAITING_PER_CONNECTION,
        onRequestFinished: (facts) => usage.observe(facts),
        ...(options.assets && { assets: options.assets }),
        authentication: {
          verifier: createTokenVerifier({
            issuers: trusted,
            knownRoles: new Set<string>(roles),
            cache: caches.get(verifiedTokens),
          }),
          tenantStatusCache: kernel.tenantStatusCache,
          limits: kernel.limits,
          onFirstLogin: createUserProvisioning(database),
        },
      })
      return server
    },
    createRunner: (slots, timing = {}) => {
      queue ??= connect(options.connections.worker, QUEUE_CONNECTIONS)
      return new JobRunner({ kernel, queue, metrics, slots, ...timing })
    },
    createProcessRegistry: (kind) => {
      const onServing = (count: number) => kernel.limits.setProcessCount(count)
      processes = new ProcessRegistry({ transactions: database, kind, log, onServingCount: onServing })
      return processes
    },
    createChainWriter: (change = {}) => {
      queue ??= connect(options.connections.worker, QUEUE_CONNECTIONS)
      const isTurn = () => processes?.isTurn(SCAN_EVERY_MS) ?? true
      sealer = new AuditChainWriter({ transactions: database, queue, keys: kernel.auditKeys, log, isTurn, ...change })
      return sealer
    },
    close: async () => {
      clearInterval(flushTimer)
      await threads.close()
      await usage.flush(database).catch(() => {})
      await Promise.all([database.end(), queue?.end()])
    },
  }
}

async function loadKeysOrClose(database: Database, keyring: Keyring): Promise<IntegrityKeys> {
  try {
    return await loadIntegrityKeys(database, keyring)
  } catch (error) {
    await database.end()
    throw error
  }
}

function buildTrustedIssuers(
  configured: readonly ConfiguredIssuer[],
  jwks: () => Promise<never[] | object[]>,
): TrustedIssuer[] {
  return [
    {
      issuer: BUILT_IN_ISSUER,
      audience: AUDIENCE,
      algorithms: ['ES256', 'EdDSA'],
      tenants: '*',
      tenant_claim: 'tenant_id',
      roles_claim: 'roles',
      role_map: null,
      keys: { kind: 'static', jwks: jwks as never },
      built_in: true,
    },
    ...configured.map((issuer) => ({ ...issuer, built_in: false })),
  ]
}
