/** One worker process of a run: the product's own runner with its own timing, and the demonstration kinds. Lives no longer than the run. */
import fs from 'node:fs'
import type pg from 'pg'
import { readBuildInfo, readProject } from '#app/project.ts'
import { createRuntime } from '#app/runtime.ts'
import type { EgressSettings } from '#kernel/egress/settings.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { createLog } from '#kernel/log.ts'
import { demoJobs } from '../support/demo-jobs.ts'
import { type CrashPoint, crashPoints } from './support/crash-points.ts'
import { ACCEPTANCE_MASTER_KEY } from './support/durable-database.ts'

export interface CrashPlan {
  /** Share of the calls that the worker does not survive. */
  readonly share: number
  /** Gets a line for each death, since a killed process says nothing. */
  readonly file: string
}

export interface WorkerStartMessage {
  readonly connections: { readonly app: pg.PoolConfig; readonly worker: pg.PoolConfig }
  readonly slots: number
  readonly egress?: EgressSettings
  readonly crash?: CrashPlan
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
    ...(message.egress && { egress: message.egress }),
  })
  if (message.crash) planCrashes(runtime.kernel, message.crash)
  const runner = runtime.createRunner(message.slots)
  runner.start()
  const scanners = runtime.createScanners()
  for (const scanner of scanners) scanner.start()
  process.send?.('ready')
  process.once('message', async () => {
    await Promise.all(scanners.map((scanner) => scanner.stop()))
    await runner.stop(5000)
    await runtime.close()
    process.exit(0)
  })
})
process.on('disconnect', () => process.exit(1))

/** Puts itself between calls and what they use, and kills this process at a point of some of them. */
function planCrashes(kernel: Kernel, { share, file }: CrashPlan): void {
  const crash = (point: CrashPoint) => {
    if (Math.random() >= share / crashPoints.length) return
    fs.appendFileSync(file, `${point}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
  const { egress, encryption, threads } = kernel
  const replace = (members: Partial<Kernel>) => Object.assign(kernel, members)
  replace({
    encryption: {
      ...encryption,
      decrypt: (tx, owner, at, stored) => {
        if (at.table === 'provider_credential_version') crash('before_sent')
        return encryption.decrypt(tx, owner, at, stored)
      },
    },
    egress: {
      close: () => egress.close(),
      request: async (request) => {
        crash('after_sent')
        const response = await egress.request(request)
        crash('after_answer')
        return response
      },
    },
    // The contract is judged after the answer was stored.
    threads: new Proxy(threads, {
      get(target, name) {
        if (name === 'get') crash('after_answered')
        const member = Reflect.get(target, name) as unknown
        return typeof member === 'function' ? member.bind(target) : member
      },
    }),
  })
}
