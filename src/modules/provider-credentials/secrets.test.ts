/**
 * A secret that was stored, refused, repeated, approved and used is in no table, log line, answer, job, change request, stored
 * response, export or backup, in none of the forms it may take.
 */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { backup } from '#app/backup/backup.ts'
import { createLog } from '#kernel/log.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { registryManifest } from '#modules/providers/fixtures.ts'
import { keyring } from '#test/support/backup-fixture.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { withCredential } from './with-credential.ts'

const SECRET = `s€cr+t/${randomBytes(18).toString('base64')} ?&${randomBytes(9).toString('hex')}`
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'credential-secrets-'))
const logFile = path.join(folder, 'log')
const log = createLog({ level: 'trace', destination: logFile, name: 'credential-secrets' })

let w: TestApp
let t: ExampleTenant
let owner: pg.Client
beforeAll(async () => {
  w = await startTestApp({ log })
  t = await ExampleTenant.create(w)
  owner = new pg.Client(w.clone.postgres)
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await w.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

/** Each form whole, and the parts of 16 characters that a reader could put together again. */
const forms: Readonly<Record<string, string>> = {
  plain: SECRET,
  json: JSON.stringify(SECRET).slice(1, -1),
  base64: Buffer.from(SECRET).toString('base64'),
  base64url: Buffer.from(SECRET).toString('base64url'),
  hex: Buffer.from(SECRET).toString('hex'),
  'url-encoded': encodeURIComponent(SECRET),
  'form-encoded': new URLSearchParams({ s: SECRET }).toString().slice(2),
  'first 16': SECRET.slice(0, 16),
  'last 16': SECRET.slice(-16),
  'hex of 16': Buffer.from(SECRET.slice(8, 24)).toString('hex'),
}
const findForms = (text: string): string[] =>
  Object.entries(forms).flatMap(([name, form]) => (text.toLowerCase().includes(form.toLowerCase()) ? [name] : []))

const answers: string[] = []
async function call(at: string, body?: unknown, headers: Record<string, string> = {}) {
  const reply = await w.call(at, { token: await t.token(), headers, ...(body !== undefined && { body }) })
  answers.push(JSON.stringify(reply.headers), reply.text)
  return reply
}

async function createCredential(): Promise<string> {
  const provider_key = `registry-${uuidv7().slice(-12)}`
  const definition = registryManifest()
  await call('POST /providers', { provider_key, title: 'Registry', definition })
  await call(`POST /providers/${provider_key}/versions/draft/publish`, {})
  await call(`POST /providers/${provider_key}/activations`, { version: 1, reason: 'Reviewed' })
  return (await call('POST /provider-credentials', { provider_key, label: 'Main' })).json.credential_id
}

async function readTables(): Promise<Map<string, string>> {
  const { rows: tables } = await owner.query<{ table_name: string }>(
    `select table_name from information_schema.tables where table_schema = 'app' and table_type = 'BASE TABLE'`,
  )
  const contents = new Map<string, string>()
  for (const { table_name } of tables) {
    const { rows } = await owner.query<{ row: string }>(`select t::text as row from app.${table_name} t`)
    contents.set(table_name, rows.map(({ row }) => row).join('\n'))
  }
  return contents
}

async function readLog(): Promise<string> {
  const marker = uuidv7()
  log.info(marker)
  return vi.waitUntil(
    () => {
      const text = fs.readFileSync(logFile, 'utf8')
      return text.includes(marker) && text
    },
    { timeout: 60_000, interval: 5 },
  )
}

test('the forms are found where they are', () => {
  expect(findForms(`x ${Object.values(forms).join(' ')} y`)).toEqual(Object.keys(forms))
})

test('a secret stays in its encrypted column alone', async () => {
  const credential_id = await createCredential()
  const versions = `POST /provider-credentials/${credential_id}/versions`
  const body = { members: { api_key: SECRET } }
  const key = { 'idempotency-key': uuidv7() }
  expect((await call(versions, body, key)).status).toBe(201)
  const again = await call(versions, body, key)
  expect([again.status, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
  const refused = [
    await call(versions, { members: { api_key: `${SECRET}x` } }, key),
    await call(versions, { members: { other: SECRET } }),
    await call(versions, { members: { api_key: SECRET.repeat(200) } }),
    await call(versions, { members: { api_key: { nested: SECRET } } }),
    await call(versions, { api_key: SECRET }),
    await call(versions, [SECRET]),
    await call(`POST /provider-credentials/${uuidv7()}/versions`, body),
    await w.call(versions, { token: await t.token(['viewer']), body }),
    await w.call(versions, {
      token: await t.token(),
      payload: `{"members":{"api_key":"${SECRET}"`,
      headers: { 'content-type': 'application/json' },
    }),
  ]
  answers.push(...refused.map(({ text }) => text))
  expect(refused.map(({ status }) => status)).toEqual([409, 422, 422, 422, 422, 422, 404, 403, 400])

  await t.setApprovalRules([{ action: 'credentials', approvers: 1, role: 'compliance_officer' }])
  const proposed = await call(`${versions}/1/activations`, { reason: 'Rotation' })
  expect(proposed.status).toBe(202)
  const approver = await t.token(['compliance_officer'], t.author)
  const approved = await w.call(`POST /change-requests/${proposed.json.cr_id}/approve`, { token: approver, body: {} })
  expect(approved.status).toBe(200)
  const opened = await withCredential(
    w.kernel,
    (write) => t.write(write),
    {
      credential_id,
      version: 1,
      purpose: 'verify',
      is_verification: false,
      call_id: null,
      mark: async () => undefined,
    },
    async (members) => members.get('api_key')?.toString(),
  )
  expect(opened).toBe(SECRET)

  for (const at of ['', `/${credential_id}`, `/${credential_id}/versions`, `/${credential_id}/access-log`, '/gaps']) {
    expect((await call(`GET /provider-credentials${at}`)).status).toBe(200)
  }
  await call('GET /change-requests')
  await call('GET /audit/events')
  await t.runToEnd((await call('POST /audit/exports', {})).json)
  const file = path.join(folder, 'backup.gz')
  await backup({ connections: w.clone, keyring, product_version: '0.0.0-test', file })

  for (const [table, content] of await readTables()) expect([table, findForms(content)]).toEqual([table, []])
  for (const answer of answers) expect(findForms(answer)).toEqual([])
  expect(findForms(await readLog())).toEqual([])
  expect(findForms(gunzipSync(fs.readFileSync(file)).toString('utf8'))).toEqual([])
})
