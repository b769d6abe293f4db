/**
 * The setup of registry runs: a durable PostgreSQL of their own, an API in this process, worker processes that can be
 * killed, and a tenant that may call as fast as it likes. The parts other processes run are built beside the run itself.
 */
import { randomInt } from 'node:crypto'
import fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import esbuild from 'esbuild'
import { readBuildInfo, readProject } from '#app/project.ts'
import { createRuntime, type Runtime } from '#app/runtime.ts'
import { roles } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { createLog } from '#kernel/log.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ACCEPTANCE_MASTER_KEY, type DurableDatabase, startDurableDatabase } from './durable-database.ts'

const UPLOAD_MAX_BYTES = 4 * 1024 ** 3
/** A busy machine answers 503 with the time to wait. */
const MAX_ATTEMPTS = 20

export interface RunningApi {
  readonly database: DurableDatabase
  readonly tenant_id: string
  readonly token: string
  readonly url: string
  /** Throws unless the answer is a good one; repeats a request that was refused with a time to wait. */
  call<T = Record<string, never>>(at: string, body?: object): Promise<T>
  /** As app inside the tenant, under row-level security. */
  asTenant<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  upload(file_name: string, pieces: Iterable<string | Buffer>): Promise<string>
  startImport(list_key: string, upload_id: string, adapter_key: string): Promise<{ job_id: string; import_id: string }>
  /** The job once it has ended. */
  ended(job_id: string): Promise<{ state: string }>
  close(): Promise<void>
}

export async function startApi(): Promise<RunningApi> {
  const project = readProject()
  await buildChildScripts(project.root)
  const database = await startDurableDatabase()
  try {
    const [tenant_id] = (await database.makeTenants(1)) as [string]
    return await serveApi(database, tenant_id, await createTestRuntime(database))
  } catch (error) {
    await database.stop()
    throw error
  }
}

const buildChildScripts = (root: string) =>
  esbuild.build({
    absWorkingDir: root,
    entryPoints: {
      'worker-process': 'test/acceptance/worker-process.ts',
      'import-thread': 'src/registry/import/import-thread.ts',
      'type-worker': 'src/registry/types/type-worker.ts',
      'analysis-worker': 'src/decision/analysis/analysis-worker.ts',
      'contract-worker': 'src/contract/contract-worker.ts',
      sandbox: 'src/sandbox/sandbox.ts',
    },
    outdir: import.meta.dirname,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  })

export const createTestRuntime = (database: Pick<DurableDatabase, 'connection'>): Promise<Runtime> =>
  createRuntime({
    connections: { app: database.connection('app'), worker: database.connection('worker') },
    keyring: createKeyring(ACCEPTANCE_MASTER_KEY),
    build: readBuildInfo(readProject()),
    log: createLog({ level: 'error', name: 'acceptance' }),
    issuers: [],
    public_url: null,
    cors_origins: [],
    trusted_proxies: 0,
    pool_size: 6,
    prepared_statements: true,
    statement_timeout_ms: 15_000,
    upload_max_bytes: UPLOAD_MAX_BYTES,
    strict: false,
    scripts_dir: import.meta.dirname,
  })

async function serveApi(ground: DurableDatabase, tenant_id: string, runtime: Runtime): Promise<RunningApi> {
  // A run calls faster than any client should.
  await runtime.database.write(fullScope(tenant_id, 'operator:acceptance'), (tx) =>
    tx.run(
      `insert into app.tenant_limit (tenant_id, bucket, per_second, burst)
       select $1, bucket, 1000000, 10000000 from unnest(array['principal', 'tenant', 'in_flight', 'heavy']) bucket`,
      [tenant_id],
    ),
  )
  const server = await runtime.createServer()
  const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/api`
  const who = { tenant_id, principal: `user:${uuidv7()}`, roles, lifetime_s: 12 * 3600 } as const
  const { token } = await runtime.kernel.issuer.mint(who)
  const authorization = `Bearer ${token}`
  const readReply = async (reply: Response): Promise<never> => {
    if (!reply.ok) throw new Error(`${reply.url} answered ${reply.status} ${await reply.text()}`)
    return (reply.status === 204 ? {} : await reply.json()) as never
  }
  const ask: RunningApi['call'] = async (at, body) => {
    const [method, path] = at.split(' ') as [string, string]
    const headers = {
      authorization,
      ...(body && { 'content-type': 'application/json' }),
      // The same key each time: a change whose answer was lost is not made twice.
      ...(method === 'POST' && { 'idempotency-key': uuidv7() }),
    }
    for (let attempt = 1; ; attempt++) {
      const reply = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      const pause_s = reply.headers.get('retry-after')
      if (reply.status !== 503 || pause_s === null || attempt === MAX_ATTEMPTS) return readReply(reply)
      await reply.arrayBuffer()
      await sleep(Number(pause_s) * 1000)
    }
  }
  return {
    database: ground,
    tenant_id,
    token,
    url,
    call: ask,
    asTenant: (body) => runtime.database.read(fullScope(tenant_id, who.principal), body),
    upload: async (file_name, pieces) => {
      const bytes = (async function* () {
        for (const piece of pieces) yield Buffer.from(piece)
      })()
      const request = { method: 'POST', duplex: 'half', body: ReadableStream.from(bytes) } as RequestInit
      const headers = { authorization, 'content-type': 'application/octet-stream' }
      const { upload_id } = await readReply(
        await fetch(`${url}/uploads?file_name=${file_name}`, { ...request, headers }),
      )
      return upload_id
    },
    startImport: async (list_key, upload_id, adapter_key) => {
      const request = { list_key, upload_id, adapter_key }
      const { job_id, resource } = await ask<{ job_id: string; resource: string }>(
        'POST /reference-data/imports',
        request,
      )
      return { job_id, import_id: resource.split('/').at(-1) as string }
    },
    ended: async (job_id) => {
      for (;;) {
        const job = await ask<{ state: string }>(`GET /jobs/${job_id}`)
        if (job.state !== 'queued' && job.state !== 'running') return job
        await sleep(200)
      }
    },
    close: async () => {
      await server.close()
      await runtime.close()
      await ground.stop()
    },
  }
}

export const partyType = {
  title: 'Party',
  description: 'A party on a list.',
  schema: {
    type: 'object',
    properties: {
      code: { type: 'string', maxLength: 50 },
      name: { type: 'string', minLength: 1, maxLength: 200 },
      country: { type: 'string', pattern: '^[A-Z]{2}$' },
      score: { type: 'integer', minimum: 0 },
      programme: { type: 'string' },
    },
    required: ['code', 'name'],
    additionalProperties: false,
  },
  key_pointers: ['/code'],
  fields: {},
  examples: [{ code: 'A1', name: 'Example' }],
}

export async function createList(api: RunningApi, list_key: string): Promise<string> {
  const anything = { max_removed_bps: 10_000, max_changed_bps: 10_000 }
  await api.call('POST /reference-data/datasets', { list_key, type_key: 'party', title: 'Parties', guards: anything })
  return list_key
}

/** Resident memory of a process, in MiB; 0 once it is gone. */
export function readResidentMib(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

export const parseWorkerPid = (worker: string): number => Number(worker.split(':').at(-2))

/** Whole numbers from the command line, each with its default; `seed` is always among them. */
export function parseNumbers<K extends string>(defaults: Record<K, number>): Record<K | 'seed', number> {
  const all = { seed: randomInt(2 ** 31), ...defaults } as Record<string, number>
  const options = Object.fromEntries(Object.keys(all).map((name) => [name, { type: 'string' } as const]))
  const { values } = parseArgs({ options })
  for (const [name, text] of Object.entries(values)) {
    all[name] = Number(text)
    if (Number.isSafeInteger(all[name]) && (all[name] as number) >= 0) continue
    console.error(`--${name} must be a whole number.`)
    process.exit(2)
  }
  return all as Record<K | 'seed', number>
}

/** Prints the one line of JSON a run gives, and sets how the process ends. */
export function reportResult(run: string, result: { passed: boolean } & Record<string, unknown>): void {
  console.log(JSON.stringify({ run, ...result }))
  process.exitCode = result.passed ? 0 : 1
}
