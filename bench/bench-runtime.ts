/** The product as it runs in production, built from its own assembly: strictness off, logs written to /dev/null, metrics on. */
import type pg from 'pg'
import { createRuntime, type Runtime } from '#app/runtime.ts'
import type { EgressSettings } from '#kernel/egress/settings.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import type { JobKind } from '#kernel/job/kind.ts'
import { createLog } from '#kernel/log.ts'

export interface BenchRuntimeOptions {
  readonly app: pg.PoolConfig
  readonly worker: pg.PoolConfig
  readonly master_key_hex: string
  readonly egress?: EgressSettings
}

export const createBenchRuntime = (order: BenchRuntimeOptions, extra_jobs: readonly JobKind[] = []): Promise<Runtime> =>
  createRuntime({
    connections: { app: order.app, worker: order.worker },
    keyring: createKeyring(Buffer.from(order.master_key_hex, 'hex')),
    build: { version: '0.0.0-bench', commit: null, node: process.version, schema_version: '0000' },
    log: createLog({ level: 'info', destination: '/dev/null', name: 'bench' }),
    issuers: [],
    public_url: null,
    cors_origins: [],
    trusted_proxies: 0,
    pool_size: 10,
    prepared_statements: true,
    statement_timeout_ms: 15_000,
    upload_max_bytes: 16 * 1024 * 1024,
    strict: false,
    extra_jobs,
    ...(order.egress && { egress: order.egress }),
  })
