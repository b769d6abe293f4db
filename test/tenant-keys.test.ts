/** Tenant keys behind files and a key command: outages, moving from one to the other, rotation that is interrupted, lost keys. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listMasterKeyUses } from '#app/keys/rewrap.ts'
import { type RotationOptions, renewLostTenantKey, rotateTenantKey } from '#app/keys/rotate-tenant.ts'
import { modules } from '#app/modules.ts'
import { everyone } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { combineKeyrings, createKeyCommand, type KeyCommand } from '#kernel/encryption/key-command.ts'
import { createKeyring, type Keyring } from '#kernel/encryption/keyring.ts'
import { ensureTenantKey } from '#kernel/encryption/tenant-keys.ts'
import type { KeyOwner } from '#kernel/encryption/value-encryption.ts'
import type { Module } from '#kernel/module.ts'
import { closed, Id, text } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { createCaller } from './support/caller.ts'
import { TEST_MASTER_KEY } from './support/database.ts'
import { startKeyService } from './support/key-service.ts'
import { runCommand } from './support/run-command.ts'
import { startSecondProcess } from './support/second-process.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

const files = createKeyring(TEST_MASTER_KEY)
const service = startKeyService()
const at = { table: 'example', row_id: '1', column: 'secret' }

/** Encrypts a text for an owner and gives the bytes back, as a credential does that is stored elsewhere. */
const secrets: Module = {
  name: 'secrets',
  segments: ['secrets'],
  tier: 'views',
  summary: 'Only in this test.',
  jobs: [],
  canary: async () => {},
  routes: [
    tenantRoute('POST /secrets', {
      id: 'createSecret',
      summary: 'Encrypts a text',
      roles: everyone,
      tx: 'write',
      uses: ['encryption'],
      body: closed({ owner_id: Id(), content: text(100) }),
      reply: [200, closed({ stored: text(1000) })],
    }).handle(async ({ tx, body, kernel }) => {
      const owner: KeyOwner = { kind: 'object', id: body.owner_id }
      return { stored: (await kernel.encryption.encrypt(tx, owner, at, Buffer.from(body.content))).toString('hex') }
    }),
    tenantRoute('POST /secrets/open', {
      id: 'openSecret',
      summary: 'Decrypts a text',
      roles: everyone,
      tx: 'read',
      uses: ['encryption'],
      body: closed({ owner_id: Id(), stored: text(1000) }),
      reply: [200, closed({ content: text(100) })],
    }).handle(async ({ tx, body, kernel }) => {
      const owner: KeyOwner = { kind: 'object', id: body.owner_id }
      const content = await kernel.encryption.decrypt(tx, owner, at, Buffer.from(body.stored, 'hex'))
      return { content: content.toString() }
    }),
  ],
}

let w: TestApp
let superuser: pg.Client
let folder: string
beforeAll(async () => {
  w = await startTestApp()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-keys-'))
  fs.writeFileSync(path.join(folder, 'master.key'), TEST_MASTER_KEY.toString('hex'), { mode: 0o600 })
})
afterAll(async () => {
  await superuser.end()
  await w.close()
  service.close()
  fs.rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => service.behave('work'))

const startProcess = async (keyring: Keyring) => {
  const started = await startSecondProcess(w, { keyring, modules: [...modules, secrets] })
  const call = createCaller(started.server)
  const token = (tenant_id: string) => w.token({ tenant_id })
  return {
    ...started,
    store: async (tenant_id: string, owner_id: string, content = 'hunter2') =>
      call('POST /secrets', { token: await token(tenant_id), body: { owner_id, content } }),
    open: async (tenant_id: string, owner_id: string, stored: string) =>
      call('POST /secrets/open', { token: await token(tenant_id), body: { owner_id, stored } }),
  }
}

const urlOf = ({ user, password, host, port, database }: pg.ClientConfig): string =>
  `postgres://${user}:${encodeURIComponent(String(password ?? ''))}@localhost:${port}/${database}?host=${encodeURIComponent(String(host))}`

async function probity(env: NodeJS.ProcessEnv, ...words: string[]) {
  const { code, stdout, stderr } = await runCommand(words, {
    PATH: process.env['PATH'],
    NODE_ENV: 'development',
    DATABASE_URL: urlOf(w.clone.app),
    WORKER_DATABASE_URL: urlOf(w.clone.worker),
    STEWARD_DATABASE_URL: urlOf(w.clone.steward),
    ...env,
  })
  return { code, out: stdout.trim(), err: stderr.trim() }
}

describe('a key command', () => {
  const byCommand = { PROBITY_KEY_COMMAND: service.program, PROBITY_KEY_COMMAND_ID: 'kms-1' }
  const withFile = () => ({ PROBITY_MASTER_KEY_FILE: path.join(folder, 'master.key') })
  const keyIds = async () => (await listMasterKeyUses(w)).map(({ key_id }) => key_id)

  test('takes over from a master key file, alone, and gives back again, while values stay readable', async () => {
    const [tenant_id, owner_id] = [await w.makeTenant(), uuidv7()]
    const before = await startProcess(files)
    const { stored } = (await before.store(tenant_id, owner_id)).json
    await before.close()

    const doctor = await probity({ ...byCommand, ...withFile() }, 'doctor')
    expect(doctor.out).toMatch(/ok {4}key command +\S.* answers in \d+ ms \(kms-1 wraps\)/)
    expect(doctor.out).toMatch(
      new RegExp(`${files.key_id} is needed by \\d+ integrity keys, \\d+ tenant keys and 1 signing key`),
    )
    expect(await probity({ ...byCommand, ...withFile() }, 'keys', 'rewrap')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+ keys encrypted under the master key kms-1\.$/),
    })
    expect(await keyIds()).toEqual(['kms-1'])
    expect(await probity({ ...byCommand, ...withFile() }, 'keys', 'retire', files.key_id)).toMatchObject({ code: 0 })

    const alone = await startProcess(combineKeyrings(null, createKeyCommand(service.options), 'command'))
    expect((await alone.open(tenant_id, owner_id, stored)).json).toEqual({ content: 'hunter2' })
    await alone.close()

    const back = { ...byCommand, ...withFile(), PROBITY_MASTER_KEY_SOURCE: 'file' }
    expect(await probity(back, 'keys', 'rewrap')).toMatchObject({ code: 0 })
    expect(await keyIds()).toEqual([files.key_id])
    const retired = await probity(back, 'keys', 'retire', 'kms-1')
    expect(retired.out).toBe(
      'Nothing in the database needs kms-1. Take it out of PROBITY_KEY_COMMAND_ID of all processes.',
    )
  })

  test('that fails is named by the doctor and by every command that needs it', async () => {
    service.behave('fail')
    const doctor = await probity({ ...byCommand, ...withFile() }, 'doctor')
    expect(doctor.out).toMatch(
      /FAIL {2}key command +The key command ended with exit code 1: AccessDenied: … is not allowed/,
    )
    const { code, err } = await probity({ ...byCommand, ...withFile() }, 'keys', 'rewrap')
    expect([code, err]).toEqual([1, expect.stringContaining('The key command ended with exit code 1')])
    expect(await keyIds()).toEqual([files.key_id])
  })

  test('that wraps to something else stops a rewrap and the first key of a tenant; nothing is stored', async () => {
    const listWrapped = async () => {
      const { rows } = await superuser.query(
        `select wrapped from app.tenant_key union all select wrapped from app.integrity_key
         union all select sealed_private from app.signing_key order by wrapped`,
      )
      return rows.map(({ wrapped }) => wrapped)
    }
    const before = await listWrapped()
    service.behave('wrap-constant')
    const { code, err } = await probity({ ...byCommand, ...withFile() }, 'keys', 'rewrap')
    expect(code).toBe(1)
    expect(err).toContain(`${service.program} does not unwrap what it has just wrapped with the key kms-1`)
    const [tenant_id, owner_id] = [await w.makeTenant(), uuidv7()]
    const running = await startProcess(combineKeyrings(files, createKeyCommand(service.options), 'command'))
    try {
      expect((await running.store(tenant_id, owner_id)).json.code).toBe('dependency_unavailable')
      expect(await listWrapped()).toEqual(expect.arrayContaining(before))
      expect((await superuser.query('select from app.tenant_key where tenant_id = $1', [tenant_id])).rowCount).toBe(0)
      expect(await keyIds()).toEqual([files.key_id])
      service.behave('work')
      expect((await running.store(tenant_id, owner_id)).status).toBe(200)
    } finally {
      await running.close()
      await probity({ ...byCommand, ...withFile(), PROBITY_MASTER_KEY_SOURCE: 'file' }, 'keys', 'rewrap')
    }
  })

  test('that is gone leaves tenants working whose key is in memory, and answers others 503', async () => {
    // A busy machine is no reason to fail; only what hangs for ever is given up soon.
    const patient = createKeyCommand({ ...service.options, timeout_ms: 60_000 })
    const hasty = createKeyCommand({ ...service.options, timeout_ms: 300 })
    let current = patient
    const command: KeyCommand = {
      ...patient,
      wrap: (key, context) => current.wrap(key, context),
      unwrap: (wrapped, context) => current.unwrap(wrapped, context),
    }
    // The last one has no key yet.
    const [known, unknown, fresh] = await Promise.all([w.makeTenant(), w.makeTenant(), w.makeTenant()])
    for (const tenant_id of [known, unknown]) {
      const scope = fullScope(tenant_id, 'operator:test')
      await ensureTenantKey(w.runtime.database, files, scope)
    }
    await probity({ ...byCommand, ...withFile() }, 'keys', 'rewrap')
    const running = await startProcess(combineKeyrings(files, command, 'command'))
    try {
      const owner_id = uuidv7()
      const { stored } = (await running.store(known, owner_id)).json
      for (const behaviour of ['fail', 'garbage', 'hang'] as const) {
        service.behave(behaviour)
        current = behaviour === 'hang' ? hasty : patient
        expect((await running.open(known, owner_id, stored)).json).toEqual({ content: 'hunter2' })
        expect((await running.store(known, uuidv7())).status).toBe(200)
        for (const tenant_id of [unknown, fresh]) {
          const refused = await running.store(tenant_id, owner_id)
          expect([refused.status, refused.json.code]).toEqual([503, 'dependency_unavailable'])
          expect(refused.headers['retry-after']).toBe('5')
        }
      }
      service.behave('work')
      current = patient
      expect((await running.store(unknown, owner_id)).status).toBe(200)
      expect((await running.store(fresh, owner_id)).status).toBe(200)
      const metrics = await running.runtime.metrics.registry.metrics()
      expect(metrics).toContain('probity_key_command_calls_total{operation="unwrap",outcome="exit_code"} 1')
      expect(metrics).toContain('probity_key_command_calls_total{operation="wrap",outcome="bad_answer"} 1')
      expect(metrics).toContain('probity_alarms_total{reason="key_unavailable"} 3')
      // The keys of three tenants, and which of them is active.
      expect(metrics).toContain('probity_cache_entries{cache="tenant_keys"} 6')
    } finally {
      service.behave('work')
      await running.close()
      await probity({ ...byCommand, ...withFile(), PROBITY_MASTER_KEY_SOURCE: 'file' }, 'keys', 'rewrap')
    }
  })
})

describe('a tenant key that is rotated', () => {
  const context = (keyring: Keyring = files) => ({ app: w.runtime.database, steward: w.steward, keyring })
  const listKeys = async (tenant_id: string) =>
    (
      await superuser.query(
        `select k.key_no::int, k.state, (select count(*)::int from app.owner_key o where o.tenant_id = k.tenant_id
           and o.tenant_key_no = k.key_no) as owner_keys from app.tenant_key k where tenant_id = $1 order by key_no`,
        [tenant_id],
      )
    ).rows
  const OWNERS = 7

  const makeOwners = async (running: Awaited<ReturnType<typeof startProcess>>, tenant_id: string) => {
    const owners: { owner_id: string; stored: string }[] = []
    for (let n = 0; n < OWNERS; n++) {
      const owner_id = uuidv7()
      owners.push({ owner_id, stored: (await running.store(tenant_id, owner_id, `secret ${n}`)).json.stored })
    }
    return owners
  }

  test('is destroyed once every owner key is wrapped by the new one, although it is killed at every step', async () => {
    const tenant_id = await w.makeTenant()
    const scope = fullScope(tenant_id, 'operator:test')
    const running = await startProcess(files)
    const owners = await makeOwners(running, tenant_id)
    const fingerprint = () =>
      w.runtime.database.read(scope, (tx) => w.kernel.encryption.fingerprint(tx, 'test', Buffer.from('same')))
    const before = await fingerprint()
    const failures: unknown[] = []
    let isDone = false
    const read = async () => {
      for (let n = 0; !isDone; n++) {
        const { owner_id, stored } = owners[n % OWNERS] as (typeof owners)[number]
        const reply = await running.open(tenant_id, owner_id, stored)
        if (reply.json.content !== `secret ${n % OWNERS}`) failures.push(reply.json)
      }
    }
    const write = async () => {
      while (!isDone) {
        const reply = await running.store(tenant_id, uuidv7())
        if (reply.status !== 200) failures.push(reply.json)
      }
    }
    const loops = [read(), write()]
    let kills = 0
    try {
      for (let step = 1; ; step++) {
        // First before the step is committed, then right after it.
        const killed = await Promise.all([
          await rotateUntil(step, 'record').catch(String),
          await rotateUntil(step, 'onChunk').catch(String),
        ])
        kills += killed.filter((outcome) => outcome === 'Error: killed').length
        const [, second] = await listKeys(tenant_id)
        if (second && (await listKeys(tenant_id))[0].state === 'destroyed') break
      }
    } finally {
      isDone = true
      await Promise.all(loops)
    }
    expect(failures).toEqual([])
    expect(kills).toBeGreaterThan(3)
    expect((await listKeys(tenant_id)).slice(0, 1)).toEqual([{ key_no: 1, state: 'destroyed', owner_keys: 0 }])
    const later = await startProcess(files)
    for (const [n, { owner_id, stored }] of owners.entries()) {
      expect((await later.open(tenant_id, owner_id, stored)).json).toEqual({ content: `secret ${n}` })
    }
    expect(await fingerprint()).toBe(before)
    await Promise.all([running.close(), later.close()])

    /** Ended at the given step, which counts records, or committed chunks. */
    function rotateUntil(step: number, kind: 'record' | 'onChunk') {
      let steps = 0
      const count = () => {
        if (++steps === step) throw new Error('killed')
      }
      const options: RotationOptions = { record: () => {}, chunk_keys: 2, [kind]: count }
      return rotateTenantKey(context(), scope, options)
    }
  })

  test('is rotated by a command that says what it did, and records each step for the tenant', async () => {
    const tenant_id = await w.makeTenant()
    const slug = `t-${tenant_id.slice(-12)}`
    const running = await startProcess(files)
    const owners = await makeOwners(running, tenant_id)
    const env = { PROBITY_MASTER_KEY_FILE: path.join(folder, 'master.key') }
    expect(await probity(env, 'keys', 'rotate-tenant', slug)).toEqual({
      code: 0,
      out: `${slug}: key 2 is active; ${OWNERS} owner keys wrapped by it; destroyed key 1.`,
      err: '',
    })
    expect(await listKeys(tenant_id)).toEqual([
      { key_no: 1, state: 'destroyed', owner_keys: 0 },
      { key_no: 2, state: 'active', owner_keys: OWNERS },
    ])
    const { rows } = await superuser.query(
      `select detail from app.audit_event where tenant_id = $1 and operation = 'rotateTenantKey' order by event_id`,
      [tenant_id],
    )
    expect(rows.map(({ detail }) => JSON.parse(detail))).toEqual([
      { key_no: 2, step: 'begun' },
      { key_no: 2, step: 'rewrapped', owner_keys: OWNERS },
      { key_no: 1, step: 'destroyed' },
    ])
    const { owner_id, stored } = owners[0] as (typeof owners)[number]
    expect((await running.open(tenant_id, owner_id, stored)).json).toEqual({ content: 'secret 0' })
    expect((await probity(env, 'keys', 'rotate-tenant', 'nobody')).err).toContain('There is no tenant "nobody"')
    await running.close()
  })

  test('stays while an owner key cannot be unwrapped, and says so', async () => {
    const tenant_id = await w.makeTenant()
    const scope = fullScope(tenant_id, 'operator:test')
    const running = await startProcess(files)
    const [altered] = await makeOwners(running, tenant_id)
    await superuser.query(`set app.actor = 'operator:test'`)
    await superuser.query(`update app.owner_key set wrapped = decode(repeat('00', 60), 'hex') where owner_id = $1`, [
      altered?.owner_id,
    ])
    const rotated = await rotateTenantKey(context(), scope, { record: () => {} })
    expect(rotated).toEqual({ active_key_no: 2, owner_keys: OWNERS - 1, destroyed_key_nos: [], unopened: 1 })
    expect((await listKeys(tenant_id))[0]).toEqual({ key_no: 1, state: 'retiring', owner_keys: 1 })
    await running.close()
  })
})

test('a tenant whose master key is lost gets a new key, and new values can be stored for the same owners', async () => {
  const tenant_id = await w.makeTenant()
  const scope = fullScope(tenant_id, 'operator:test')
  const before = await startProcess(files)
  const owner_id = uuidv7()
  const { stored } = (await before.store(tenant_id, owner_id)).json
  const lost = { app: w.runtime.database, steward: w.steward, keyring: createKeyring(Buffer.alloc(32, 9)) }
  expect(await renewLostTenantKey({ ...lost, keyring: files }, scope, () => {})).toBe(0)
  expect(await renewLostTenantKey(lost, scope, () => {})).toBe(1)
  const doctor = await probity({ PROBITY_MASTER_KEY_FILE: path.join(folder, 'master.key') }, 'doctor')
  expect(doctor.out).toContain(
    `WARN  missing master keys   ${lost.keyring.key_id} is needed by 1 tenant key, and is not`,
  )
  // The integrity keys of this database are still under the old master key: only the tenant's key counts here.
  const keyring = createKeyring([Buffer.alloc(32, 9), TEST_MASTER_KEY])
  const after = await startProcess({
    ...keyring,
    unwrap: (wrapped, context) => unwrapWithout(keyring, wrapped, context),
  })
  const again = (await after.store(tenant_id, owner_id)).json.stored
  expect((await after.open(tenant_id, owner_id, again)).json).toEqual({ content: 'hunter2' })
  expect((await after.open(tenant_id, owner_id, stored)).json.code).toBe('dependency_unavailable')
  await Promise.all([before.close(), after.close()])

  /** As if the file of the first master key were gone, for tenant keys. */
  function unwrapWithout(ring: Keyring, wrapped: string, where: string): Promise<Buffer> {
    const isTenantKey = where.includes('/tenant-key:')
    return isTenantKey ? createKeyring(Buffer.alloc(32, 9)).unwrap(wrapped, where) : ring.unwrap(wrapped, where)
  }
})
