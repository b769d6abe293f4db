import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readMigrations } from '#kernel/database/migrations.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { projectRoot, TEST_MASTER_KEY } from '#test/support/database.ts'
import { cloneDatabase } from '#test/support/test-app.ts'
import { describeCause } from './describe-cause.ts'
import {
  assertChecksPass,
  type CheckName,
  checkNames,
  evaluateSchema,
  startupChecks,
  waitForDatabase,
  withCheckContext,
} from './startup-checks.ts'

const migrations = readMigrations(path.join(projectRoot, 'db/migrations'))
const keyring = createKeyring(TEST_MASTER_KEY)

let clone: Awaited<ReturnType<typeof cloneDatabase>>
let admin: pg.Client
beforeAll(async () => {
  clone = await cloneDatabase()
  admin = new pg.Client(clone.postgres)
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await clone.drop()
})

type Facts = Parameters<typeof withCheckContext>[0]
const soundFacts = (): Facts => ({ connections: clone, migrations, keyring, production: false })

const judge = (facts: Partial<Facts> = {}, names: readonly CheckName[] = checkNames): Promise<string> =>
  withCheckContext({ ...soundFacts(), ...facts }, (guarded) =>
    assertChecksPass(guarded, names).then(
      () => 'sound',
      (error: Error) => error.message,
    ),
  )

test('every check has a name that can be asked for', () => {
  expect(startupChecks.map(({ name }) => name)).toEqual(checkNames)
})

test('a migrated and seeded database is sound', async () => {
  expect(await judge()).toBe('sound')
})

describe('refused, with what to do:', () => {
  /** Breaks the database for the length of one judgement. */
  const whenBroken = async (breaking: string, repair: string): Promise<string> => {
    await admin.query(breaking)
    try {
      return await judge()
    } finally {
      await admin.query(repair)
    }
  }

  test.each(['app', 'worker', 'steward'] as const)('a connection that is not %s', async (role) => {
    const said = await judge({ connections: { ...clone, [role]: clone.postgres } })
    const name = role === 'app' ? 'DATABASE_URL' : `${role.toUpperCase()}_DATABASE_URL`
    expect(said).toMatch(`The connection runs as postgres, but must be ${role}; "npx probity roles --print"`)
    expect(said).toContain(`Look at ${name}.`)
  })

  test('a schema that is older', async () => {
    const newer = { version: '9999', name: 'add_more', checksum: 'x', sql: '' }
    const said = await judge({ migrations: [...migrations, newer] })
    expect(said).toMatch(/^The schema is at \d{4}, but this version needs 9999\. Run "npx probity migrate"\.$/)
  })

  test('a migration that was changed after it was applied', async () => {
    const [first, ...others] = migrations
    const said = await judge({ migrations: [{ ...(first as (typeof migrations)[0]), checksum: 'other' }, ...others] })
    expect(said).toMatch(/^Migration 0001_\w+ was changed after it was applied\. Restore the file/)
  })

  test('names the first few tables whose isolation policy is broken', async () => {
    const tables = ['job', 'upload', 'idempotency', 'api_key', 'user_account', 'change_request']
    const all = (verb: string) => tables.map((name) => `alter table app.${name} ${verb} row level security`).join(';')
    const said = await whenBroken(all('no force'), all('force'))
    expect(said).toMatch(
      /^The isolation of tenants is not intact:\n( {2}- \w+: row security is not forced\n){5} {2}- and 1 more\n/,
    )
  })

  test('a database without a seed', async () => {
    const retire = (to: string, from: string) =>
      `begin; select set_config('app.actor', 'operator:test', true), set_config('app.tenant_id', app.system_tenant()::text, true);
       update app.signing_key set state = '${to}' where state = '${from}'; commit`
    const said = await whenBroken(retire('retired', 'active'), retire('active', 'retired'))
    expect(said).toBe('The database is not seeded. Run "npx probity seed".')
  })

  test('a master key that opens nothing', async () => {
    const said = await judge({ keyring: createKeyring(Buffer.alloc(32, 8)) })
    expect(said).toMatch(/^The signing key of the built-in issuer was sealed with another master key\. Restore/)
  })

  test('a missing integrity key, and one whose master key is not there', async () => {
    const rename = (to: string, from: string) =>
      `begin; select set_config('app.actor', 'operator:test', true), set_config('app.restoring', 'on', true);
       update app.integrity_key set purpose = '${to}' where purpose = '${from}'; commit`
    const said = await whenBroken(rename('other', 'cursor'), rename('cursor', 'other'))
    expect(said).toBe('There is no integrity key for cursor yet. Run "npx probity seed".')
    const lost = await judge({ keyring: createKeyring(Buffer.alloc(32, 8)) }, ['integrity keys'])
    expect(lost).toMatch(
      /^The integrity key for audit-checkpoint was encrypted with the master key [0-9a-f]{8}, which is not there\. Add/,
    )
  })

  test('an integrity key that is damaged, which is not called a missing master key', async () => {
    const alter = (text: string) =>
      `begin; select set_config('app.actor', 'operator:test', true), set_config('app.restoring', 'on', true);
       update app.integrity_key set wrapped = ${text} where purpose = 'cursor'; commit`
    const said = await whenBroken(alter(`wrapped || 'AAAA'`), alter('left(wrapped, -4)'))
    expect(said).toMatch(
      /^The integrity key for cursor is damaged in the database, or the master key [0-9a-f]{8} is not/,
    )
    expect(said).not.toContain('which is not there')
  })

  test('active demo tenants in production', async () => {
    expect(await judge({ production: true })).toBe(
      'Demo tenants are active with NODE_ENV=production: demo, demo-two. ' +
        'Run "npx probity tenant suspend demo" and "npx probity tenant suspend demo-two".',
    )
  })

  test('a wrong password', async () => {
    const said = await judge({ connections: { ...clone, app: { ...clone.app, password: 'guess' } } })
    expect(said).toMatch(/^Database cannot be checked: password authentication failed for user "app"\. Check that/)
    expect(said).not.toContain('guess')
  })
})

describe('waiting', () => {
  const patience = (onWait: (reason: string) => void, limit_ms: number) => ({
    limit_ms,
    onWait,
    signal: new AbortController().signal,
  })
  const nowhere = { host: '/nowhere', user: 'app', password: 'x', database: 'x' }

  test('a server that answers is not waited for', async () => {
    const waits: string[] = []
    await withCheckContext(soundFacts(), (guarded) =>
      waitForDatabase(
        guarded,
        patience((reason) => waits.push(reason), 0),
      ),
    )
    expect(waits).toEqual([])
  })

  test('one that is not there is, for a while, and then named', async () => {
    const waits: string[] = []
    const connections = { ...clone, app: nowhere }
    const outcome = withCheckContext({ ...soundFacts(), connections }, (guarded) =>
      waitForDatabase(
        guarded,
        patience((reason) => waits.push(reason), 600),
      ),
    )
    await expect(outcome).rejects.toThrow(/^The database cannot be used: connect ENOENT \/nowhere.* Check that/)
    expect(waits).toEqual([expect.stringContaining('ENOENT')])
  })

  test('one that refuses us is not', async () => {
    const waits: string[] = []
    const connections = { ...clone, app: { ...clone.app, password: 'guess' } }
    const outcome = withCheckContext({ ...soundFacts(), connections }, (guarded) =>
      waitForDatabase(
        guarded,
        patience((reason) => waits.push(reason), 60_000),
      ),
    )
    await expect(outcome).rejects.toThrow(/password authentication failed/)
    expect(waits).toEqual([])
  })
})

test('a newer schema than ours is fine: another replica has migrated already', () => {
  const applied = [
    ...migrations.map(({ version, checksum }) => ({ version, checksum })),
    { version: '9999', checksum: 'x' },
  ]
  expect(evaluateSchema(applied, migrations)).toMatchObject({ ok: true, detail: expect.stringContaining('newer') })
  expect(evaluateSchema([], migrations)).toMatchObject({ ok: false, detail: expect.stringContaining('at 0000') })
})

test('the reason of a failure is its innermost one', () => {
  const inner = new Error('connect ECONNREFUSED')
  expect(describeCause(new Error('outer', { cause: inner }))).toBe('connect ECONNREFUSED')
  expect(describeCause(new AggregateError([inner]))).toBe('connect ECONNREFUSED')
  expect(describeCause('text')).toBe('text')
})
