/** Backup and restore on real databases: everything is restored as of one instant, and no row reaches another tenant. */
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainTenantEvents } from '#kernel/audit/chain-writer.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import { createSilentLog } from '#kernel/log.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { verifyChain } from '#modules/audit/chain-reader.ts'
import { HOUSEKEEPING } from '#modules/tenant/index.ts'
import {
  BackupFixture,
  dumpTables,
  keyring,
  queryDatabase,
  readLines,
  readSections,
  restoreInto,
} from '#test/support/backup-fixture.ts'
import { type EmptyDatabase, runSql } from '#test/support/empty-database.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { waitUntil } from '#test/support/job-test-app.ts'
import type { TestApp } from '#test/support/test-app.ts'
import { createRuntime } from '../runtime.ts'

let b: BackupFixture
let w: TestApp
let one: ExampleTenant
let two: ExampleTenant
let running_job: string
beforeAll(async () => {
  b = await BackupFixture.create()
  ;({ w, one, two } = b)
  running_job = await b.runningJob()
})
afterAll(() => b.close())

describe('a restored backup', () => {
  let file: string
  let target: EmptyDatabase
  const owner = { kind: 'object', id: uuidv7() } as const
  const at = { table: 'example', row_id: '1', column: 'secret' }
  let encrypted: Buffer

  beforeAll(async () => {
    encrypted = await one.write((tx) => w.kernel.encryption.encrypt(tx, owner, at, Buffer.from('hunter2')))
    file = b.newFile()
    const taken = await b.take(file)
    target = await b.newTarget()
    expect(await restoreInto(target, file)).toEqual(taken)
  })

  test('has everything there was, and a backup of it is the same', async () => {
    const before = await dumpTables(w.clone.postgres)
    const empty = Object.entries(before).filter(([, rows]) => rows.length === 0)
    expect(empty, 'each table needs rows, or nothing is shown about it').toEqual([])
    expect(await dumpTables(target.postgres)).toEqual(before)
    const again = b.newFile()
    await b.take(again, { connections: { ...w.clone, ...target } })
    expect(await readSections(again)).toEqual(await readSections(file))
  })

  test('gives a running job back to the queue and drops its lease', async () => {
    const [job] = await queryDatabase(target.postgres, 'select * from app.job where job_id = $1', [running_job])
    const [was] = await queryDatabase(w.clone.postgres, 'select * from app.job where job_id = $1', [running_job])
    expect(was).toMatchObject({ state: 'running', lease_token: expect.any(String) })
    expect(job).toEqual({ ...was, state: 'queued', lease_token: null, lease_until: null })
  })

  test('can be served at once, by the keys and tokens there were', async () => {
    const runtime = await createRuntime({
      connections: target,
      keyring,
      build: w.kernel.build,
      log: createSilentLog(),
      issuers: [],
      public_url: null,
      cors_origins: [],
      trusted_proxies: 0,
      pool_size: 4,
      prepared_statements: true,
      statement_timeout_ms: 15_000,
      upload_max_bytes: 1024,
      strict: true,
    })
    const server = await runtime.createServer()
    try {
      // A check that a busy machine answers too late is asked again.
      await expect.poll(() => runtime.kernel.readiness()).toMatchObject({ status: 'ready' })
      const get = async (url: string) => {
        const headers = { authorization: `Bearer ${await one.token()}` }
        return (await server.app.inject({ method: 'GET', url, headers })).json()
      }
      expect(await get(`/api/jobs/${running_job}`)).toMatchObject({ state: 'queued', kind: HOUSEKEEPING })
      expect((await get('/api/users')).items.map((user: { name: string }) => user.name)).toContainEqual(
        expect.stringContaining('漢字'),
      )
      const scope = fullScope(one.tenant_id, 'operator:test')
      const decrypt = () =>
        runtime.database.read(scope, (tx) => runtime.kernel.encryption.decrypt(tx, owner, at, encrypted))
      expect((await decrypt()).toString()).toBe('hunter2')
    } finally {
      await server.close()
      await runtime.close()
    }
  })
})

describe('a backup', () => {
  test('is one instant: what is written meanwhile is wholly in or wholly out', async () => {
    const file = b.newFile()
    const known = await w.makeTenant()
    let added: string | undefined
    await b.take(file, {
      onTenant: async () => {
        if (added) return
        added = await w.makeTenant()
        await one.newUser()
        await two.newUser()
      },
    })
    const lines = readLines(file)
    const sections = await readSections(file)
    expect(lines.some((line) => line.includes(known))).toBe(true)
    expect(sections[`${known} approval_policy`]?.rows).toBe(1)
    expect(lines.some((line) => line.includes(added as string))).toBe(false)
    const users = await queryDatabase<{ count: string }>(
      w.clone.postgres,
      'select count(*)::text from app.user_account where tenant_id = any($1)',
      [[one.tenant_id, two.tenant_id]],
    )
    const inFile = [one, two].map(({ tenant_id }) => sections[`${tenant_id} user_account`]?.rows ?? 0)
    expect(inFile.reduce((sum, rows) => sum + rows, 0)).toBe(Number(users[0]?.count) - 2)
  })

  test('is readable by its owner only, replaces no file, and leaves none behind when it fails', async () => {
    const file = b.newFile()
    await b.take(file)
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
    const bytes = fs.readFileSync(file)
    await expect(b.take(file)).rejects.toThrow('exists already')
    expect(fs.readFileSync(file).equals(bytes)).toBe(true)

    const failed = b.newFile()
    const stop = () => Promise.reject(new Error('no space left'))
    await expect(b.take(failed, { onTenant: stop })).rejects.toThrow('no space left')
    expect(fs.existsSync(failed)).toBe(false)
    await expect(b.take(path.join(b.folder, 'missing', 'file'))).rejects.toThrow('ENOENT')
  })

  test('holds every table of the register, each tenant apart from the others', async () => {
    const file = b.newFile()
    await b.take(file)
    const registered = await queryDatabase<{ table_name: string; kind: string }>(
      w.clone.postgres,
      `select table_name, kind from app.wall_register where kind <> 'system'`,
    )
    const sections = await readSections(file)
    const names = registered.filter(({ kind }) => kind !== 'directory').map(({ table_name }) => table_name)
    for (const { tenant_id } of [one, two, { tenant_id: SYSTEM_TENANT }]) {
      expect(names.filter((name) => !sections[`${tenant_id} ${name}`])).toEqual([])
    }
    let inside = ''
    let place = -1
    const { tables } = JSON.parse(readLines(file)[0] as string)
    for (const line of readLines(file).slice(1, -1)) {
      const value = JSON.parse(line)
      if (value.section) {
        inside = value.section.table === 'tenant' ? '' : value.section.tenant_id
        const table = tables.find(({ name }: { name: string }) => name === value.section.table)
        place = table.columns.findIndex(({ name }: { name: string }) => name === 'tenant_id')
      } else if (inside && Array.isArray(value) && value[place] !== inside) {
        expect.unreachable(`a row of ${value[place]} is among those of ${inside}`)
      }
    }
  })
})

describe('the audit record', () => {
  const scope = (tenant_id: string) => fullScope(tenant_id, 'operator:test')

  const verify = (database: Database, tenant_id: string) =>
    database.read(scope(tenant_id), (tx) => verifyChain(tx, w.kernel.auditKeys, async () => {}))

  /** Sealing waits for transactions of the whole server, those of other tests included. */
  const sealAll = (database: Database, tenant_id: string) =>
    waitUntil('everything is sealed', async () => {
      await database.write(scope(tenant_id), (tx) => chainTenantEvents(tx, w.kernel.auditKeys))
      const found = await verify(database, tenant_id)
      return found.unsealed === 0 && found
    })

  test('stays intact, and what was not sealed yet is sealed in the new database', async () => {
    const [half, none] = [await w.makeTenant(), await w.makeTenant()]
    const change = async (tenant_id: string, name: string) => {
      const token = await w.token({ tenant_id })
      const reply = await w.call('POST /api-keys', { token, body: { name, roles: ['service'] } })
      expect(reply.status).toBe(201)
    }
    await change(half, 'first')
    await change(half, 'second')
    const sealed = (await sealAll(w.runtime.database, half)).events
    expect(sealed).toBeGreaterThanOrEqual(2)
    await change(half, 'third')
    await change(half, 'fourth')
    await change(none, 'first')
    const fresh = (await verify(w.runtime.database, none)).unsealed

    const file = b.newFile()
    await b.take(file)
    const target = await b.newTarget()
    await restoreInto(target, file)
    const numbers = await queryDatabase<{ txid: string; count: string }>(
      target.postgres,
      'select txid, count(*) from app.audit_event where tenant_id = any($1) group by txid order by txid',
      [[half, none]],
    )
    expect(numbers.map(({ txid, count }) => [txid, Number(count)])).toEqual([
      ['0', sealed],
      ['1', 2 + fresh],
    ])

    const options = { max: 2, prepared: false, statement_timeout_ms: 15_000, wait_ms: 5000 }
    const copy = new Database({ connection: target.app, ...options })
    try {
      expect(await verify(copy, half)).toMatchObject({ intact: true, events: sealed, unsealed: 2 })
      expect(await verify(copy, none)).toMatchObject({ intact: true, events: 0, unsealed: fresh })
      expect(await sealAll(copy, half)).toMatchObject({ intact: true, events: sealed + 2 })
      expect(await sealAll(copy, none)).toMatchObject({ intact: true, events: fresh })
    } finally {
      await copy.end()
    }
  })
})

describe('tables that refer to themselves or to each other', () => {
  const entangle = `begin; set local role app_owner; set local app.actor = 'operator:test';
    create table app.knot_a (tenant_id uuid not null, a_id bigint not null, b_id bigint, upper_id bigint, folded text generated always as (upper(a_id::text)) stored,
      constraint knot_a_pkey primary key (tenant_id, a_id),
      constraint knot_a_upper_fkey foreign key (tenant_id, upper_id) references app.knot_a (tenant_id, a_id));
    create table app.knot_b (tenant_id uuid not null, b_id bigint not null, a_id bigint not null,
      constraint knot_b_pkey primary key (tenant_id, b_id),
      constraint knot_b_a_fkey foreign key (tenant_id, a_id) references app.knot_a (tenant_id, a_id));
    alter table app.knot_a add constraint knot_a_b_fkey foreign key (tenant_id, b_id) references app.knot_b (tenant_id, b_id);
    select app.wall('app.knot_a', 'append'), app.wall('app.knot_b', 'tenant'); commit`

  test('come back too, without a column that the database computes', async () => {
    await runSql(w.clone.migrator, entangle)
    try {
      for (const tenant of [one, two]) {
        await tenant.write(async (tx) => {
          await tx.run(
            `with a as (insert into app.knot_a (tenant_id, a_id, b_id, upper_id)
                        select $1, n, 1001 - n, case when n < 1000 then n + 1 end from generate_series(1, 1000) n)
             insert into app.knot_b (tenant_id, b_id, a_id) select $1, n, n from generate_series(1, 1000) n`,
            [tx.tenant_id],
          )
        })
      }
      const file = b.newFile()
      await b.take(file)
      const target = await b.newTarget()
      await expect(restoreInto(target, file)).rejects.toThrow('their tables differ')
      await runSql(target.migrator, entangle)
      await restoreInto(target, file)
      const [before, after] = [await dumpTables(w.clone.postgres), await dumpTables(target.postgres)]
      expect(after['knot_a']?.length).toBe(2000)
      expect([after['knot_a'], after['knot_b']]).toEqual([before['knot_a'], before['knot_b']])
    } finally {
      await runSql(
        w.clone.postgres,
        `drop table app.knot_a, app.knot_b cascade; delete from app.wall_register where table_name in ('knot_a', 'knot_b')`,
      )
    }
  })
})
