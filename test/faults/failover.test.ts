/**
 * Servers of their own, with PostgreSQL's own tools: a dump into another cluster, a standby, and a failover that loses what the
 * standby had not received. Skipped, and said so, where the tools are not installed.
 */
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rolesSql } from '#app/embedded/roles.ts'
import { loadAuditKeys, prepareIntegrityKeys } from '#app/integrity-keys.ts'
import { modules } from '#app/modules.ts'
import { createReadinessChecks } from '#app/readiness.ts'
import { createTenant } from '#app/seed.ts'
import { assertChecksPass, type CheckContext, waitForDatabase } from '#app/startup-checks.ts'
import type { AuditKeys } from '#kernel/audit/chain.ts'
import { AuditChainWriter } from '#kernel/audit/chain-writer.ts'
import { recordEvent } from '#kernel/audit/record.ts'
import { migrate, readMigrations } from '#kernel/database/migrations.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { type ConnectionConfig, toConnectionConfig } from '#kernel/database/servers.ts'
import { Database } from '#kernel/database/tx.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { createSilentLog } from '#kernel/log.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { verifyChain } from '#modules/audit/chain-reader.ts'
import { projectRoot, TEST_MASTER_KEY } from '../support/database.ts'
import { createDatabaseFolder } from '../support/database-folder.ts'
import { createServerCluster, findServerTools, type ServerCluster } from '../support/server-cluster.ts'

const TESTS = 3
const tools = findServerTools()
if (!tools) console.warn(`${TESTS} test(s) skipped: no PostgreSQL server with pg_dump and pg_restore is installed`)

const keyring = createKeyring(TEST_MASTER_KEY)
let keys: AuditKeys
const tenant_id = uuidv7()
const scope = fullScope(tenant_id, 'operator:test')

const openPool = (connection: ConnectionConfig) =>
  new Database({ connection, max: 3, prepared: true, statement_timeout_ms: 30_000, wait_ms: 10_000 })

/** What a process has: pools as app and worker, and a chain writer. */
function openProcess(connection: (role: string) => ConnectionConfig) {
  const [app, worker] = [openPool(connection('app')), openPool(connection('worker'))]
  const chainWriter = new AuditChainWriter({ transactions: app, queue: worker, keys, log: createSilentLog() })
  const record = () =>
    app.write(scope, async (tx) =>
      recordEvent(tx, keys, {
        operation: 'x',
        object_type: 'x',
        object_id: 'x',
        request_id: null,
        restriction_id: null,
        detail: {},
      }),
    )
  return {
    app,
    chainWriter,
    record,
    /** Until nothing is left over: a connection that was lost is noticed by the first that uses it. */
    chainAll: () =>
      expect
        .poll(async () => {
          await chainWriter.runOnce().catch(() => {})
          return chainWriter.findBacklog().catch(() => null)
        })
        .toEqual({ events: 0, age_s: 0 }),
    verify: () => app.read(scope, (tx) => verifyChain(tx, keys, async () => {})),
    close: () => Promise.all([app.end(), worker.end()]),
  }
}

async function run(cluster: ServerCluster, sql: string, database = 'probity') {
  const client = new pg.Client(cluster.connection('postgres', database))
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function createDatabase(cluster: ServerCluster): Promise<void> {
  await run(cluster, 'create database probity', 'postgres')
  await run(cluster, rolesSql({ database: 'probity' }))
}

describe.skipIf(!tools)('several clusters', { timeout: 120_000 }, () => {
  const folder = createDatabaseFolder('probity-cl-')
  fs.chmodSync(folder, 0o755)
  const dir = (name: string) => path.join(folder, name)
  const clusters: ServerCluster[] = []
  let primary: ServerCluster

  const started = async (cluster: ServerCluster): Promise<ServerCluster> => {
    clusters.push(cluster)
    await cluster.start()
    return cluster
  }

  beforeAll(async () => {
    primary = await started(await createServerCluster(tools as string, dir('a')))
    await createDatabase(primary)
    const migrations = readMigrations(path.join(projectRoot, 'db/migrations'))
    await migrate(primary.connection('migrator'), migrations)
    const [app, steward] = [openPool(primary.connection('app')), openPool(primary.connection('steward'))]
    const context = { app, steward, keyring, modules, project_root: projectRoot }
    const facts = { tenant_id, slug: 'moved', name: 'Moved', demo: false, four_eyes: false }
    await prepareIntegrityKeys(context)
    await createTenant(context, facts, 'operator:test')
    keys = await loadAuditKeys(context)
    const process = openProcess((role) => primary.connection(role))
    for (let n = 0; n < 3; n++) await process.record()
    // Further than a new cluster gets while it is filled.
    await run(
      primary,
      'do $$ begin for n in 1..5000 loop perform pg_current_xact_id(); commit; end loop; end $$ language plpgsql',
    )
    await Promise.all([process.close(), app.end(), steward.end()])
  }, 120_000)
  afterAll(async () => {
    for (const cluster of clusters) await cluster.stop('kill')
    fs.rmSync(folder, { recursive: true, force: true })
  })

  test('a dump that is restored into another cluster goes on with its chain, intact', async () => {
    const source = openProcess((role) => primary.connection(role))
    await source.record()
    await source.chainAll()
    await source.record()
    await source.close()
    const file = path.join(primary.socket_dir, 'probity.dump')
    const as = (cluster: ServerCluster) => ['-h', cluster.socket_dir, '-U', 'postgres', '-d', 'probity']
    await primary.run('pg_dump', [...as(primary), '-Fc', '-f', file])
    const target = await started(await createServerCluster(tools as string, dir('b')))
    await createDatabase(target)
    await target.run('pg_restore', [...as(target), '--exit-on-error', file])

    const process = openProcess((role) => target.connection(role))
    const events = async () => Number((await run(target, 'select count(*) as n from app.audit_event'))[0].n)
    const before = await events()
    for (let n = 0; n < 3; n++) await process.record()
    const [newest] = await run(
      target,
      'select max(last_txid) > pg_snapshot_xmax(pg_current_snapshot())::text::bigint as ahead from app.audit_head',
    )
    expect(newest.ahead).toBe(true)
    expect(await process.chainWriter.findBacklog()).toMatchObject({ events: 4 })
    expect(await process.verify()).toMatchObject({ intact: true, unsealed: 4 })
    await process.chainAll()
    expect(await process.verify()).toMatchObject({ intact: true, unsealed: 0 })
    await process.record()
    await process.chainAll()
    expect(await process.verify()).toMatchObject({ intact: true, unsealed: 0, events: before + 4 })
    await process.close()
    await target.stop()
  })

  test('of several servers the one that takes writes is used, whichever it is', async () => {
    await primary.stop()
    const standby = primary.copyAsStandby(dir('c'), 'there')
    await primary.start()
    await started(standby)
    const hosts = `${encodeURIComponent(standby.socket_dir)},${encodeURIComponent(primary.socket_dir)}`
    const url = (role: string) => toConnectionConfig(`postgres://${role}@${hosts}/probity`, { ssl: false })
    const process = openProcess(url)
    await process.record()
    await process.chainAll()
    const alone = (await process.verify()).events

    // The primary is gone and the standby takes over: the same process goes on there.
    await primary.stop('kill')
    await expect(process.record()).rejects.toMatchObject({ code: 'dependency_unavailable', status: 503 })
    await run(standby, 'select pg_promote()')
    await expect.poll(() => process.record().then(() => 'recorded', String)).toBe('recorded')
    await process.chainAll()
    expect(await process.verify()).toMatchObject({ intact: true, unsealed: 0, events: alone })
    await process.close()
    await standby.stop()
    await primary.start()
  })

  test('a standby is not ready and refuses writes; once it is promoted, what it lost hides nothing that follows', async () => {
    await primary.stop()
    const standby = primary.copyAsStandby(dir('d'))
    await primary.start()
    const process = openProcess((role) => primary.connection(role))
    // Lost with the primary: recorded, chained and seen by this process, but never received by the standby.
    for (let n = 0; n < 20; n++) await process.record()
    await process.chainAll()
    const lost = await process.verify()

    await primary.stop('kill')
    await started(standby)
    const checks = createReadinessChecks({
      database: process.app,
      expected_schema: '0001',
      isDraining: () => false,
      countPlugins: async () => ({ active: 0, invalid: 0 }),
      checkToolProtocol: async () => ({ status: 'ok' }),
      checkErasures: async () => ({ status: 'ok' }),
    })
    await expect
      .poll(() => checks['database']?.().catch(() => null))
      .toEqual({ status: 'failed', detail: 'the server is a standby and takes no writes' })
    await expect(process.record()).rejects.toMatchObject({ code: 'dependency_unavailable', status: 503 })
    const guarded = { app: process.app } as CheckContext
    await expect(assertChecksPass(guarded, ['database'])).rejects.toThrow('The server is a standby and takes no writes')
    const waits: string[] = []
    const waiting = { limit_ms: 0, onWait: (reason: string) => waits.push(reason), signal: AbortSignal.timeout(60_000) }
    await expect(waitForDatabase(guarded, waiting)).rejects.toThrow('target_session_attrs=read-write')

    await run(standby, 'select pg_promote()')
    await expect.poll(() => process.record().then(() => 'recorded', String)).toBe('recorded')
    expect((await process.chainWriter.findBacklog()).events).toBe(1)
    await process.chainAll()
    const kept = await process.verify()
    expect(kept).toMatchObject({ intact: true, unsealed: 0, events: lost.events - 20 + 1 })
    expect(await checks['database']?.()).toEqual({ status: 'ok' })
    await process.close()
  })
})
