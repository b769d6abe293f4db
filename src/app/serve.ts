/**
 * Runs the HTTP server, the job runner, or both, and the metrics of a process. Everything that is opened is registered with the
 * lifecycle in the order in which it must be closed again.
 */

import type http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { findDemoSignIn } from '#kernel/auth/demo-sign-in.ts'
import type { Keyring } from '#kernel/encryption/keyring.ts'
import type { HttpServer } from '#kernel/http/server.ts'
import type { Kernel } from '#kernel/kernel.ts'
import type { Log } from '#kernel/log.ts'
import { serveMetrics } from '#kernel/metrics.ts'
import { listFailedChecks, type Readiness } from '#kernel/readiness.ts'
import { loadApiExamples } from './api-examples.ts'
import { installAssets } from './assets.ts'
import type { Config } from './config.ts'
import { type Connections, openErasureLedger } from './environment.ts'
import { modules } from './modules.ts'
import { type PortSettings, portErrorMessage } from './ports.ts'
import type { ProcessLifecycle } from './process-lifecycle.ts'
import { type Project, readBuildInfo } from './project.ts'
import { createRuntime, type Runtime } from './runtime.ts'
import { demoTenants } from './seed.ts'

export interface ServeOptions {
  readonly config: Config
  readonly project: Project
  readonly connections: Connections
  readonly keyring: Keyring
  readonly log: Log
  /** Null: this process serves no requests. */
  readonly http: PortSettings | null
  readonly metrics: PortSettings
  readonly jobs: boolean
}

export interface RunningService {
  readonly kernel: Kernel
  readonly port: number | null
  readonly metrics_port: number
  /** When it began to serve. */
  readonly readiness: Readiness
}

const READINESS_TRIES = 3
const HTTP_CLOSE_MS = 20_000
const JOB_GRACE_MS = 10_000
const POOL_CLOSE_MS = 5000
/** Added to the limit of a step, for its forced end. */
const MARGIN_MS = 5000

export const httpPortSettings = (config: Config, host: string): PortSettings => ({
  port: config.port,
  host: config.host ?? host,
  setting: 'PORT',
})

export const metricsPortSettings = (config: Config): PortSettings => ({
  port: config.metrics_port,
  host: config.metrics_host,
  setting: 'PROBITY_METRICS_PORT',
})

export async function serve(options: ServeOptions, life: ProcessLifecycle): Promise<RunningService> {
  const { config, log } = options
  const runtime = await createServiceRuntime(options)
  life.onEnd(null, POOL_CLOSE_MS, () => runtime.close())

  const metrics = await listenOrExplain(options.metrics, (port, host) => serveMetrics(runtime.metrics, port, host))
  life.onEnd(null, MARGIN_MS, async () => {
    metrics.close()
    metrics.closeAllConnections()
  })
  const processes = runtime.createProcessRegistry({ serves_requests: options.http !== null, runs_jobs: options.jobs })
  await processes.start()
  life.onEnd(null, MARGIN_MS, () => processes.stop())
  life.proceed()

  if (options.jobs) {
    const runner = runtime.createRunner(config.worker_slots)
    runner.start()
    life.onEnd('Stopping the jobs', JOB_GRACE_MS + MARGIN_MS, () => runner.stop(JOB_GRACE_MS))
    const chainWriter = runtime.createChainWriter()
    chainWriter.start()
    life.onEnd(null, MARGIN_MS, () => chainWriter.stop())
    for (const scanner of runtime.createScanners()) {
      scanner.start()
      life.onEnd(null, MARGIN_MS, () => scanner.stop())
    }
  }
  let port: number | null = null
  if (options.http) {
    await runtime.erasureGuard.start()
    const server = await runtime.createServer()
    // Now, not when they are asked for: a build could have replaced the file by then.
    await loadApiExamples(modules)
    life.onEnd('Finishing open requests', config.drain_ms + HTTP_CLOSE_MS + MARGIN_MS, () =>
      closeServer(server, config.drain_ms),
    )
    // Immediately, not in its turn: a load balancer should notice first.
    life.signal.addEventListener('abort', () => server.drain(), { once: true })
    port = await listenOrExplain(options.http, (at, host) => server.listen(at, host))
  }
  life.proceed()
  log.info({ port, metrics_port: getPort(metrics), jobs: options.jobs }, 'serving')
  const readiness = await readReadiness(runtime.kernel, log)
  return { kernel: runtime.kernel, port, metrics_port: getPort(metrics), readiness }
}

/** Load balancers see only that it is not ready: the log says why. A check may be late while everything starts. */
async function readReadiness(kernel: Pick<Kernel, 'readiness'>, log: Log): Promise<Readiness> {
  for (let tries = 1; ; tries++) {
    const readiness = await kernel.readiness()
    if (readiness.status === 'ready') return readiness
    if (tries < READINESS_TRIES) continue
    log.warn({ failed: listFailedChecks(readiness) }, 'not ready')
    return readiness
  }
}

function createServiceRuntime({ config, project, connections, keyring, log, http }: ServeOptions): Promise<Runtime> {
  return createRuntime({
    connections,
    keyring,
    log,
    build: readBuildInfo(project),
    issuers: config.issuers,
    egress: config.egress,
    demoSignIn: findDemoSignIn({ ...config, host: http?.host ?? null }, demoTenants),
    public_url: config.public_url,
    cors_origins: config.cors_origins,
    trusted_proxies: config.trusted_proxies,
    pool_size: config.pool_size,
    prepared_statements: config.prepared_statements,
    statement_timeout_ms: config.statement_timeout_ms,
    upload_max_bytes: config.upload_max_bytes,
    erasureLedger: openErasureLedger(config, project),
    backup_days: config.backup_days,
    heavy_threads: config.heavy_threads,
    preview_max_rows: config.preview_max_rows,
    preview_time_limit_ms: config.preview_time_limit_ms,
    forced_provider_mode: config.forced_provider_mode,
    plugin_policy: config.plugins.policy,
    scanner: config.scanner,
    printing: { extra_fonts_dir: config.fonts_dir },
    strict: false,
    ...(http && { assets: (app) => installAssets(app, project.root, config.issuers) }),
  })
}

/** Serves for a while longer, accepts no new connections, then waits for the open ones for a limited time. */
async function closeServer(server: HttpServer, drain_ms: number): Promise<void> {
  server.drain()
  await sleep(drain_ms)
  const force = setTimeout(() => server.app.server.closeAllConnections(), HTTP_CLOSE_MS)
  await server.close()
  clearTimeout(force)
}

async function listenOrExplain<T>(
  question: PortSettings,
  listen: (port: number, host: string) => Promise<T>,
): Promise<T> {
  try {
    return await listen(question.port, question.host)
  } catch (error) {
    throw new Error(portErrorMessage(error as NodeJS.ErrnoException, question), { cause: error })
  }
}

const getPort = (server: http.Server): number => (server.address() as AddressInfo).port
