/** Migrations outside a transaction: which are accepted, that writes go on meanwhile, and what an interrupted one leaves behind. */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { projectRoot } from '#test/support/database.ts'
import { cloneDatabase } from '#test/support/test-app.ts'
import { type Migration, migrate, planMigrations, readMigrations } from './migrations.ts'
import { parseOnlineMigration } from './online-migration.ts'

const ONLINE = '-- transaction: off\n'
const INDEX =
  'create index concurrently if not exists user_account_test_idx on app.user_account (tenant_id, created_at)'

describe('reading migration files', () => {
  const read = (sql: string) => parseOnlineMigration('0099_index_users.sql', sql)

  test('accepts one repeatable index statement after the marker', () => {
    expect(read(`${ONLINE}-- Why.\n${INDEX};\n`)).toEqual({
      action: 'create',
      index: 'user_account_test_idx',
      table: 'user_account',
    })
    expect(read(`${ONLINE}drop index concurrently if exists app.old_idx;`)).toEqual({
      action: 'drop',
      index: 'old_idx',
      table: null,
    })
    expect(read('create table app.t (a int);')).toBeNull()
  })

  test.each([
    ['two statements', `${ONLINE}${INDEX}; ${INDEX.replace('test_idx', 'other_idx')};`],
    ['a statement that fails when it is repeated', `${ONLINE}${INDEX.replace('if not exists ', '')};`],
    ['a statement that takes a lock', `${ONLINE}create index if not exists t_idx on app.user_account (tenant_id);`],
    ['another kind of statement', `${ONLINE}alter table app.user_account add column x int;`],
    ['nothing', ONLINE],
  ])('refuses %s', (_, sql) => {
    expect(() => read(sql)).toThrow('exactly one statement')
  })

  test('refuses CONCURRENTLY without the marker', () => {
    expect(() => read(INDEX)).toThrow('its first line must be "-- transaction: off"')
  })

  test.each([
    ['a gap', ['0001_a.sql', '0003_b.sql'], '0003_b.sql is out of order'],
    ['two files with one number', ['0001_a.sql', '0002_b.sql', '0002_c.sql'], '0002_c.sql is out of order'],
  ])('refuses %s', (_, files, message) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-migrations-'))
    for (const file of files) fs.writeFileSync(path.join(folder, file), 'select 1;')
    expect(() => readMigrations(folder)).toThrow(message)
    fs.rmSync(folder, { recursive: true })
  })
})

describe('a migration outside a transaction', () => {
  const landed = readMigrations(path.join(projectRoot, 'db/migrations'))
  let clone: Awaited<ReturnType<typeof cloneDatabase>>
  let superuser: pg.Client

  beforeAll(async () => {
    clone = await cloneDatabase()
    superuser = new pg.Client(clone.postgres)
    await superuser.connect()
  })
  afterAll(async () => {
    await superuser.end()
    await clone.drop()
  })

  const online = (version: string, index: string, columns = 'tenant_id, created_at'): Migration => {
    const sql = `${ONLINE}create index concurrently if not exists ${index} on app.user_account (${columns});`
    const statement = { action: 'create', index, table: 'user_account' } as const
    return {
      version,
      name: `create_${index}`,
      sql,
      checksum: createHash('sha256').update(sql).digest('hex'),
      online: statement,
    }
  }
  const isValid = async (index: string): Promise<boolean | undefined> =>
    (await superuser.query(`select indisvalid from pg_index where indexrelid = to_regclass('app.' || $1)`, [index]))
      .rows[0]?.indisvalid
  const runOf = async (version: string) =>
    (
      await superuser.query(
        `select attempts, finished_at is not null as finished, exists (select from app.migration m where m.version = r.version) as applied
           from app.migration_run r where version = $1`,
        [version],
      )
    ).rows[0]
  /** Process ids of sessions of this database whose current or last statement starts like this. */
  const sessions = async (statement: string, condition = 'true'): Promise<number[]> =>
    (
      await superuser.query<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and usename = 'migrator' and query like $1 and ${condition}`,
        [`${statement}%`],
      )
    ).rows.map(({ pid }) => pid)

  /** A transaction that has written to the table: a concurrent index waits for its end. */
  async function withWriter<T>(body: (end: () => Promise<void>) => Promise<T>): Promise<T> {
    const writer = new pg.Client(clone.postgres)
    await writer.connect()
    await writer.query('begin')
    await writer.query('lock table app.user_account in row exclusive mode')
    await writer.query('select pg_current_xact_id()')
    try {
      return await body(async () => void (await writer.query('commit')))
    } finally {
      await writer.end()
    }
  }

  test('is killed half-way, leaves an invalid index, and is completed by the next run', async () => {
    const migrations = [...landed, online('9001', 'user_account_killed_idx')]
    await withWriter(async (end) => {
      const killed = migrate(clone.migrator, migrations).then(
        () => 'applied',
        (error: Error) => error.message,
      )
      const building = () => sessions('-- transaction: off', `wait_event_type = 'Lock'`)
      await expect.poll(async () => (await building()).length).toBe(1)
      // Writes go on while the index is built.
      await superuser.query(`set lock_timeout = '5s'`)
      await superuser.query(`set app.actor = 'operator:test'`)
      await superuser.query('update app.user_account set name = name where false')
      await superuser.query('select pg_terminate_backend($1)', await building())
      expect(await killed).toContain('an index that was left incomplete is dropped and rebuilt')
      await end()
    })
    await expect.poll(() => isValid('user_account_killed_idx')).toBe(false)
    expect(await runOf('9001')).toEqual({ attempts: 1, finished: false, applied: false })
    expect((await planMigrations(clone.migrator, migrations)).pending.map(({ version }) => version)).toEqual(['9001'])

    expect(await migrate(clone.migrator, migrations)).toHaveLength(1)
    expect(await isValid('user_account_killed_idx')).toBe(true)
    expect(await runOf('9001')).toEqual({ attempts: 2, finished: true, applied: true })
    expect(await migrate(clone.migrator, migrations)).toEqual([])
  })

  test('is completed when only its record is missing', async () => {
    const migration = online('9002', 'user_account_built_idx')
    await superuser.query(
      `set role app_owner; create index user_account_built_idx on app.user_account (tenant_id, created_at); reset role`,
    )
    await superuser.query(`insert into app.migration_run (version, checksum) values ('9002', $1)`, [migration.checksum])
    const all = [...landed, online('9001', 'user_account_killed_idx'), migration]
    expect((await migrate(clone.migrator, all)).map(({ version }) => version)).toEqual(['9002'])
    expect(await runOf('9002')).toEqual({ attempts: 2, finished: true, applied: true })
  })

  test('is not recorded when the index of that name belongs to another table', async () => {
    const wrong = {
      ...online('9003', 'user_account_killed_idx'),
      online: { action: 'create', index: 'user_account_killed_idx', table: 'api_key' } as const,
    }
    const all = [...landed, wrong]
    await expect(migrate(clone.migrator, all)).rejects.toThrow('it is valid, on user_account')
    expect(await runOf('9003')).toEqual({ attempts: 1, finished: false, applied: false })
  })

  test('is applied once by two processes, which do not wait for each other for ever', async () => {
    const migrations = [...landed, online('9004', 'user_account_twice_idx')]
    const runs = await withWriter(async (end) => {
      const first = migrate(clone.migrator, migrations)
      await expect.poll(async () => (await sessions('-- transaction: off', `wait_event_type = 'Lock'`)).length).toBe(1)
      const second = migrate(clone.migrator, migrations)
      await expect.poll(async () => (await sessions('select pg_try_advisory_lock')).length).toBe(1)
      await end()
      return Promise.all([first, second])
    })
    expect(runs.map((applied) => applied.length)).toEqual([1, 0])
    expect(await isValid('user_account_twice_idx')).toBe(true)
  })
})
