/** The parts of a running process, put together from configuration and connections. */
import { AuditChainWriter, SCAN_EVERY_MS } from '#kernel/audit/chain-writer.ts'
import { getToolResource } from '#kernel/auth/protected-resource.ts'
import { roles } from '#kernel/auth/roles.ts'
import { createTokenVerifier, verifiedTokens } from '#kernel/auth/token-verifier.ts'
import { declareConstraints } from '#kernel/database/failures.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { ConnectionConfig } from '#kernel/database/servers.ts'
import { Database } from '#kernel/database/tx.ts'
import type { Keyring } from '#kernel/encryption/keyring.ts'
import { createCors } from '#kernel/http/response-headers.ts'
import { createServer, type HttpServer } from '#kernel/http/server.ts'
import { type IntegrityKeys, loadIntegrityKeys } from '#kernel/integrity/keys.ts'
import { JobRunner } from '#kernel/job/runner.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { Metrics } from '#kernel/metrics.ts'
import type { Module } from '#kernel/module.ts'
import type { ProcessKind } from '#kernel/process/queries.ts'
import { ProcessRegistry } from '#kernel/process/registry.ts'
import { TenantScanner } from '#kernel/tenant-scan.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { createUserProvisioning, UsageCounter } from '#modules/access/index.ts'
import { createToolProtocolCheck } from '#modules/mcp/index.ts'
import { countStatuses } from '#modules/plugins/index.ts'
import { createKernel } from './create-kernel.ts'
import { ErasureGuard } from './erasures/erasure-guard.ts'
import { createLedgerCheck } from './erasures/ledger-check.ts'
import { tuneGarbageCollector } from './garbage-collection.ts'
import { buildTrustedIssuers } from './issuers.ts'
import { modules as allModules } from './modules.ts'
import { createReadinessChecks, type PluginCounts } from './readiness.ts'
import { addRuntimeMetrics } from './runtime-metrics.ts'
import type { RuntimeOptions } from './runtime-options.ts'

/** A request that waits longer than this for a connection fails with 503. */
const WAIT_MS = 2000
/** So many requests can be served within that time if each takes 40 ms, which is far more than most take. */
const WAITING_PER_CONNECTION = 50
const USAGE_EVERY_MS = 5000
/** A heartbeat must not wait for a claim: two are needed, and the semaphore gives one tenant, here the system, half of them. */
const QUEUE_CONNECTIONS = 4
/** The semaphore gives one tenant half of them. */
const COUNTING_CONNECTIONS = 2

export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  tuneGarbageCollector()
  const modules = options.modules ?? allModules
  for (const module of modules) declareConstraints(module.constraints ?? {})
  const database = connect(options, options.connections.app, options.pool_size)
  const integrity = options.integrity ?? (await loadKeysOrClose(database, options.keyring))
  return new Runtime(options, { modules, database, integrity })
}

interface RuntimeParts {
  readonly modules: readonly Module[]
  readonly database: Database
  readonly integrity: IntegrityKeys
}

export class Runtime {
  readonly database: Database
  readonly metrics = new Metrics()
  readonly kernel: Kernel
  /** Started by processes that serve requests. */
  readonly erasureGuard: ErasureGuard
  readonly #options: RuntimeOptions
  readonly #usage = new UsageCounter()
  readonly #flushTimer: NodeJS.Timeout
  #server: HttpServer | undefined
  #queue: Database | undefined
  #counting: Database | undefined
  #processes: ProcessRegistry | undefined
  #chainWriter: AuditChainWriter | undefined

  constructor(options: RuntimeOptions, parts: RuntimeParts) {
    const { database } = parts
    this.#options = options
    this.database = database
    const ledger = options.erasureLedger ?? null
    this.erasureGuard = new ErasureGuard(
      (onUnerased) => createLedgerCheck(ledger, database, () => this.#connectEverywhere(), onUnerased),
      options.log,
    )
    const readinessChecks = createReadinessChecks({
      database,
      expected_schema: options.build.schema_version,
      isDraining: () => this.#server?.isDraining ?? false,
      ...(options.readiness_timeout_ms !== undefined && { timeout_ms: options.readiness_timeout_ms }),
      countPlugins: () => this.#countPlugins(),
      checkToolProtocol: createToolProtocolCheck(() => this.kernel),
      checkErasures: this.erasureGuard.check,
    })
    this.kernel = createKernel(options, { ...parts, metrics: this.metrics, readinessChecks })
    addRuntimeMetrics(this.metrics, {
      database,
      threads: this.kernel.threads.admission,
      keyring: options.keyring,
      log: options.log,
      getQueue: () => this.#queue,
      getChainWriter: () => this.#chainWriter,
      countPlugins: () => this.#countPlugins(),
    })
    this.#flushTimer = setInterval(() => {
      this.flushUsage().catch((error) => options.log.warn({ err: error }, 'failed to flush usage of keys and accounts'))
    }, USAGE_EVERY_MS)
    this.#flushTimer.unref()
  }

  async createServer(): Promise<HttpServer> {
    const { kernel, metrics, database } = this
    const { strict, trusted_proxies, cors_origins, pool_size, assets, issuers } = this.#options
    const verifier = createTokenVerifier({
      issuers: buildTrustedIssuers(issuers, () => kernel.issuer.publicKeys()),
      tool_resource: getToolResource(kernel.public_url),
      knownRoles: new Set<string>(roles),
      cache: kernel.caches.get(verifiedTokens),
      egress: kernel.egress,
      on_key_failure: (issuer, error) => {
        if (issuer !== kernel.issuer.issuer)
          kernel.log.warn({ issuer, err: error }, 'failed to fetch the keys of an issuer')
      },
    })
    const { tenantStatusCache, limits } = kernel
    this.#server = await createServer({
      kernel,
      metrics,
      strict,
      trusted_proxies,
      cors: createCors(cors_origins),
      assertServable: (tenant_id) => this.erasureGuard.assertErased(tenant_id),
      isOverloaded: () => database.semaphore.waiting >= pool_size * WAITING_PER_CONNECTION,
      onRequestFinished: (request) => this.#usage.observe(request),
      ...(assets && { assets }),
      authentication: { verifier, tenantStatusCache, limits, onFirstLogin: createUserProvisioning(database) },
    })
    return this.#server
  }

  createRunner(slots: number, timing: { lease_ms?: number; heartbeat_ms?: number; poll_ms?: number } = {}): JobRunner {
    const { kernel, metrics } = this
    return new JobRunner({ kernel, queue: this.#connectQueue(), metrics, slots, ...timing })
  }

  /** Registers this process, so that others count it; the caller starts and stops the registry. */
  createProcessRegistry(kind: ProcessKind): ProcessRegistry {
    const { log } = this.#options
    const onServingCount = (count: number) => this.kernel.limits.setProcessCount(count)
    this.#processes = new ProcessRegistry({ transactions: this.database, kind, log, onServingCount })
    return this.#processes
  }

  createChainWriter(change: { transactions?: Pick<Database, 'write'> } = {}): AuditChainWriter {
    this.#chainWriter = new AuditChainWriter({
      transactions: this.database,
      queue: this.#connectQueue(),
      keys: this.kernel.auditKeys,
      log: this.#options.log,
      isTurn: () => this.#processes?.isTurn(SCAN_EVERY_MS) ?? true,
      ...change,
    })
    return this.#chainWriter
  }

  /** One for each scan that a module declares; the caller starts and stops them. */
  createScanners(): TenantScanner[] {
    const { kernel, database } = this
    return kernel.modules
      .flatMap(({ scans = [] }) => scans)
      .map(
        (scan) =>
          new TenantScanner({
            scan,
            transactions: database,
            queue: this.#connectQueue(),
            kernel: {
              auditKeys: kernel.auditKeys,
              caches: kernel.caches,
              encryption: kernel.encryption,
              jobs: kernel.jobs,
              metrics: kernel.metrics,
            },
            log: this.#options.log,
            isTurn: () => this.#processes?.isTurn(scan.every_ms) ?? true,
          }),
      )
  }

  /** As the worker role, which counts over all tenants and sees neither keys nor reasons. */
  async #countPlugins(): Promise<PluginCounts> {
    const counts = await this.#connectEverywhere().one(fullScope(SYSTEM_TENANT, 'operator:readiness'), countStatuses)
    return counts ?? { active: 0, invalid: 0 }
  }

  /** As the worker role. A process that runs no jobs has no connection of this role yet. */
  #connectEverywhere(): Database {
    if (this.#queue) return this.#queue
    this.#counting ??= connect(this.#options, this.#options.connections.worker, COUNTING_CONNECTIONS)
    return this.#counting
  }

  /** Writes what this process has counted since the last time. */
  flushUsage(): Promise<void> {
    return this.#usage.flush(this.database)
  }

  async close(): Promise<void> {
    clearInterval(this.#flushTimer)
    this.erasureGuard.stop()
    const { threads, printing, egress } = this.kernel
    await Promise.all([this.#options.threads ? undefined : threads.close(), printing.pdf.close(), egress.close()])
    await this.flushUsage().catch(() => {})
    await Promise.all([this.database.end(), this.#queue?.end(), this.#counting?.end()])
  }

  #connectQueue(): Database {
    this.#queue ??= connect(this.#options, this.#options.connections.worker, QUEUE_CONNECTIONS)
    return this.#queue
  }
}

const connect = (options: RuntimeOptions, connection: ConnectionConfig, max: number): Database =>
  new Database({
    connection,
    max,
    prepared: options.prepared_statements,
    statement_timeout_ms: options.statement_timeout_ms,
    wait_ms: options.wait_ms ?? WAIT_MS,
    onIdleError: (error) => options.log.warn({ err: error }, 'idle database connection lost'),
  })

async function loadKeysOrClose(database: Database, keyring: Keyring): Promise<IntegrityKeys> {
  try {
    return await loadIntegrityKeys(database, keyring)
  } catch (error) {
    await database.end()
    throw error
  }
}
