/** Assembles the kernel. The only place that knows all of its members. */
import path from 'node:path'
import { createAlarmReporter } from '#kernel/alarm.ts'
import { createAuditKeys } from '#kernel/audit/chain.ts'
import { createBuiltInIssuer } from '#kernel/auth/built-in-issuer.ts'
import { findTenantStatus } from '#kernel/auth/queries.ts'
import { TenantStatusCache, tenantStatuses } from '#kernel/auth/tenant-status-cache.ts'
import { addCacheMetrics } from '#kernel/cache/cache-metrics.ts'
import { CacheSlots } from '#kernel/cache/caches.ts'
import { createCursorCodec } from '#kernel/cursor.ts'
import { unrestrictedScope } from '#kernel/database/scope.ts'
import type { Database } from '#kernel/database/tx.ts'
import { createEgress } from '#kernel/egress/egress.ts'
import { TenantKeys, tenantKeyCache } from '#kernel/encryption/tenant-keys.ts'
import { createValueEncryption } from '#kernel/encryption/value-encryption.ts'
import { OperationCaller } from '#kernel/http/operation-caller.ts'
import { cacheTenantKeys, type IntegrityKeys, integrityKeyCache } from '#kernel/integrity/keys.ts'
import { JobQueue } from '#kernel/job/queue.ts'
import { type Kernel, pickCapabilities } from '#kernel/kernel.ts'
import { Limits } from '#kernel/limits.ts'
import { createMalwareScanner } from '#kernel/malware-scanner.ts'
import type { Metrics } from '#kernel/metrics.ts'
import type { Module } from '#kernel/module.ts'
import { ModuleMetrics } from '#kernel/module-metrics.ts'
import { defaultPluginPolicy } from '#kernel/plugin-policy.ts'
import { type CheckFunction, runChecks } from '#kernel/readiness.ts'
import { ChangeReviews } from '#kernel/request/change-reviews.ts'
import type { Route } from '#kernel/route.ts'
import { defaultThreads, ThreadAdmission } from '#kernel/thread-admission.ts'
import { createPrinting } from '#kernel/typesetting/printing.ts'
import { WorkerThreads } from '#kernel/worker-threads.ts'
import { describeApi } from './api-document.ts'
import type { ConfiguredIssuer } from './issuers.ts'
import { readProject } from './project-root.ts'
import type { RuntimeOptions } from './runtime-options.ts'

const PREVIEW_MAX_ROWS = 1_000_000
const PREVIEW_TIME_LIMIT_MS = 10_000

export interface KernelParts {
  readonly modules: readonly Module[]
  readonly database: Database
  readonly integrity: IntegrityKeys
  readonly metrics: Metrics
  readonly readinessChecks: Readonly<Record<string, CheckFunction>>
}

function createThreads({ heavy_threads, scripts_dir }: RuntimeOptions): WorkerThreads {
  const admission = new ThreadAdmission({ threads: heavy_threads ?? defaultThreads() })
  return new WorkerThreads(admission, scripts_dir ?? import.meta.dirname)
}

export function createKernel(options: RuntimeOptions, parts: KernelParts): Kernel {
  const { modules, database, integrity, metrics } = parts
  const { log, build, public_url, upload_max_bytes } = options
  const caches = new CacheSlots()
  addCacheMetrics(metrics, caches)
  const issuer = createBuiltInIssuer(database, options.keyring)
  const raiseAlarm = createAlarmReporter(log, metrics)
  const tenantKeys = new TenantKeys({
    wrapper: options.keyring,
    transactions: database,
    cache: caches.get(tenantKeyCache),
    raiseAlarm,
  })
  const threads = options.threads ?? createThreads(options)
  const routes = modules.flatMap((module) => module.routes)
  const routesById = indexById(routes)
  let document: Promise<Record<string, unknown>> | undefined
  let caller: OperationCaller | undefined

  const kernel: Kernel = {
    transactions: database,
    caches,
    threads,
    jobs: new JobQueue([...modules.flatMap((module) => module.jobs), ...(options.extra_jobs ?? [])]),
    cursors: createCursorCodec(integrity.current('cursor')),
    auditKeys: createAuditKeys(integrity),
    integrity: cacheTenantKeys(integrity, caches.get(integrityKeyCache)),
    encryption: createValueEncryption({ tenantKeys, transactions: database, raiseAlarm }),
    erasureLedger: options.erasureLedger ?? null,
    backup_days: options.backup_days ?? null,
    egress: createEgress({
      log,
      observe: (outcome, duration_s) => metrics.observeEgress(outcome, duration_s),
      ...(options.egress && { settings: options.egress }),
    }),
    preview_limits: {
      max_rows: options.preview_max_rows ?? PREVIEW_MAX_ROWS,
      time_limit_ms: options.preview_time_limit_ms ?? PREVIEW_TIME_LIMIT_MS,
    },
    forced_provider_mode: options.forced_provider_mode ?? null,
    plugin_policy: options.plugin_policy ?? defaultPluginPolicy,
    scanner: options.scanner ? createMalwareScanner(options.scanner) : null,
    printing: createPrinting(
      { assets_dir: path.join(readProject().root, 'assets'), ...options.printing },
      { script: threads.scriptPath('compile-process'), admission: threads.admission },
    ),
    log,
    metrics: new ModuleMetrics(
      metrics.registry,
      modules.flatMap((module) => module.metrics ?? []),
    ),
    raiseAlarm,
    routes,
    modules,
    reviews: new ChangeReviews(modules, (uses) => pickCapabilities(kernel, uses)),
    call: (operation, actor, inputs, origin) => {
      caller ??= new OperationCaller(kernel, options.strict)
      return caller.call(operation, actor, inputs, origin)
    },
    runHandler: (operation, input) => {
      const route = routesById.get(operation) as Route
      return route.handle({ ...input, kernel: pickCapabilities(kernel, route.uses) })
    },
    limits: new Limits(),
    tenantStatusCache: new TenantStatusCache(caches.get(tenantStatuses), (tenant_id, epoch) =>
      database.one(unrestrictedScope(tenant_id, 'operator:tenant-status'), (tx) => findTenantStatus(tx, epoch)),
    ),
    issuer,
    issuers: [{ issuer: issuer.issuer, built_in: true }, ...options.issuers.map(toIssuerView)],
    demoSignIn: options.demoSignIn ?? null,
    build,
    upload_max_bytes,
    public_url,
    openapi: () => (document ??= describeApi(modules, build.version, public_url)),
    readiness: () => runChecks(parts.readinessChecks, options.readiness_timeout_ms),
  }
  return kernel
}

function indexById(routes: readonly Route[]): ReadonlyMap<string, Route> {
  const byId = new Map(routes.map((route) => [route.id, route]))
  if (byId.size !== routes.length) throw new Error('two routes share an operation id')
  return byId
}

const toIssuerView = ({ issuer, sign_in }: ConfiguredIssuer) => ({
  issuer,
  built_in: false,
  ...(sign_in && { sign_in }),
})
