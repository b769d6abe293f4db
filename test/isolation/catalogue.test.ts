/** Suites 1 and 2: every table is isolated according to the catalogue, and a process on a database where one is not does not become ready. */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createReadinessChecks } from '#app/readiness.ts'
import { findIsolationFaults, isolationRuleCount } from '#kernel/database/isolation.ts'
import { Database } from '#kernel/database/tx.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { connect, LATEST_SCHEMA, readTables, selectIsolated, type Table } from './support.ts'

let w: TestApp
let app: pg.Client
let superuser: pg.Client
let tables: Table[]

beforeAll(async () => {
  w = await startTestApp()
  app = await connect(w.clone.app)
  superuser = await connect(w.clone.postgres)
  tables = await readTables(app)
})
afterAll(async () => {
  await Promise.all([app.end(), superuser.end()])
  await w.close()
})

const faults = () => findIsolationFaults(async (text) => (await app.query(text)).rows, LATEST_SCHEMA)

describe('catalogue', () => {
  test('has no isolation fault, as seen by app', async () => {
    expect(await faults()).toEqual([])
  })

  test('lists more than a few tables', () => {
    expect(isolationRuleCount).toBeGreaterThan(35)
    expect(selectIsolated(tables).length).toBeGreaterThan(15)
  })

  test('classifies every table, and every isolation kind is in use', () => {
    expect(tables.filter(({ kind }) => !kind).map(({ name }) => name)).toEqual([])
    const inUse = new Set(tables.map(({ kind }) => kind))
    for (const kind of [
      'tenant',
      'append',
      'copy',
      'erasable',
      'shared',
      'queue',
      'ledger',
      'directory',
      'system',
    ] as const)
      expect(inUse).toContain(kind)
  })

  test('gives worker and steward the same answer', async () => {
    for (const role of ['worker', 'steward', 'postgres'] as const) {
      const client = await connect(w.clone[role])
      expect(await findIsolationFaults(async (text) => (await client.query(text)).rows, LATEST_SCHEMA)).toEqual([])
      await client.end()
    }
  })
})

describe('start-up guard', () => {
  /** New checks each time: readiness keeps its answer for ten seconds. */
  const checkIsolation = async (connection: pg.ClientConfig = w.clone.app, expected_schema = LATEST_SCHEMA) => {
    const options = { max: 1, prepared: false, statement_timeout_ms: 5000, wait_ms: 2000 }
    const database = new Database({ connection, ...options })
    const checks = createReadinessChecks({
      database,
      expected_schema,
      isDraining: () => false,
      countPlugins: async () => ({ active: 0, invalid: 0 }),
      checkToolProtocol: async () => ({ status: 'ok' }),
      checkErasures: async () => ({ status: 'ok' }),
    })
    const check = await checks['tenant_isolation']?.()
    await database.end()
    return check?.status
  }

  test('reports a sound database as ready', async () => {
    expect(await checkIsolation()).toBe('ok')
  })

  test('keeps what it found last for a minute while a busy database answers late', async () => {
    const database = new Database({
      connection: w.clone.app,
      max: 1,
      prepared: false,
      statement_timeout_ms: 5000,
      wait_ms: 2000,
    })
    let now_ms = 0
    let gate = Promise.resolve()
    const checks = createReadinessChecks({
      database: {
        one: (...asked) => database.one(...asked),
        read: async (...asked) => {
          await gate
          return database.read(...asked)
        },
        discardIdle: () => database.discardIdle(),
      },
      expected_schema: LATEST_SCHEMA,
      isDraining: () => false,
      countPlugins: async () => ({ active: 0, invalid: 0 }),
      checkToolProtocol: async () => ({ status: 'ok' }),
      checkErasures: async () => ({ status: 'ok' }),
      timeout_ms: 2,
      clock: () => now_ms,
    })
    const check = async () => (await checks['tenant_isolation']?.())?.status
    expect(await check()).toBe('ok')
    let reject: (reason: Error) => void = () => {}
    gate = new Promise((_, refuse) => {
      reject = refuse
    })
    now_ms = 59_000
    expect(await check()).toBe('ok')
    now_ms = 60_000
    const late = check()
    reject(new Error('the database is gone'))
    await expect(late).rejects.toThrow('the database is gone')
    gate = Promise.resolve()
    expect(await check()).toBe('ok')
    await database.end()
  })

  test('returns 503 while a table is not isolated', async () => {
    await superuser.query('alter table app.job no force row level security')
    try {
      expect(await checkIsolation()).toBe('failed')
      const ready = await w.call('GET /health/ready')
      expect(ready.status).toBe(503)
      expect(ready.json.checks.tenant_isolation.status).toBe('failed')
      expect(ready.text).not.toContain('job')
    } finally {
      await superuser.query('alter table app.job force row level security')
    }
    expect(await checkIsolation()).toBe('ok')
  })

  test('lets a process older than the schema skip only what a migration may have changed', async () => {
    const broken = async (breaking: string, repair: string) => {
      await superuser.query(breaking)
      try {
        return [await checkIsolation(), await checkIsolation(w.clone.app, '0001')]
      } finally {
        await superuser.query(repair)
      }
    }
    const own = 'tenant_id = (select app.tenant_id())'
    const queued = `${own} or (select current_user = 'worker')`
    const policy = (expression: string) => `policy wall on app.job using (${expression}) with check (${expression})`
    const restrictive = policy(queued).replace(' using', ' as restrictive using')
    expect(await broken(`alter ${policy(own)}`, `alter ${policy(queued)}`)).toEqual(['failed', 'ok'])
    expect(await broken(`alter ${policy('true')}`, `alter ${policy(queued)}`)).toEqual(['failed', 'failed'])
    expect(await broken('drop policy wall on app.job', `create ${restrictive}`)).toEqual(['failed', 'failed'])
    const unforced = await broken(
      'alter table app.job no force row level security',
      'alter table app.job force row level security',
    )
    expect(unforced).toEqual(['failed', 'failed'])
    expect(await checkIsolation()).toBe('ok')
  })

  test('refuses a connection with more privileges than app', async () => {
    expect(await checkIsolation(w.clone.postgres)).toBe('failed')
    expect(await checkIsolation(w.clone.steward)).toBe('failed')
  })
})
