/** Another process on the same database, as far as anybody can tell: its own pools, caches, buckets and server. */
import path from 'node:path'
import { createRuntime } from '#app/runtime.ts'
import type { RuntimeOptions } from '#app/runtime-options.ts'
import { latestVersion, readMigrations } from '#kernel/database/migrations.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { createSilentLog } from '#kernel/log.ts'
import { projectRoot, TEST_MASTER_KEY } from './database.ts'
import type { TestApp } from './test-app.ts'
import { threadsDir } from './threads.ts'

export async function startSecondProcess(w: TestApp, change: Partial<RuntimeOptions> = {}) {
  const schema_version = latestVersion(readMigrations(path.join(projectRoot, 'db/migrations')))
  const runtime = await createRuntime({
    connections: { app: w.clone.app, worker: w.clone.worker },
    keyring: createKeyring(TEST_MASTER_KEY),
    build: { version: '0.0.0-test', commit: null, node: process.version, schema_version },
    log: createSilentLog(),
    issuers: [],
    demoSignIn: w.kernel.demoSignIn,
    public_url: 'http://localhost',
    cors_origins: [],
    trusted_proxies: 0,
    pool_size: 4,
    prepared_statements: true,
    statement_timeout_ms: 60_000,
    wait_ms: 60_000,
    upload_max_bytes: 1024 * 1024,
    strict: true,
    scripts_dir: threadsDir,
    ...change,
  })
  const server = await runtime.createServer()
  return {
    runtime,
    server,
    get: async (url: string, token?: string) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const reply = await server.app.inject({ url, headers })
      return { status: reply.statusCode, headers: reply.headers, json: reply.json() }
    },
    close: async () => {
      await server.close()
      await runtime.close()
    },
  }
}
