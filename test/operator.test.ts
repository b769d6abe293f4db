/** The operator's tool on a real database: its acts are in the tenants' audit records, and what is broken off leaves no trace. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { chainAllEvents } from './support/audit-chain.ts'
import { queryDatabase, readLines } from './support/backup-fixture.ts'
import { projectRoot, TEST_MASTER_KEY } from './support/database.ts'
import { createEmptyDatabase } from './support/empty-database.ts'
import { ExampleTenant } from './support/example-tenant.ts'
import { runCommand } from './support/run-command.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

let w: TestApp
let folder: string
let env: NodeJS.ProcessEnv
const proxies: net.Server[] = []
beforeAll(async () => {
  w = await startTestApp()
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-acts-'))
  const key_file = path.join(folder, 'master.key')
  fs.writeFileSync(key_file, TEST_MASTER_KEY.toString('hex'), { mode: 0o600 })
  env = {
    ...process.env,
    NODE_ENV: 'development',
    ...urlsOf(w.clone),
    PROBITY_MASTER_KEY_FILE: key_file,
  }
})
afterAll(async () => {
  for (const proxy of proxies) proxy.close()
  await w.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

function urlOf({ user, password, host, port, database }: pg.ClientConfig): string {
  const secret = encodeURIComponent(String(password ?? ''))
  // A socket folder is not valid where a host name is expected.
  return `postgres://${user}:${secret}@localhost:${port}/${database}?host=${encodeURIComponent(String(host))}`
}

const urlsOf = ({ app, worker, steward }: Record<'app' | 'worker' | 'steward', pg.ClientConfig>) => ({
  DATABASE_URL: urlOf(app),
  WORKER_DATABASE_URL: urlOf(worker),
  STEWARD_DATABASE_URL: urlOf(steward),
})

/** In front of the database: passes everything on, until a statement names the word. */
async function holdAt({ host, port }: pg.ClientConfig, word: string) {
  let reach = () => {}
  let release = () => {}
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const proxy = net.createServer((client) => {
    const isFolder = String(host).startsWith('/')
    const server = isFolder ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(Number(port), String(host))
    server.pipe(client)
    let passed: Promise<unknown> = Promise.resolve()
    client.on('data', (bytes) => {
      if (bytes.includes(word)) {
        reach()
        passed = passed.then(() => released)
      }
      passed = passed.then(() => server.write(bytes))
    })
    client.on('close', () => server.destroy())
    for (const socket of [client, server]) socket.on('error', () => {})
  })
  proxies.push(proxy)
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return { port: (proxy.address() as net.AddressInfo).port, reached, release }
}

/** Its output; rejects with code and output when it fails. */
const probity = async (...argv: string[]): Promise<string> => {
  const result = await runCommand(argv, env)
  if (result.code !== 0) throw Object.assign(new Error(result.stderr), result)
  return result.stdout.trim()
}

interface Event {
  readonly actor: string
  readonly operation: string
  readonly object_type: string
  readonly object_id: string
  readonly detail: Record<string, unknown>
}
const eventsOf = (tenant_id: string) =>
  w.runtime.database.one(fullScope(tenant_id, 'operator:test'), (tx) =>
    tx.query<Event>(
      `select actor, operation, object_type, object_id, detail::json as detail from app.audit_event
        where tenant_id = $1 order by event_id`,
      [tenant_id],
    ),
  )
const slugOf = (tenant_id: string) => `t-${tenant_id.slice(-12)}`

test('suspend and resume record one event each, and the chain verifies', async () => {
  const tenant = await ExampleTenant.create(w)
  const { tenant_id } = tenant
  const before = (await eventsOf(tenant_id)).length
  expect(await probity('tenant', 'suspend', slugOf(tenant_id))).toContain('is suspended')
  expect(await probity('tenant', 'suspend', slugOf(tenant_id))).toContain('already suspended')
  await probity('tenant', 'resume', slugOf(tenant_id))
  const subject = { actor: 'operator:cli', object_type: 'tenant', object_id: tenant_id }
  expect((await eventsOf(tenant_id)).slice(before)).toEqual([
    { ...subject, operation: 'suspendTenant', detail: { before: 'active', after: 'suspended' } },
    { ...subject, operation: 'resumeTenant', detail: { before: 'suspended', after: 'active' } },
  ])
  await chainAllEvents(w, tenant)
  const token = await tenant.token()
  const [newest] = (await w.call('GET /audit/events?operation=resumeTenant', { token })).json.items
  expect(newest.seal.seq).toBe(before + 2)
})

test('creating a tenant and its first key records events', async () => {
  const made = JSON.parse(await probity('tenant', 'create', '--slug', 'acts', '--name', 'Acts', '--json'))
  expect(await eventsOf(made.tenant_id)).toEqual([
    expect.objectContaining({ actor: 'operator:cli', operation: 'createTenant', object_id: made.tenant_id }),
    expect.objectContaining({ actor: 'operator:cli', operation: 'createApiKey', object_id: made.key_id }),
  ])
  expect(JSON.stringify(await eventsOf(made.tenant_id))).not.toContain(made.api_key)
})

test('printing a token records its principal, never the token, and nothing when refused', async () => {
  const tenant_id = await w.makeTenant()
  const before = (await eventsOf(tenant_id)).length
  const token = await probity('token', '--tenant', slugOf(tenant_id), '--role', 'viewer', '--hours', '1')
  await expect(probity('token', '--tenant', slugOf(tenant_id), '--user', 'nobody@example.com')).rejects.toThrow()
  const claims = JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString())
  const events = (await eventsOf(tenant_id)).slice(before)
  expect(events).toEqual([
    {
      actor: 'operator:cli',
      operation: 'createUser',
      object_type: 'users',
      object_id: claims.sub.slice('user:'.length),
      detail: { name: 'Operator: viewer', roles: ['viewer'] },
    },
    {
      actor: 'operator:cli',
      operation: 'createToken',
      object_type: 'auth',
      object_id: claims.jti,
      detail: { principal: claims.sub, roles: ['viewer'], expires_at: new Date(claims.exp * 1000).toISOString() },
    },
  ])
  expect(JSON.stringify(events)).not.toContain(token)
})

test('a printed token belongs to a user with its roles, created where nobody has them all', async () => {
  const tenant_id = await w.makeTenant()
  const printed = ['analyst', 'policy_editor', 'compliance_officer', 'tenant_admin', 'service', 'viewer'] as const
  const asked = ['token', '--tenant', slugOf(tenant_id), ...printed.flatMap((role) => ['--role', role])]
  const token = await probity(...asked)
  const me = (await w.call('GET /auth/me', { token })).json
  const user_id = me.principal.slice('user:'.length)
  expect(new Set(me.roles)).toEqual(new Set(printed))
  const user = await w.call(`GET /users/${user_id}`, { token })
  expect(user).toMatchObject({ status: 200, json: { state: 'active', name: me.name } })
  expect(new Set(user.json.roles)).toEqual(new Set(printed))
  const again = await probity(...asked)
  expect((await w.call('GET /auth/me', { token: again })).json.principal).toBe(me.principal)
  await expect(
    probity('token', '--tenant', slugOf(tenant_id), '--user', user_id, '--role', 'auditor'),
  ).rejects.toMatchObject({ stdout: '', stderr: expect.stringContaining('does not have the role auditor') })
})

test('rotating the signing key records an event in every tenant', async () => {
  const tenants = [await w.makeTenant(), await w.makeTenant()]
  const [active] = (JSON.parse(await probity('keys', 'list', '--json')) as { kid: string; state: string }[]).filter(
    ({ state }) => state === 'active',
  )
  await probity('keys', 'rotate')
  for (const tenant_id of tenants) {
    expect((await eventsOf(tenant_id)).at(-1)).toEqual({
      actor: 'operator:cli',
      operation: 'rotateSigningKey',
      object_type: 'signing-keys',
      object_id: 'probity',
      detail: { retires: [active?.kid] },
    })
  }
})

test('backup and restore record an event in every tenant', async () => {
  const tenants = [await w.makeTenant(), await w.makeTenant()]
  const file = path.join(folder, 'recorded.ndjson.gz')
  await probity('backup', '--out', file)
  const { trailer } = JSON.parse(readLines(file).at(-1) as string)
  const of = { actor: 'operator:cli', object_type: 'backups', object_id: trailer.sha256, detail: {} }
  for (const tenant_id of tenants) {
    expect((await eventsOf(tenant_id)).at(-1)).toEqual({ ...of, operation: 'takeBackup' })
  }
  const target = await createEmptyDatabase()
  try {
    const restored = await runCommand(['restore', '--from', file, '--without-erasure-ledger'], {
      ...env,
      ...urlsOf(target),
    })
    expect(restored).toMatchObject({ code: 0 })
    const rows = await queryDatabase(
      target.postgres,
      `select tenant_id, actor, operation, object_type, object_id, detail::json as detail from app.audit_event
        where object_type = 'backups' and tenant_id = any($1) order by tenant_id`,
      [tenants],
    )
    const events = tenants.toSorted().map((tenant_id) => ({ tenant_id, ...of, operation: 'restoreBackup' }))
    expect(rows).toEqual(events)
  } finally {
    await target.drop()
  }
})

describe('an action and its event are one transaction', () => {
  /** For as long as the act is tried, the database refuses rows of a table that do not meet the condition. */
  async function withOnly(table: string, condition: string, body: () => Promise<void>): Promise<void> {
    const superuser = new pg.Client(w.clone.postgres)
    await superuser.connect()
    try {
      await superuser.query(`alter table app.${table} add constraint refused_ck check (${condition}) not valid`)
      await body()
    } finally {
      await superuser.query(`alter table app.${table} drop constraint if exists refused_ck`)
      await superuser.end()
    }
  }
  const stateOf = async (tenant_id: string): Promise<string> =>
    JSON.parse(await probity('tenant', 'list', '--json')).find(
      (tenant: { tenant_id: string }) => tenant.tenant_id === tenant_id,
    ).state

  test('suspending and resuming', async () => {
    const tenant_id = await w.makeTenant()
    const slug = slugOf(tenant_id)
    const refused = (verb: string) => expect(probity('tenant', verb, slug)).rejects.toThrow()
    await withOnly('audit_event', `operation <> 'suspendTenant'`, () => refused('suspend'))
    expect(await stateOf(tenant_id)).toBe('active')
    const before = await eventsOf(tenant_id)
    await withOnly('tenant', `state <> 'suspended'`, () => refused('suspend'))
    expect(await eventsOf(tenant_id)).toEqual(before)
    await probity('tenant', 'suspend', slug)
    await withOnly('audit_event', `operation <> 'resumeTenant'`, () => refused('resume'))
    expect(await stateOf(tenant_id)).toBe('suspended')
  })

  test('rotating the signing key', async () => {
    const tenant_id = await w.makeTenant()
    const refused = () => expect(probity('keys', 'rotate')).rejects.toThrow()
    const keys = await probity('keys', 'list', '--json')
    await withOnly('audit_event', `operation <> 'rotateSigningKey'`, refused)
    expect(await probity('keys', 'list', '--json')).toBe(keys)
    const before = await eventsOf(tenant_id)
    await withOnly('signing_key', `state <> 'active'`, refused)
    expect(await eventsOf(tenant_id)).toEqual(before)
  })

  test('a backup that could not be recorded is none', async () => {
    const file = path.join(folder, 'unrecorded.ndjson.gz')
    await withOnly('audit_event', `operation <> 'takeBackup'`, () =>
      expect(probity('backup', '--out', file)).rejects.toThrow(),
    )
    expect(fs.readdirSync(folder).filter((name) => name.startsWith('unrecorded'))).toEqual([])
  })

  test('a token that could not be recorded is not printed', async () => {
    const tenant_id = await w.makeTenant()
    await withOnly('audit_event', `operation <> 'createToken'`, async () => {
      const refused = probity('token', '--tenant', slugOf(tenant_id), '--role', 'viewer')
      await expect(refused).rejects.toMatchObject({ stdout: '' })
    })
  })
})

describe('a backup that is broken off', () => {
  /** Held where it would read one table, so that it is under way for as long as the test wants. */
  async function heldBackup(name: string) {
    const hold = await holdAt(w.clone.app, '"upload_chunk"')
    const held_env = { ...env, DATABASE_URL: urlOf({ ...w.clone.app, host: '127.0.0.1', port: hold.port }) }
    const argv = ['bin/probity.mjs', 'backup', '--out', path.join(folder, name)]
    const child = spawn(process.execPath, argv, { cwd: projectRoot, env: held_env })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const ended = once(child, 'exit').then(([code]) => code as number | null)
    await hold.reached
    const left = () => fs.readdirSync(folder).filter((found) => found.startsWith(name))
    return { child, ended, left, said: () => said, release: hold.release }
  }

  test('by Ctrl-C leaves nothing', async () => {
    const { child, ended, left, said, release } = await heldBackup('stopped.ndjson.gz')
    child.kill('SIGINT')
    await vi.waitUntil(() => said().includes('Stopping'), { timeout: 60_000, interval: 20 })
    release()
    expect(await ended).toBe(1)
    expect(said()).toContain('The backup was broken off.')
    expect(left()).toEqual([])
  })

  test('by kill -9 leaves nothing that looks whole, and the next one is not in its way', async () => {
    const { child, ended, left, release } = await heldBackup('killed.ndjson.gz')
    child.kill('SIGKILL')
    await ended
    release()
    expect(left()).toEqual([expect.stringMatching(/^killed\.ndjson\.gz\.part-\d+$/)])
    expect(await probity('backup', '--out', path.join(folder, 'killed.ndjson.gz'))).toContain('Backed up')
    expect(left()).toContain('killed.ndjson.gz')
  })
})

describe('a deletion of a tenant that is broken off', () => {
  const remaining = async (tenant_id: string, table: string) =>
    (await queryDatabase(w.clone.postgres, `select 1 from app.${table} where tenant_id = $1`, [tenant_id])).length

  test('by kill -9 inside a transaction leaves a tenant that nobody can use, and goes on when it is given again', async () => {
    const [tenant_id, other_id] = [await w.makeTenant(), await w.makeTenant()]
    const [slug, name] = [slugOf(tenant_id), `Tenant ${slugOf(tenant_id)}`]
    await probity('tenant', 'suspend', slug)
    await w.steward.write(fullScope(tenant_id, 'operator:test'), (tx) =>
      tx.run(`update app.tenant set suspended_at = now() - interval '1 hour' where tenant_id = $1`, [tenant_id]),
    )
    const hold = await holdAt(w.clone.migrator, 'delete from app."retention_policy"')
    const held = urlOf({ ...w.clone.migrator, host: '127.0.0.1', port: hold.port })
    const argv = ['bin/probity.mjs', 'tenant', 'delete', slug, '--confirm', name]
    const child = spawn(process.execPath, argv, {
      cwd: projectRoot,
      env: { ...env, MIGRATOR_DATABASE_URL: held },
      stdio: 'ignore',
    })
    const ended = once(child, 'exit')
    await hold.reached
    child.kill('SIGKILL')
    await ended
    hold.release()
    expect(await remaining(tenant_id, 'retention_policy')).toBe(1)
    for (const words of [
      ['tenant', 'resume', slug],
      ['token', '--tenant', slug, '--role', 'viewer'],
    ]) {
      await expect(probity(...words)).rejects.toThrow('is being deleted')
    }
    const before = await remaining(other_id, 'audit_event')
    const owner_env = { ...env, MIGRATOR_DATABASE_URL: urlOf(w.clone.migrator) }
    const again = await runCommand(['tenant', 'delete', slug, '--confirm', name], owner_env)
    expect(again.stdout).toContain(`Deleted tenant ${tenant_id}`)
    for (const table of ['tenant', 'retention_policy', 'audit_event', 'integrity_key', 'job_schedule']) {
      expect([table, await remaining(tenant_id, table)]).toEqual([table, 0])
    }
    expect(await remaining(other_id, 'audit_event')).toBe(before)
    // The id names it for ever; the slug is free.
    expect((await runCommand(['tenant', 'delete', tenant_id, '--confirm', name], owner_env)).code).toBe(0)
    await expect(probity('tenant', 'create', '--slug', 'x', '--name', 'X', '--id', tenant_id)).rejects.toThrow(
      'a tenant that was deleted',
    )
    expect(await probity('tenant', 'create', '--slug', slug, '--name', name)).toContain('api_key')
  })
})
