/** A master key is replaced and taken away, and nothing that was made before it changes or stops verifying. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepareIntegrityKeys, renewIntegrityKeys } from '#app/integrity-keys.ts'
import { listMasterKeyUses, rewrapAll } from '#app/keys/rewrap.ts'
import type { AuditKeys } from '#kernel/audit/chain.ts'
import { roles as allRoles } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import {
  deriveIntegrityKeys,
  IntegrityKeyUnavailable,
  loadIntegrityKeys,
  systemPurposes,
} from '#kernel/integrity/keys.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { verifyChain } from '#modules/audit/chain-reader.ts'
import { chainAllEvents } from './support/audit-chain.ts'
import { TEST_MASTER_KEY } from './support/database.ts'
import { newPolicy, publishList } from './support/example-policy.ts'
import { ExampleTenant } from './support/example-tenant.ts'
import { runCommand } from './support/run-command.ts'
import { startSecondProcess } from './support/second-process.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

const NEW_MASTER_KEY = Buffer.alloc(32, 9)
const old_key = createKeyring(TEST_MASTER_KEY)
const both = createKeyring([NEW_MASTER_KEY, TEST_MASTER_KEY])
const new_key = createKeyring(NEW_MASTER_KEY)

let w: TestApp
let superuser: pg.Client
let folder: string
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-keys-'))
  for (const [name, key] of [
    ['old', TEST_MASTER_KEY],
    ['new', NEW_MASTER_KEY],
  ] as const)
    fs.writeFileSync(path.join(folder, name), key.toString('hex'), { mode: 0o600 })
  w = await startTestApp()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  await superuser.query(`set app.actor = 'operator:test'`)
})
afterAll(async () => {
  await superuser.end()
  await w.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

const holder = (keyring: typeof old_key) => ({ app: w.runtime.database, steward: w.steward, keyring })
const allRows = async () =>
  (await superuser.query('select * from app.integrity_key order by tenant_id, purpose, key_no')).rows

const urlOf = ({ user, password, host, port, database }: pg.ClientConfig): string =>
  `postgres://${user}:${encodeURIComponent(String(password ?? ''))}@localhost:${port}/${database}?host=${encodeURIComponent(String(host))}`

/** The operator's tool with these master key files. */
async function probity(files: readonly string[], ...words: string[]) {
  const env = {
    ...process.env,
    NODE_ENV: 'development',
    DATABASE_URL: urlOf(w.clone.app),
    WORKER_DATABASE_URL: urlOf(w.clone.worker),
    STEWARD_DATABASE_URL: urlOf(w.clone.steward),
    PROBITY_MASTER_KEY_FILE: files.map((file) => path.join(folder, file)).join(','),
  }
  const { code, stdout } = await runCommand(words, env)
  return { code, out: stdout.trim() }
}

describe('the first integrity keys', () => {
  test('equal the keys derived before there were rows, for the system and each tenant', async () => {
    const tenant_id = await w.makeTenant()
    const [loaded, derived] = [await loadIntegrityKeys(w.runtime.database, old_key), deriveIntegrityKeys(old_key)]
    for (const purpose of systemPurposes) expect(loaded.all(purpose)).toEqual(derived.all(purpose))
    for (const id of [tenant_id, SYSTEM_TENANT]) {
      expect(await loaded.tenantKey(id, 'dataset-hash')).toEqual(await derived.tenantKey(id, 'dataset-hash'))
    }
  })

  test('are created once by processes that start together, for every tenant', async () => {
    const before = (await allRows()).map(({ tenant_id, purpose, key_no }) => [tenant_id, purpose, key_no])
    await superuser.query('delete from app.integrity_key')
    await Promise.all(Array.from({ length: 4 }, () => prepareIntegrityKeys(holder(old_key))))
    const after = await allRows()
    expect(after.map(({ tenant_id, purpose, key_no }) => [tenant_id, purpose, key_no])).toEqual(before)
    await prepareIntegrityKeys(holder(both))
    expect(await allRows()).toEqual(after)
  })

  test('are the keys of all master keys where one was replaced before, the current one making', async () => {
    await superuser.query('delete from app.integrity_key')
    await prepareIntegrityKeys(holder(both))
    const loaded = await loadIntegrityKeys(w.runtime.database, both)
    for (const purpose of systemPurposes) expect(loaded.all(purpose)).toEqual(deriveIntegrityKeys(both).all(purpose))
    await superuser.query('delete from app.integrity_key')
    await prepareIntegrityKeys(holder(old_key))
  })

  test('are not created with a master key that decrypts nothing', async () => {
    await superuser.query('delete from app.integrity_key')
    await prepareIntegrityKeys(holder(createKeyring(Buffer.alloc(32, 1))))
    expect(await allRows()).toEqual([])
    const missing = loadIntegrityKeys(w.runtime.database, old_key)
    await expect(missing).rejects.toThrow('no integrity key for audit-checkpoint yet. Run "npx probity seed"')
    await prepareIntegrityKeys(holder(old_key))
  })

  test('cannot be deleted or replaced in the database', async () => {
    const tenant_id = await w.makeTenant()
    const scope = fullScope(tenant_id, 'operator:test')
    const app = (sql: string) => w.runtime.database.write(scope, (tx) => tx.run(sql))
    const steward = (sql: string) => w.steward.write(scope, (tx) => tx.run(sql))
    await expect(app(`update app.integrity_key set wrapped = 'x'`)).rejects.toThrow()
    await expect(app('delete from app.integrity_key')).rejects.toThrow()
    await expect(steward('delete from app.integrity_key')).rejects.toThrow()
    await expect(steward('update app.integrity_key set key_no = 2')).rejects.toThrow()
    expect(await steward(`update app.integrity_key set state = 'distrusted' where tenant_id = app.tenant_id()`)).toBe(1)
    await expect(steward(`update app.integrity_key set state = 'trusted'`)).rejects.toThrow()
  })
})

describe('a master key that is replaced', () => {
  const type = {
    title: 'Person',
    description: 'A person.',
    schema: {
      type: 'object',
      properties: { code: { type: 'string' }, born_on: { type: 'string' } },
      required: ['code', 'born_on'],
      additionalProperties: false,
    },
    key_pointers: ['/code'],
    examples: [{ code: 'A', born_on: '1815-12-10' }],
  }
  const file = '{"code":"A","born_on":"1815-12-10"}\n{"code":"B","born_on":"1906-12-09"}\n'

  let t: ExampleTenant
  let list_key: string
  const owner = { kind: 'object', id: uuidv7() } as const
  const at = { table: 'example', row_id: '1', column: 'secret' }
  let secret: Buffer
  const importFile = async (by: ExampleTenant) => {
    const headers = { 'content-type': 'application/octet-stream' }
    const { upload_id } = await by.make('POST /uploads?file_name=people.ndjson', { payload: file, headers })
    const order = { list_key, upload_id, adapter_key: 'ndjson', hash: ['/born_on'], on_unchanged: 'skip' }
    const job = await by.make('POST /reference-data/imports', { body: order })
    await by.runToEnd(job)
    return by.make(`GET ${(job.resource as string).replace('/api', '')}`)
  }
  const verify = (keys: AuditKeys) =>
    w.runtime.database.read(fullScope(t.tenant_id, 'operator:test'), (tx) => verifyChain(tx, keys, async () => {}))

  test('can be removed, and lists, decisions, audit records and retries still work', async () => {
    t = await ExampleTenant.create(w)
    list_key = `people-${t.tenant_id.slice(-12)}`
    await t.make('POST /reference-data/types', { body: { type_key: list_key, ...type } })
    await t.make('POST /reference-data/datasets', { body: { list_key, type_key: list_key, title: 'People' } })
    expect(await importFile(t)).toMatchObject({ state: 'published', version: 1 })
    const policy = await newPolicy(t)
    const order = { matrix_key: policy.matrix_key, inputs: { country: 'IR' } }
    const headers = { 'idempotency-key': 'once' }
    const token = await t.token()
    const made = await w.call('POST /evaluations', { token, body: order, headers })
    await w.call('POST /evaluations', { token, body: order })
    const first = await t.make('GET /evaluations?limit=1')
    await chainAllEvents(w, t)
    secret = await t.write((tx) => w.kernel.encryption.encrypt(tx, owner, at, Buffer.from('hunter2')))
    const certificate = await t.make(`GET /evaluations/${made.json.evaluation_id}/certificate`)

    await expect(startSecondProcess(w, { keyring: new_key })).rejects.toThrow(IntegrityKeyUnavailable)
    const uses = await listMasterKeyUses(holder(both))
    expect(uses.map(({ key_id }) => key_id)).toEqual([old_key.key_id])
    const refused = await probity(['new', 'old'], 'keys', 'retire', old_key.key_id)
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.out).toMatch(
      /is needed by \d+ integrity keys, \d+ tenant keys and 1 signing key\. Run "npx probity keys rewrap" first\./,
    )

    expect(await probity(['new', 'old'], 'keys', 'retire', 'deadbeef')).toEqual({
      code: 1,
      out: `There is no master key deadbeef: the configuration and the database know ${both.key_ids.join(', ')}.`,
    })

    const rewrapped = await probity(['new', 'old'], 'keys', 'rewrap')
    expect(rewrapped).toMatchObject({ code: 0 })
    expect(rewrapped.out).toMatch(new RegExp(`^\\d+ keys encrypted under the master key ${new_key.key_id}\\.$`))
    expect((await listMasterKeyUses(holder(both))).map(({ key_id }) => key_id)).toEqual([new_key.key_id])
    expect((await probity(['new', 'old'], 'doctor')).out).toContain('nothing needs them: not used yet, or replaced')
    expect(await probity(['new', 'old'], 'keys', 'retire', old_key.key_id)).toMatchObject({ code: 0 })

    const after = await startSecondProcess(w, { keyring: new_key })
    const call: TestApp['call'] = async (at, { token: bearer, body, headers: more, payload } = {}) => {
      const [method, url] = at.split(' ') as ['GET', string]
      const isJson = body !== undefined && { 'content-type': 'application/json' }
      const reply = await after.server.app.inject({
        method,
        url: url.startsWith('/api/') ? url : `/api${url}`,
        headers: { authorization: `Bearer ${bearer}`, ...isJson, ...more },
        ...((body !== undefined || payload !== undefined) && { payload: body ? JSON.stringify(body) : payload }),
      } as never)
      const text = (reply as { body: string }).body
      const { statusCode: status, headers: sent, rawPayload: bytes } = reply as never
      return { status, headers: sent, text, bytes, json: JSON.parse(text || 'null') }
    }
    // Its own tokens: the signing key must open under the new master key alone.
    const mint: TestApp['token'] = async (who = {}) => {
      const { principal = t.caller, roles = allRoles } = who
      const about = { tenant_id: t.tenant_id, principal, roles, lifetime_s: 3600, name: 'Test Person' }
      return (await after.runtime.kernel.issuer.mint(about)).token
    }
    const { runtime } = after
    const later = new ExampleTenant({ ...w, runtime, kernel: runtime.kernel, call, token: mint }, t.tenant_id)
    try {
      expect(await importFile(later)).toMatchObject({ state: 'unchanged', version: null })
      const open = () => later.write((tx) => runtime.kernel.encryption.decrypt(tx, owner, at, secret))
      expect((await open()).toString()).toBe('hunter2')
      const path_of = `/evaluations/${made.json.evaluation_id}`
      expect(await later.make(`POST ${path_of}/replay`)).toMatchObject({ verdict: 'identical' })
      const { items } = await later.make('GET /evaluations')
      expect(items.map(({ intact }: { intact: boolean }) => intact)).toEqual([true, true])
      expect(await later.make(`GET ${path_of}/certificate`)).toEqual(certificate)
      expect((await later.make(`GET /evaluations?limit=1&cursor=${first.next_cursor}`)).items).toHaveLength(1)
      const repeated = await call('POST /evaluations', { token, body: order, headers })
      expect(repeated).toMatchObject({ status: 201, headers: { 'idempotency-replayed': 'true' } })
      expect(repeated.text).toBe(made.text)
      await publishList(later, policy.country_list, [{ code: 'IR', score_bps: 1 }])
      await chainAllEvents({ ...w, runtime: after.runtime }, later)
      const verified = await verify(after.runtime.kernel.auditKeys)
      expect(verified).toMatchObject({ intact: true, faults: [], unsealed: 0 })
      expect(verified.checkpoints).toBeGreaterThan(0)
      const acts = await superuser.query(
        `select operation from app.audit_event where tenant_id = $1 and actor = 'operator:cli' order by event_id`,
        [t.tenant_id],
      )
      expect(acts.rows.map(({ operation }) => operation)).toEqual(['rewrapKeys', 'rewrapKeys', 'retireMasterKey'])
    } finally {
      await after.close()
    }
  })

  test('stays partly in use while rewrapping is killed at every chunk, and every value can be decrypted throughout', async () => {
    const third = createKeyring([Buffer.alloc(32, 5), NEW_MASTER_KEY])
    const scope = fullScope(t.tenant_id, 'operator:test')
    let kills = 0
    for (let isDone = false; !isDone; ) {
      let chunks = 0
      // Each run gets one chunk further: the next record fails, and with it the transaction of its chunk.
      const stop = async () => {
        if (++chunks === 2) throw new Error('killed')
      }
      const outcome = await rewrapAll(holder(third), stop, { chunk_tenants: 1 }).catch((error: Error) => error.message)
      isDone = outcome !== 'killed'
      const uses = (await listMasterKeyUses(holder(third))).map(({ key_id }) => key_id)
      expect(uses.sort()).toEqual(isDone ? [third.key_id] : [...third.key_ids].sort())
      kills += isDone ? 0 : 1
      const process = await startSecondProcess(w, { keyring: third })
      const opened = await process.runtime.database.read(scope, (tx) =>
        process.runtime.kernel.encryption.decrypt(tx, owner, at, secret),
      )
      expect(opened.toString()).toBe('hunter2')
      await process.close()
    }
    expect(kills).toBeGreaterThan(2)
    await rewrapAll(holder(createKeyring([TEST_MASTER_KEY, Buffer.alloc(32, 5)])), async () => {})
  })

  test('encrypts nothing that rewrapping does not know of', async () => {
    const { rows: columns } = await superuser.query(
      `select c.relname as table, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'app'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`,
    )
    const sealed: string[] = []
    for (const { table, column } of columns) {
      const held = await superuser.query(
        `select 1 from app.${table} where "${column}"::text ~ 'v1\\.(${old_key.key_id}|${new_key.key_id})\\.' limit 1`,
      )
      if (held.rows.length > 0) sealed.push(`${table}.${column}`)
    }
    expect(sealed.sort()).toEqual(['integrity_key.wrapped', 'signing_key.sealed_private', 'tenant_key.wrapped'])
  })
})

describe('new integrity keys', () => {
  test('verify beside the earlier ones until those are distrusted', async () => {
    const before = await loadIntegrityKeys(w.runtime.database, old_key)
    expect(await renewIntegrityKeys(holder(old_key), { which: 'all' })).toBe(systemPurposes.length)
    const renewed = await loadIntegrityKeys(w.runtime.database, old_key)
    for (const purpose of systemPurposes) {
      expect(renewed.all(purpose).slice(1)).toEqual(before.all(purpose))
      expect(renewed.current(purpose)).not.toEqual(deriveIntegrityKeys(old_key).current(purpose))
    }
    expect(await renewIntegrityKeys(holder(old_key), { which: 'all', distrust: true })).toBe(systemPurposes.length)
    const alone = await loadIntegrityKeys(w.runtime.database, old_key)
    for (const purpose of systemPurposes) expect(alone.all(purpose)).toHaveLength(1)
  })

  test('replace those whose master key is lost, for tenants too', async () => {
    const tenant_id = await w.makeTenant()
    const lost = createKeyring(Buffer.alloc(32, 4))
    const refused = loadIntegrityKeys(w.runtime.database, lost)
    await expect(refused).rejects.toThrow(`encrypted with the master key ${old_key.key_id}, which is not there`)
    expect(await renewIntegrityKeys(holder(old_key), { which: 'lost' })).toBe(0)
    await renewIntegrityKeys(holder(lost), { which: 'lost' })
    const keys = await loadIntegrityKeys(w.runtime.database, lost)
    for (const purpose of systemPurposes) expect(keys.all(purpose)).toHaveLength(1)
    expect(await keys.tenantKey(tenant_id, 'dataset-hash')).toHaveLength(32)
  })
})
