/**
 * The server under load: the product's own runtime with its job runner and audit chain writer, as in `npm start`, and its
 * log in a file. It reports how long its event loop was blocked, and seeds tenants for the generator.
 */
import type { AddressInfo } from 'node:net'
import type pg from 'pg'
import { readBuildInfo, readProject } from '#app/project.ts'
import { createRuntime, type Runtime } from '#app/runtime.ts'
import type { Bucket } from '#kernel/auth/queries.ts'
import { roles } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { createLog } from '#kernel/log.ts'
import { serveMetrics } from '#kernel/metrics.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertUser } from '#modules/access/index.ts'
import { HOUSEKEEPING } from '#modules/tenant/index.ts'
import { ACCEPTANCE_MASTER_KEY } from '../support/durable-database.ts'
import type { ChildService } from './child-processes.ts'
import { watchEventLoop } from './event-loop.ts'

export interface ServeRequest {
  readonly connections: { readonly app: pg.PoolConfig; readonly worker: pg.PoolConfig }
  readonly log_file: string
  /** Job runner and audit chain writer in the same process. */
  readonly jobs: boolean
  readonly trusted_proxies?: number
}
export interface SeedTenantsRequest {
  readonly tenants: readonly string[]
  readonly users: number
  /** Different callers, each with a token that holds every role. */
  readonly callers: number
  /** Limits other than the defaults. */
  readonly limits?: Readonly<Partial<Record<Bucket, number>>>
}
export interface SeededTenant {
  readonly tenant_id: string
  /** In the name of every user of the tenant, and of no other: `zq` and eight hexadecimal digits. */
  readonly marker: string
  readonly user_ids: readonly string[]
  readonly tokens: readonly string[]
  /** Queued for longer than any run lasts, to be waited for. */
  readonly job_id: string
}

export const MARKER_PREFIX = 'zq'
export const MARKER = /zq[0-9a-f]{8}/g
const TOKEN_LIFE_S = 2 * 3600

export type ServerProcess = ChildService<Awaited<ReturnType<typeof createServerHandlers>>>

export async function createServerHandlers() {
  const readEventLoop = watchEventLoop()
  let runtime: Runtime
  return {
    serve: async (request: ServeRequest): Promise<{ port: number; metrics_port: number; document: object }> => {
      runtime = await createRuntime({
        connections: request.connections,
        keyring: createKeyring(ACCEPTANCE_MASTER_KEY),
        build: readBuildInfo(readProject()),
        log: createLog({ level: 'info', name: 'acceptance', destination: request.log_file }),
        issuers: [],
        public_url: null,
        cors_origins: [],
        trusted_proxies: request.trusted_proxies ?? 0,
        pool_size: 10,
        prepared_statements: true,
        statement_timeout_ms: 15_000,
        upload_max_bytes: 16 * 1024 * 1024,
        strict: false,
      })
      if (request.jobs) {
        runtime.createRunner(4).start()
        runtime.createChainWriter().start()
      }
      const server = await runtime.createServer()
      const metrics = await serveMetrics(runtime.metrics, 0, '127.0.0.1')
      return {
        port: await server.listen(0, '127.0.0.1'),
        metrics_port: (metrics.address() as AddressInfo).port,
        document: await runtime.kernel.openapi(),
      }
    },
    seedTenants: async (request: SeedTenantsRequest): Promise<SeededTenant[]> => {
      const seeded: SeededTenant[] = []
      for (const tenant_id of request.tenants) seeded.push(await seedTenant(runtime, tenant_id, request))
      return seeded
    },
    /** What the event loop did since the last question. */
    loop: async (_: null) => ({ ...readEventLoop(), rss_mib: Math.round(process.memoryUsage.rss() / 2 ** 20) }),
  }
}

async function seedTenant(runtime: Runtime, tenant_id: string, request: SeedTenantsRequest): Promise<SeededTenant> {
  const { kernel, database } = runtime
  const marker = `zq${tenant_id.slice(-8)}`
  const job_id = await database.write(fullScope(tenant_id, 'operator:acceptance'), async (tx) => {
    for (const [bucket, count] of Object.entries(request.limits ?? {})) {
      await tx.run('insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1, $2, $3, $3)', [
        tenant_id,
        bucket,
        count,
      ])
    }
    const job = await kernel.jobs.enqueue(tx, { kind: HOUSEKEEPING, payload: {} })
    await tx.run(`update app.job set run_at = now() + interval '1 day' where tenant_id = $1 and job_id = $2`, [
      tenant_id,
      job.job_id,
    ])
    return job.job_id
  })
  const user_ids = await database.write(fullScope(tenant_id, 'operator:acceptance'), async (tx) => {
    const made: string[] = []
    for (let n = 0; n < request.users; n++) {
      const user_id = uuidv7()
      await insertUser(tx, {
        user_id,
        issuer: kernel.issuer.issuer,
        subject: `user:${user_id}`,
        email: `${user_id}@${marker}.example`,
        name: `${marker} number ${n}`,
        team: marker,
        locale: null,
        roles: ['viewer'],
        origin: 'built_in',
        state: 'active',
      })
      made.push(user_id)
    }
    return made
  })
  const tokens: string[] = []
  for (let n = 0; n < request.callers; n++) {
    const who = { tenant_id, principal: `user:${uuidv7()}` as const, roles, lifetime_s: TOKEN_LIFE_S, name: marker }
    tokens.push((await kernel.issuer.mint(who)).token)
  }
  return { tenant_id, marker, user_ids, tokens, job_id }
}
