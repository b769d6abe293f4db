/**
 * `npm run acceptance -- audit-tampering`: a million events of one tenant recorded, sealed, verified, and verified again offline from an export, on
 * a real, durable PostgreSQL; then thousands of random tamperings by a superuser, each of which must be found where it was done.
 * Prints one line of JSON.
 */
import { randomInt } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { type AuditEvent, type AuditKeys, createAuditKeys } from '#kernel/audit/chain.ts'
import type { ChainVerification } from '#kernel/audit/chain-verifier.ts'
import { AuditChainWriter } from '#kernel/audit/chain-writer.ts'
import { type ExportVerification, verifyExport } from '#kernel/audit/export-verifier.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { Database, type Tx } from '#kernel/database/tx.ts'
import { wireTypes } from '#kernel/database/wire-types.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { deriveIntegrityKeys } from '#kernel/integrity/keys.ts'
import { createSilentLog } from '#kernel/log.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { exportChainLines, verifyChain } from '#modules/audit/chain-reader.ts'
import {
  type ChainTarget,
  type Random,
  type TamperedPlaces,
  tamperingKinds,
  tamperRandomly,
} from './support/audit-tampering.ts'
import { ACCEPTANCE_MASTER_KEY, type DurableDatabase, startDurableDatabase } from './support/durable-database.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    tamperings: { type: 'string', default: '10000' },
    /** Links of the chain that is tampered with. */
    chain: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
})

function readCount(name: keyof typeof values, least: number): number {
  const value = Number(values[name])
  if (Number.isSafeInteger(value) && value >= least) return value
  console.error(`--${name} must be a whole number from ${least} on.`)
  process.exit(2)
}

const seed = readCount('seed', 0)
const plan = { events: readCount('events', 1), tamperings: readCount('tamperings', 0), chain: readCount('chain', 10) }
/** What a verification of a million events may take. */
const VERIFY_LIMIT_S = 30
const INSERT_BATCH = 10_000
const MAX_REPORTED_MISSES = 5

const log = (text: string) => console.error(text)
const abort = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => abort.abort())

/** Mulberry32: small, and the same everywhere for the same seed. */
function randomFrom(from: number): Random {
  let state = from
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

/** With the processor time of this process: on a machine that is shared, the only figure that can be compared. */
async function timed<T>(body: () => Promise<T>): Promise<{ result: T; seconds: number; cpu_s: number }> {
  const started = performance.now()
  const before = process.cpuUsage()
  const result = await body()
  const { user, system } = process.cpuUsage(before)
  return { result, seconds: (performance.now() - started) / 1000, cpu_s: (user + system) / 1e6 }
}

function buildEvent(tenant_id: string, n: number): AuditEvent {
  return {
    tenant_id,
    event_id: uuidv7(),
    recorded_at: `${new Date().toISOString().slice(0, -1)}000Z`,
    actor: `user:${uuidv7()}`,
    operation: 'updateUserRoles',
    object_type: 'users',
    object_id: uuidv7(),
    request_id: uuidv7(),
    detail: `{"after_hash":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f","n":${n}}`,
  }
}

/** As the service records them, only many at a time and without asking for the actor. */
async function insertEvents(superuser: pg.Client, keys: AuditKeys, tenant_id: string, total: number): Promise<void> {
  for (let done = 0; done < total; done += INSERT_BATCH) {
    abort.signal.throwIfAborted()
    const batch = Array.from({ length: Math.min(INSERT_BATCH, total - done) }, (_, i) =>
      buildEvent(tenant_id, done + i),
    )
    const column = (name: keyof AuditEvent) => batch.map((event) => event[name])
    await superuser.query(
      `insert into app.audit_event (tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, request_id, detail, mac)
       select $1, * from unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])`,
      [
        tenant_id,
        column('event_id'),
        column('recorded_at'),
        column('actor'),
        column('operation'),
        column('object_type'),
        column('object_id'),
        column('request_id'),
        column('detail'),
        batch.map((event) => keys.computeEventMac(event)),
      ],
    )
    if (done % 200_000 === 0 && done > 0) log(`${done} events recorded`)
  }
}

/** A superuser's connection dressed as what verifying needs of a transaction, so that it sees what is not committed. */
function toTx(client: pg.Client, tenant_id: string): Tx {
  const needed: Pick<Tx, 'tenant_id' | 'actor' | 'query' | 'find'> = {
    tenant_id,
    actor: 'operator:acceptance',
    query: async (text, params = []) => (await client.query(text, [...params])).rows,
    find: async (text, params = []) => (await client.query(text, [...params])).rows[0],
  }
  return needed as Tx
}

const verify = (tx: Tx, keys: AuditKeys) => verifyChain(tx, keys, async () => {})

/** As `verify audit FILE` does it; writing the file is not counted. */
async function verifyOffline(tx: Tx, keys: AuditKeys, last: number) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-acceptance-'))
  const file = path.join(folder, 'export.ndjson')
  try {
    await pipeline(exportChainLines(tx, keys, { first: 1, last }), fs.createWriteStream(file))
    return await timed((): Promise<ExportVerification> => {
      const lines = readline.createInterface({ input: fs.createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
      return verifyExport(lines, keys.public_key)
    })
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** At a touched place or right beside it, or naming a touched event. */
function isFoundAtPlace(report: ChainVerification, { seqs, event_ids = [] }: TamperedPlaces): boolean {
  return report.faults.some(
    ({ seq, event_id }) =>
      (seq !== null && seqs.some((touched) => Math.abs(touched - seq) <= 1)) ||
      (event_id !== null && event_ids.includes(event_id)),
  )
}

async function runTamperings(superuser: pg.Client, keys: AuditKeys, target: ChainTarget, random: Random) {
  const tx = toTx(superuser, target.tenant_id)
  const tallies = Object.fromEntries(tamperingKinds.map((kind) => [kind, { done: 0, detected: 0, located: 0 }]))
  const missed: object[] = []
  await superuser.query('begin')
  for (let n = 0; n < plan.tamperings && !abort.signal.aborted; n++) {
    const kind = tamperingKinds[random(tamperingKinds.length)] as string
    const tally = tallies[kind] as { done: number; detected: number; located: number }
    await superuser.query('savepoint untouched')
    const touched = await tamperRandomly(superuser, random, target, kind)
    const report = await verify(tx, keys)
    await superuser.query('rollback to savepoint untouched')
    tally.done++
    if (!report.intact) tally.detected++
    if (isFoundAtPlace(report, touched)) tally.located++
    else if (missed.length < MAX_REPORTED_MISSES) missed.push({ n, kind, touched, faults: report.faults.slice(0, 3) })
    if (n % 1000 === 999) log(`${n + 1} tamperings`)
  }
  const unaltered = await verify(tx, keys)
  await superuser.query('rollback')
  const sum = (name: 'done' | 'detected' | 'located') =>
    Object.values(tallies).reduce((total, tally) => total + tally[name], 0)
  const totals = { done: sum('done'), detected: sum('detected'), located: sum('located') }
  const passed = unaltered.intact && totals.detected === totals.done && totals.located === totals.done
  return { ...totals, by_kind: tallies, missed, untouched_intact: unaltered.intact, passed }
}

async function run(database: DurableDatabase, superuser: pg.Client) {
  const keys = createAuditKeys(deriveIntegrityKeys(createKeyring(ACCEPTANCE_MASTER_KEY)))
  const connect = (role: 'app' | 'worker') =>
    new Database({
      connection: database.connection(role),
      max: 4,
      prepared: true,
      statement_timeout_ms: 120_000,
      wait_ms: 10_000,
    })
  const [app, worker] = [connect('app'), connect('worker')]
  const chainWriter = new AuditChainWriter({ transactions: app, queue: worker, keys, log: createSilentLog() })
  try {
    const [large, small] = (await database.makeTenants(2)) as [string, string]
    await superuser.query('set session_replication_role = replica')
    const inserted = await timed(() => insertEvents(superuser, keys, large, plan.events))
    log(`recorded in ${inserted.seconds.toFixed(1)} s; sealing`)
    // What autovacuum would do between a million requests.
    await superuser.query('analyze app.audit_event')
    const sealed = await timed(() => chainWriter.runOnce())
    await superuser.query('analyze app.audit_link')
    log(`sealed in ${sealed.seconds.toFixed(1)} s; verifying`)
    const scope = fullScope(large, 'operator:acceptance')
    const verified = await timed(() => app.read(scope, (tx) => verify(tx, keys)))
    const { intact, events, unsealed } = verified.result
    log(`verified in ${verified.seconds.toFixed(1)} s; exporting`)
    const offline = await app.read(scope, (tx) => verifyOffline(tx, keys, events))
    log(`verified offline in ${offline.seconds.toFixed(1)} s; tampering`)

    await insertEvents(superuser, keys, small, plan.chain)
    await chainWriter.runOnce()
    const target = await addCheckpoint(superuser, keys, small)
    const tampered = await timed(() => runTamperings(superuser, keys, target, randomFrom(seed)))

    const per_second = (seconds: number) => Math.round(plan.events / seconds)
    // The tenant's own creation is an event too.
    const isWhole = intact && unsealed === 0 && events === plan.events + 1
    const isSame = offline.result.intact && offline.result.events === events
    const aim_s = VERIFY_LIMIT_S * Math.max(1, plan.events / 1_000_000)
    const isFast = verified.seconds <= aim_s && offline.seconds <= aim_s
    return {
      events: plan.events,
      recorded_per_s: per_second(inserted.seconds),
      sealed_per_s: per_second(sealed.seconds),
      verified_per_s: per_second(verified.seconds),
      verify_s: Number(verified.seconds.toFixed(1)),
      verify_cpu_s: Number(verified.cpu_s.toFixed(1)),
      offline_s: Number(offline.seconds.toFixed(1)),
      offline_cpu_s: Number(offline.cpu_s.toFixed(1)),
      verify_aim_s: VERIFY_LIMIT_S,
      intact,
      tamperings: tampered.result,
      tampering_s: Number(tampered.seconds.toFixed(1)),
      passed: isWhole && isSame && isFast && tampered.result.passed && !abort.signal.aborted,
    }
  } finally {
    await Promise.allSettled([app.end(), worker.end()])
  }
}

/** One more in the middle, so that there are two to tamper with. */
async function addCheckpoint(superuser: pg.Client, keys: AuditKeys, tenant_id: string): Promise<ChainTarget> {
  const { rows } = await superuser.query<{ seq: number; hash: string }>(
    'select seq, hash from app.audit_link where tenant_id = $1 order by seq',
    [tenant_id],
  )
  const middle = rows[Math.floor(rows.length / 2)] as { seq: number; hash: string }
  const { seq, hash, created_at, key_id, signature } = keys.signCheckpoint(
    tenant_id,
    middle,
    buildEvent('', 0).recorded_at,
  )
  await superuser.query(
    'insert into app.audit_checkpoint (tenant_id, seq, hash, created_at, key_id, signature) values ($1, $2, $3, $4, $5, $6)',
    [tenant_id, seq, hash, created_at, key_id, signature],
  )
  const found = await superuser.query<{ seq: number }>('select seq from app.audit_checkpoint where tenant_id = $1', [
    tenant_id,
  ])
  return { tenant_id, size: rows.length, checkpoints: found.rows.map((row) => row.seq) }
}

log(`seed ${seed}`)
const database = await startDurableDatabase()
const superuser = new pg.Client({ ...database.connection('postgres'), types: wireTypes })
superuser.on('error', () => {})
try {
  await superuser.connect()
  const result = await run(database, superuser)
  console.log(JSON.stringify({ run: 'audit-tampering', seed, ...result }))
  process.exitCode = result.passed ? 0 : 1
} finally {
  await superuser.end().catch(() => {})
  await database.stop()
}
