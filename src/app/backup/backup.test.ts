/** Backup and restore on real databases: everything comes back, nothing crosses a wall, and no damaged file gets in. */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TEST_MASTER_KEY } from '../../../test/support/database.ts'
import { type EmptyDatabase, emptyDatabase, runAs } from '../../../test/support/empty-database.ts'
import { ExampleTenant } from '../../../test/support/example-tenant.ts'
import { until } from '../../../test/support/job-world.ts'
import { type World, world } from '../../../test/support/world.ts'
import { sealTenant } from '../../kernel/audit/sealer.ts'
import { Database } from '../../kernel/database/tx.ts'
import { silentLog } from '../../kernel/log.ts'
import { createKeyring, type Keyring } from '../../kernel/seal.ts'
import { SYSTEM_TENANT, uuidv7 } from '../../kernel/uuid.ts'
import { verifyChain } from '../../modules/audit/actions.ts'
import { HOUSEKEEPING } from '../../modules/tenant/index.ts'
import { createRuntime } from '../runtime.ts'
import { backup } from './backup.ts'
import { BackupReader, type SectionEnd } from './file.ts'
import { restore } from './restore.ts'

const keyring = createKeyring(TEST_MASTER_KEY)
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-backup-'))
const targets: EmptyDatabase[] = []
let files = 0
let w: World
let one: ExampleTenant
let two: ExampleTenant
let running_job: string

const newFile = () => path.join(folder, `${++files}.ndjson.gz`)

async function newTarget(): Promise<EmptyDatabase> {
  const target = await emptyDatabase()
  targets.push(target)
  return target
}

const take = (file: string, options: { connections?: World['clone']; onTenant?: () => Promise<void> } = {}) =>
  backup({ connections: w.clone, keyring, product_version: '0.0.0-test', file, ...options })

const fill = (target: EmptyDatabase, file: string, options: { keyring?: Keyring; any_key?: boolean } = {}) =>
  restore({ connections: target, keyring, file, ...options })

async function ask<R extends object>(connection: pg.ClientConfig, sql: string, values: unknown[] = []): Promise<R[]> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query(sql, values)).rows as R[]
  } finally {
    await client.end()
  }
}

/** Columns that do not come back as they were; what becomes of them has tests of its own. */
const ruled: Readonly<Record<string, readonly string[]>> = {
  job: ['state', 'lease_token', 'lease_until'],
  audit_event: ['txid'],
  audit_head: ['last_txid', 'last_event_id'],
}

/** Each table's rows as PostgreSQL prints them, past every wall: not by the code under test. */
async function contents(connection: pg.ClientConfig): Promise<Record<string, string[]>> {
  const names = await ask<{ table_name: string }>(
    connection,
    `select table_name from app.wall_register where kind <> 'system' order by 1`,
  )
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const all: Record<string, string[]> = {}
    for (const { table_name } of names) {
      const { rows } = await client.query<{ row: string }>(
        `select (to_jsonb(t) - $1::text[])::text as row from app.${table_name} t order by 1`,
        [ruled[table_name] ?? []],
      )
      all[table_name] = rows.map(({ row }) => row)
    }
    return all
  } finally {
    await client.end()
  }
}

async function sectionsOf(file: string): Promise<Record<string, SectionEnd>> {
  const { reader } = await BackupReader.open(file)
  const ends: Record<string, SectionEnd> = {}
  for (let part = await reader.next(); 'section' in part; part = await reader.next()) {
    const rows = reader.rows()
    for (let step = await rows.next(); ; step = await rows.next()) {
      if (!step.done) continue
      ends[`${part.section.tenant_id} ${part.section.table}`] = step.value
      break
    }
  }
  return ends
}

const linesOf = (file: string): string[] => gunzipSync(fs.readFileSync(file)).toString().trimEnd().split('\n')

function writeLines(lines: readonly string[]): string {
  const file = newFile()
  fs.writeFileSync(file, gzipSync(lines.map((line) => `${line}\n`).join('')))
  return file
}

const sha256 = (lines: readonly string[]): string =>
  createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex')

/** A forger who knows the format but not the master key: every checksum is right again. */
function forge(lines: readonly string[]): string {
  const made: string[] = []
  let section: string[] = []
  let rows = 0
  for (const line of lines.slice(0, -1)) {
    if (line.startsWith('[')) section.push(line)
    if (line.startsWith('{"end"')) {
      made.push(...section, JSON.stringify({ end: { rows: section.length, sha256: sha256(section) } }))
      rows += section.length
      section = []
    } else if (!line.startsWith('[')) made.push(line)
  }
  const { trailer } = JSON.parse(lines.at(-1) as string)
  return writeLines([...made, JSON.stringify({ trailer: { ...trailer, rows, sha256: sha256(made) } })])
}

beforeAll(async () => {
  w = await world()
  one = await ExampleTenant.create(w)
  two = await ExampleTenant.create(w)
  for (const tenant of [one, two]) {
    await tenant.plant()
    for (const make of [tenant.key, tenant.upload, tenant.endedJob, tenant.changeRequest]) await make()
  }
  const odd = 'tab\t, quote ", backslash \\, line\nend, é, 漢字, 👩🏽‍💻, \u2028'
  await w.call('POST /users', {
    token: await one.token(),
    body: { name: odd, email: 'odd@example.com', roles: ['viewer'] },
  })
  const bytes = Buffer.from(Array.from({ length: 2_500_000 }, (_, index) => (index * 7919) % 256))
  const headers = { 'content-type': 'application/octet-stream' }
  await w.call('POST /uploads', { token: await two.token(), payload: bytes, headers })

  running_job = await one.newJob()
  await one.write((tx) =>
    tx.run(
      `update app.job set state = 'running', attempts = 1, lease_token = $2, lease_until = now() + interval '1 min',
              worker = 'a worker', started_at = now() where tenant_id = $1 and job_id = $3`,
      [one.tenant_id, uuidv7(), running_job],
    ),
  )
})

afterAll(async () => {
  await Promise.all(targets.map((target) => target.drop()))
  await w.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

describe('a restored backup', () => {
  const file = newFile()
  let target: EmptyDatabase

  beforeAll(async () => {
    const taken = await take(file)
    target = await newTarget()
    expect(await fill(target, file)).toEqual(taken)
  })

  test('has everything there was, and a backup of it is the same', async () => {
    const before = await contents(w.clone.postgres)
    const empty = Object.entries(before).filter(([, rows]) => rows.length === 0)
    expect(empty, 'each table needs rows, or nothing is shown about it').toEqual([])
    expect(await contents(target.postgres)).toEqual(before)
    const again = newFile()
    await take(again, { connections: { ...w.clone, ...target } })
    expect(await sectionsOf(again)).toEqual(await sectionsOf(file))
  })

  test('gives a running job back to the queue and drops its lease', async () => {
    const [job] = await ask(target.postgres, 'select * from app.job where job_id = $1', [running_job])
    const [was] = await ask(w.clone.postgres, 'select * from app.job where job_id = $1', [running_job])
    expect(was).toMatchObject({ state: 'running', lease_token: expect.any(String) })
    expect(job).toEqual({ ...was, state: 'queued', lease_token: null, lease_until: null })
  })

  test('can be served at once, by the keys and tokens there were', async () => {
    const runtime = createRuntime({
      connections: target,
      keyring,
      build: w.kernel.build,
      log: silentLog(),
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
      expect(await runtime.kernel.readiness()).toMatchObject({ status: 'ready' })
      const get = async (url: string) => {
        const headers = { authorization: `Bearer ${await one.token()}` }
        return (await server.app.inject({ method: 'GET', url, headers })).json()
      }
      expect(await get(`/api/jobs/${running_job}`)).toMatchObject({ state: 'queued', kind: HOUSEKEEPING })
      expect((await get('/api/users')).items.map((user: { name: string }) => user.name)).toContainEqual(
        expect.stringContaining('漢字'),
      )
    } finally {
      await server.close()
      await runtime.close()
    }
  })
})

describe('a backup', () => {
  test('is one instant: what is written meanwhile is wholly in or wholly out', async () => {
    const file = newFile()
    const known = await w.makeTenant()
    let added: string | undefined
    await take(file, {
      onTenant: async () => {
        if (added) return
        added = await w.makeTenant()
        await one.newUser()
        await two.newUser()
      },
    })
    const lines = linesOf(file)
    const sections = await sectionsOf(file)
    expect(lines.some((line) => line.includes(known))).toBe(true)
    expect(sections[`${known} approval_policy`]?.rows).toBe(1)
    expect(lines.some((line) => line.includes(added as string))).toBe(false)
    const users = await ask<{ count: string }>(
      w.clone.postgres,
      'select count(*)::text from app.user_account where tenant_id = any($1)',
      [[one.tenant_id, two.tenant_id]],
    )
    const inFile = [one, two].map(({ tenant_id }) => sections[`${tenant_id} user_account`]?.rows ?? 0)
    expect(inFile.reduce((sum, rows) => sum + rows, 0)).toBe(Number(users[0]?.count) - 2)
  })

  test('is readable by its owner only, replaces no file, and leaves none behind when it fails', async () => {
    const file = newFile()
    await take(file)
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
    const bytes = fs.readFileSync(file)
    await expect(take(file)).rejects.toThrow('exists already')
    expect(fs.readFileSync(file).equals(bytes)).toBe(true)

    const failed = newFile()
    const stop = () => Promise.reject(new Error('no space left'))
    await expect(take(failed, { onTenant: stop })).rejects.toThrow('no space left')
    expect(fs.existsSync(failed)).toBe(false)
    await expect(take(path.join(folder, 'missing', 'file'))).rejects.toThrow('ENOENT')
  })

  test('holds every table of the register, each tenant apart from the others', async () => {
    const file = newFile()
    await take(file)
    const registered = await ask<{ table_name: string; kind: string }>(
      w.clone.postgres,
      `select table_name, kind from app.wall_register where kind <> 'system'`,
    )
    const sections = await sectionsOf(file)
    const names = registered.filter(({ kind }) => kind !== 'directory').map(({ table_name }) => table_name)
    for (const { tenant_id } of [one, two, { tenant_id: SYSTEM_TENANT }]) {
      expect(names.filter((name) => !sections[`${tenant_id} ${name}`])).toEqual([])
    }
    let inside = ''
    let place = -1
    const { tables } = JSON.parse(linesOf(file)[0] as string)
    for (const line of linesOf(file).slice(1, -1)) {
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
  const scope = (tenant_id: string) => ({ tenant_id, actor: 'operator:test' })

  const verify = (database: Database, tenant_id: string) =>
    database.read(scope(tenant_id), (tx) => verifyChain(tx, w.kernel.audit, async () => {}))

  /** Sealing waits for transactions of the whole server, those of other tests included. */
  const sealAll = (database: Database, tenant_id: string) =>
    until('everything is sealed', async () => {
      await database.write(scope(tenant_id), (tx) => sealTenant(tx, w.kernel.audit))
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

    const file = newFile()
    await take(file)
    const target = await newTarget()
    await fill(target, file)
    const numbers = await ask<{ txid: string; count: string }>(
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
    await runAs(w.clone.migrator, entangle)
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
      const file = newFile()
      await take(file)
      const target = await newTarget()
      await expect(fill(target, file)).rejects.toThrow('their tables differ')
      await runAs(target.migrator, entangle)
      await fill(target, file)
      const [before, after] = [await contents(w.clone.postgres), await contents(target.postgres)]
      expect(after['knot_a']?.length).toBe(2000)
      expect([after['knot_a'], after['knot_b']]).toEqual([before['knot_a'], before['knot_b']])
    } finally {
      await runAs(
        w.clone.postgres,
        `drop table app.knot_a, app.knot_b cascade; delete from app.wall_register where table_name in ('knot_a', 'knot_b')`,
      )
    }
  })
})

describe('a file is refused, and nothing is written,', () => {
  const whole = newFile()
  let lines: string[]
  let target: EmptyDatabase

  beforeAll(async () => {
    await take(whole)
    lines = linesOf(whole)
    target = await newTarget()
  })

  async function expectRefused(file: string, sentence: RegExp, options: Parameters<typeof fill>[2] = {}) {
    await expect(fill(target, file, options)).rejects.toThrow(sentence)
    expect(Object.values(await contents(target.postgres)).flat()).toEqual([])
  }

  test('when it was cut, wherever', async () => {
    const bytes = fs.readFileSync(whole)
    for (const share of [0, 0.1, 0.5, 0.9, 0.999]) {
      const cut = newFile()
      fs.writeFileSync(cut, bytes.subarray(0, Math.floor(bytes.length * share)))
      await expectRefused(cut, /cut off/)
    }
    for (const count of [1, 2, 40, lines.length - 1]) {
      await expectRefused(writeLines(lines.slice(0, count)), /cut off/)
    }
  })

  test('when a row, a count or a section was changed, added, removed or moved', async () => {
    const row = lines.findIndex((line) => line.startsWith('[') && line.includes('odd@example.com'))
    const end = lines.findIndex((line) => line.startsWith('{"end":{"rows":1'))
    const changed = lines.with(row, (lines[row] as string).replace('odd@', 'bad@'))
    const swapped = lines.with(row, lines[row + 1] as string).with(row + 1, lines[row] as string)
    const uncounted = lines.with(end, (lines[end] as string).replace('"rows":1', '"rows":2'))
    const emptied = lines.filter((_, index) => index !== end - 1)
    for (const made of [changed, swapped, uncounted, emptied])
      await expectRefused(writeLines(made), /the rows of a section are not those it was written with/)
    await expectRefused(writeLines([...lines, lines.at(-1) as string]), /do not fit together/)
    await expectRefused(writeLines(lines.with(2, 'garbage')), /a line is not as it was written|the rows of a section/)
  })

  test('when its bytes were flipped', async () => {
    const bytes = Buffer.from(fs.readFileSync(whole))
    const at = Math.floor(bytes.length / 2)
    bytes[at] = (bytes[at] as number) ^ 0xff
    const file = newFile()
    fs.writeFileSync(file, bytes)
    await expectRefused(file, /damaged/)
  })

  test('when every checksum is right but the master key did not seal it', async () => {
    const forged = forge(lines.map((line) => line.replace('odd@example.com', 'bad@example.com')))
    await expectRefused(forged, /sealed with a master key|was altered/)
    await expectRefused(whole, /sealed with a master key/, { keyring: createKeyring(Buffer.alloc(32, 9)) })
  })

  test('when it has another format, another schema, or is something else', async () => {
    const [header] = lines as [string]
    const other = (from: string, to: string) => forge(lines.with(0, header.replace(from, to)))
    await expectRefused(other('"format_version":1', '"format_version":2'), /has format 2/)
    const version = w.kernel.build.schema_version
    const older = other(`"schema_version":"${version}"`, '"schema_version":"0001"')
    await expectRefused(older, /taken at schema 0001 .* database is at/, { any_key: true })
    const name = newFile()
    fs.writeFileSync(name, gzipSync('{"some":"json"}\n'))
    await expectRefused(name, /is not a Probity backup/)
    const plain = newFile()
    fs.writeFileSync(plain, 'plain text')
    await expectRefused(plain, /is not a Probity backup/)
    await expectRefused(path.join(folder, 'missing'), /does not exist/)
  })

  test('when the database is not empty', async () => {
    const filled = await newTarget()
    // A master key that was rotated away still opens an old backup.
    await fill(filled, whole, { keyring: createKeyring([Buffer.alloc(32, 9), TEST_MASTER_KEY]) })
    const before = await contents(filled.postgres)
    await expect(fill(filled, whole)).rejects.toThrow('The database is not empty: tenant has rows.')
    expect(await contents(filled.postgres)).toEqual(before)
  })
})

test('a forged row of another tenant is stopped by the wall, and every tenant stays suspended', async () => {
  const file = newFile()
  await take(file)
  // The last tenant of the file, so that others have been restored before.
  const [victim, attacker] = [one.tenant_id, two.tenant_id].sort() as [string, string]
  const lines = linesOf(file)
  const start = lines.indexOf(JSON.stringify({ section: { tenant_id: attacker, table: 'user_account' } }))
  const planted = (lines[start + 1] as string).replaceAll(attacker, victim).replace(/[0-9a-f]{12}"/, 'ffffffffffff"')
  const target = await newTarget()
  const forged = forge(lines.toSpliced(start + 2, 0, planted))
  await expect(fill(target, forged, { any_key: true })).rejects.toThrow(
    /user_account of tenant .* could not be restored: .*row-level security.* every tenant suspended: drop it/s,
  )
  const states = await ask<{ state: string }>(target.postgres, 'select distinct state from app.tenant')
  expect(states).toEqual([{ state: 'suspended' }])
  const rows = await ask(target.postgres, 'select 1 from app.user_account where tenant_id = $1', [attacker])
  expect(rows).toEqual([])
})

test('a row that does not arrive as it was is noticed before its tenant is committed', async () => {
  const file = newFile()
  await take(file)
  const target = await newTarget()
  await runAs(
    target.postgres,
    `create function app.meddle() returns trigger language plpgsql as $$ begin new.name := upper(new.name); return new; end $$;
     create trigger meddle before insert on app.user_account for each row execute function app.meddle()`,
  )
  await expect(fill(target, file)).rejects.toThrow(/user_account of tenant .* is not what the backup holds/)
  expect(await ask(target.postgres, 'select 1 from app.user_account')).toEqual([])
})
