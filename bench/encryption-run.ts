/** One pass of `bench/encryption.ts` in a process of its own. Bundled twice: as it is, and with copies stored as plain text. */
import pg from 'pg'
import { runBatch, runImpact, startBatchService, uploadItems } from './batch-service.ts'
import type { BenchRuntimeOptions } from './bench-runtime.ts'
import { readStartOptions, reportReady, sendEvent } from './child.ts'

export interface EncryptionRunOptions extends BenchRuntimeOptions {
  readonly tenant_id: string
  readonly items: number
  /** Of the subjects of this run, whose keys are made in it. */
  readonly prefix: string
  readonly superuser: pg.PoolConfig
}

/** Milliseconds of each part, in the order of `encryptionParts`. */
export type EncryptionRun = readonly number[]

const options = readStartOptions<EncryptionRunOptions>()
reportReady({})
const service = await startBatchService(options, { ...options, subjects: options.items })
const upload_id = await uploadItems(service, options.items, 1)
const first = await runBatch(service, upload_id)
const again = await runBatch(service, upload_id)
// Otherwise the plans of the impact run depend on when statistics were gathered last.
const superuser = new pg.Client(options.superuser)
await superuser.connect()
await superuser.query('vacuum analyze')
await superuser.end()
const impact = await runImpact(service, options.items)
await service.close()
sendEvent([first.ms, again.ms, impact.ms] satisfies EncryptionRun)
