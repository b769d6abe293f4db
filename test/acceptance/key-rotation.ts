/**
 * Kills processes with SIGKILL while they wrap keys again or rotate the key of a tenant, and goes on with the next one, while values are
 * read and written all the time: none may fail. Then the key command hangs: a tenant whose key is in memory goes on, others are refused
 * within 6 s. Prints one line of JSON.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime, type Runtime } from '#app/runtime.ts'
import { fullScope, type Scope } from '#kernel/database/scope.ts'
import { combineKeyrings, createKeyCommand } from '#kernel/encryption/key-command.ts'
import { createKeyring, type Keyring } from '#kernel/encryption/keyring.ts'
import { ensureTenantKey } from '#kernel/encryption/tenant-keys.ts'
import type { KeyOwner } from '#kernel/encryption/value-encryption.ts'
import { createLog } from '#kernel/log.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { startKeyService } from '../support/key-service.ts'
import { createRandom } from '../support/random.ts'
import type { KeyWorkMessage } from './key-process.ts'
import { ACCEPTANCE_MASTER_KEY, type DurableDatabase, startDurableDatabase } from './support/durable-database.ts'
import { parseNumbers, reportResult } from './support/running-api.ts'

const TENANTS = 20
const OUTAGE_LIMIT_MS = 6000
/** Long enough that some of them finish. */
const MAX_DELAY_MS = 1500

const { seed, kills, owners } = parseNumbers({ kills: 100, owners: 200 })
const random = createRandom(seed)
const at = { table: 'example', row_id: '1', column: 'secret' }
const masterKeys = [ACCEPTANCE_MASTER_KEY, Buffer.alloc(32, 8)].map((key) => key.toString('hex'))

const startRuntime = (database: DurableDatabase, keyring: Keyring): Promise<Runtime> =>
  createRuntime({
    connections: { app: database.connection('app'), worker: database.connection('worker') },
    keyring,
    build: { version: '0', commit: null, node: process.version, schema_version: '0000' },
    log: createLog({ level: 'silent', name: 'acceptance' }),
    issuers: [],
    public_url: null,
    cors_origins: [],
    trusted_proxies: 0,
    pool_size: 6,
    prepared_statements: true,
    statement_timeout_ms: 15_000,
    upload_max_bytes: 1024,
    strict: true,
  })

/** Values of one tenant, read and written through a process. */
class Values {
  readonly #runtime: Runtime
  readonly #scope: Scope
  readonly stored: { owner: KeyOwner; bytes: Buffer; text: string }[] = []

  constructor(runtime: Runtime, tenant_id: string) {
    this.#runtime = runtime
    this.#scope = fullScope(tenant_id, 'operator:acceptance')
  }

  async add(): Promise<void> {
    const { database, kernel } = this.#runtime
    const owner: KeyOwner = { kind: 'object', id: uuidv7() }
    const text = `secret ${this.stored.length}`
    const bytes = await database.write(this.#scope, (tx) => kernel.encryption.encrypt(tx, owner, at, Buffer.from(text)))
    this.stored.push({ owner, bytes, text })
  }

  async check(index: number): Promise<void> {
    const { database, kernel } = this.#runtime
    const { owner, bytes, text } = this.stored[index % this.stored.length] as (typeof this.stored)[number]
    const read = await database.read(this.#scope, (tx) => kernel.encryption.decrypt(tx, owner, at, bytes))
    if (read.toString() !== text) throw new Error('decrypted to something else')
  }
}

/** True when it was killed before it had finished. */
async function runAndKill(message: KeyWorkMessage, delay_ms: number): Promise<boolean> {
  const script = path.join(import.meta.dirname, 'key-process.mjs')
  const child = fork(script, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exit = once(child, 'exit')
  let isDone = false
  child.on('message', (text) => {
    isDone ||= text === 'done'
  })
  const begun = once(child, 'message')
  child.send(message)
  await begun
  await Promise.race([sleep(delay_ms), exit])
  child.kill('SIGKILL')
  await exit
  return !isDone
}

async function killRotations(database: DurableDatabase, faults: string[]) {
  const tenants = await database.makeTenants(TENANTS)
  const [tenant_id] = tenants as [string]
  const { app, keyring } = database.seedContext
  for (const id of tenants) await ensureTenantKey(app, keyring, fullScope(id, 'operator:acceptance'))
  const both = createKeyring(masterKeys.map((key) => Buffer.from(key, 'hex')))
  const runtime = await startRuntime(database, both)
  const values = new Values(runtime, tenant_id)
  for (let n = 0; n < owners; n++) await values.add()
  let isDone = false
  let reads = 0
  const fail = (what: string) => (error: Error) => faults.push(`${what}: ${error.message}`)
  const read = async () => {
    for (; !isDone; reads++) await values.check(random(values.stored.length)).catch(fail('read'))
  }
  const write = async () => {
    while (!isDone) await values.add().catch(fail('write'))
  }
  const loops = [read(), write()]
  const connections = { app: database.connection('app'), steward: database.connection('steward') }
  const counts = { kills: 0, finished: 0 }
  for (let attempt = 0; counts.kills < kills; attempt++) {
    // Turns between the two: an interrupted one is taken up again by the next of its kind.
    const isRewrap = attempt % 2 === 0
    const order = Math.floor(counts.finished / 2) % 2 === 0 ? masterKeys.toReversed() : masterKeys
    const message = { connections, master_keys: order, tenant_id: isRewrap ? null : tenant_id }
    const isKilled = await runAndKill(message, random(MAX_DELAY_MS))
    counts[isKilled ? 'kills' : 'finished']++
  }
  isDone = true
  await Promise.all(loops)
  await runAndKill({ connections, master_keys: masterKeys, tenant_id }, 60_000)
  await runAndKill({ connections, master_keys: masterKeys, tenant_id: null }, 60_000)
  const later = await startRuntime(database, createKeyring(ACCEPTANCE_MASTER_KEY))
  const reader = new Values(later, tenant_id)
  reader.stored.push(...values.stored)
  for (const index of reader.stored.keys()) await reader.check(index).catch(fail('after the last rotation'))
  const states = await database.call<{ state: string; count: string }>(
    'select state, count(*) from app.tenant_key where tenant_id = $1 group by state',
    [tenant_id],
  )
  const count = (state: string) => Number(states.find((row) => row.state === state)?.count ?? 0)
  if (count('active') !== 1 || count('retiring') !== 0) faults.push(`states of tenant keys: ${JSON.stringify(states)}`)
  await Promise.all([runtime.close(), later.close()])
  return { ...counts, reads, values: values.stored.length, rotations: count('destroyed') }
}

async function measureOutage(database: DurableDatabase, faults: string[]): Promise<{ outage_ms: number }> {
  const service = startKeyService()
  const [known, unknown] = (await database.makeTenants(2)) as [string, string]
  const command = createKeyCommand(service.options)
  for (const tenant_id of [known, unknown]) {
    await ensureTenantKey(database.seedContext.app, command, fullScope(tenant_id, 'operator:acceptance'))
  }
  const files = createKeyring(ACCEPTANCE_MASTER_KEY)
  const runtime = await startRuntime(database, combineKeyrings(files, command, 'command'))
  try {
    const [cached, uncached] = [new Values(runtime, known), new Values(runtime, unknown)]
    await cached.add()
    service.behave('hang')
    const from_ms = performance.now()
    const refused = await uncached.add().catch((error: { code?: string }) => error.code)
    const outage_ms = Math.round(performance.now() - from_ms)
    if (refused !== 'dependency_unavailable') faults.push(`an unknown tenant got ${refused}`)
    if (outage_ms > OUTAGE_LIMIT_MS) faults.push(`an unknown tenant was refused after ${outage_ms} ms`)
    await cached.check(0).catch((error: Error) => faults.push(`a tenant in memory: ${error.message}`))
    return { outage_ms }
  } finally {
    await runtime.close()
    service.close()
  }
}

const database = await startDurableDatabase()
const faults: string[] = []
try {
  const rotation = await killRotations(database, faults)
  const outage = await measureOutage(database, faults)
  const passed = faults.length === 0
  reportResult('key-rotation', { passed, seed, ...rotation, ...outage, faults: faults.slice(0, 20) })
} finally {
  await database.stop()
}
