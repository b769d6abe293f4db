/** One worker process of a run: the product's own runner with its own timing, and the demonstration kinds. Lives no longer than the run. */
import type pg from 'pg'
import { readBuildInfo, readProject } from '#app/project.ts'
import { createRuntime } from '#app/runtime.ts'
import { createKeyring } from '#kernel/encryption.ts'
import { createLog } from '#kernel/log.ts'
import { demoJobs } from '../support/demo-jobs.ts'
import { ACCEPTANCE_MASTER_KEY } from './support/durable-database.ts'

export interface WorkerStartMessage {
  readonly connections: { readonly app: pg.PoolConfig; readonly worker: pg.PoolConfig }
  readonly slots: number
}

process.once('message', async (message: WorkerStartMessage) => {
  const runtime = await createRuntime({
    connections: message.connections,
    keyring: createKeyring(ACCEPTANCE_MASTER_KEY),
    build: readBuildInfo(readProject()),
    log: createLog({ level: 'error', name: 'acceptance-worker' }),
    issuers: [],
    public_url: null,
    cors_origins: [],
    trusted_proxies: 0,
    pool_size: 10,
    prepared_statements: true,
    statement_timeout_ms: 15_000,
    upload_max_bytes: 1024 * 1024,
    strict: false,
    extra_jobs: demoJobs,
  })
  const runner = runtime.createRunner(message.slots)
  runner.start()
  process.send?.('ready')
  process.once('message', async () => {
    await runner.stop(5000)
    await runtime.close()
    process.exit(0)
  })
})
process.on('disconnect', () => process.exit(1))
