/** Cached pointers are used only while they are valid, whatever is activated and however the clock moves. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { activateVersion } from '../activations/activate.ts'
import { cachePointers, getCachedPointers } from './pointer-cache.ts'
import { listPointers } from './queries.ts'
import { MAX_CACHED_LIST_BYTES } from './resolver.ts'

let w: TestApp
let replica: TestApp['runtime']
let tenant_id: string
let maker: string
let checker: string
beforeAll(async () => {
  w = await startTestApp()
  tenant_id = await w.makeTenant()
  maker = await w.token({ tenant_id, roles: ['policy_editor'] })
  checker = await w.token({ tenant_id, roles: ['compliance_officer'] })
  replica = w.runtime
})
afterAll(() => w.close())

let count = 0
/** Creates a list with this many versions, of which the first is in force. */
async function newList(versions: number): Promise<string> {
  const list_key = `cached-${++count}`
  const dataset = { list_key, type_key: 'country-score', title: 'Scores' }
  expect((await w.call('POST /reference-data/datasets', { token: maker, body: dataset })).status).toBe(201)
  for (let n = 1; n <= versions; n++) {
    const data = [{ country: 'DE', score: n }]
    const reply = await w.call(`POST /reference-data/datasets/${list_key}/versions`, { token: maker, body: { data } })
    expect([reply.status, reply.json]).toMatchObject([201, {}])
  }
  await activate(list_key, 1)
  return list_key
}
/** Slightly larger than the limit for caching a whole list. */
async function newLargeList(): Promise<string> {
  const type_key = 'long-remark'
  const text = { type: 'string', maxLength: 100_000 }
  const schema = { type: 'object', properties: { code: text, remark: text }, required: ['code'] }
  const type = { type_key, title: 'Remark', description: 'A long remark.', key_pointers: ['/code'], fields: {} }
  const body = { ...type, schema: { ...schema, additionalProperties: false }, examples: [{ code: 'P0' }] }
  expect((await w.call('POST /reference-data/types', { token: maker, body })).status).toBe(201)
  const list = { list_key: 'remarks', type_key, title: 'Remarks' }
  expect((await w.call('POST /reference-data/datasets', { token: maker, body: list })).status).toBe(201)
  const remark = 'x'.repeat(MAX_CACHED_LIST_BYTES / 12)
  const lines = Array.from({ length: 13 }, (_, n) => `${JSON.stringify({ code: `P${n}`, remark })}\n`)
  const headers = { 'content-type': 'application/octet-stream' }
  const upload = await w.call('POST /uploads?file_name=remarks.ndjson', {
    token: maker,
    payload: lines.join(''),
    headers,
  })
  const importRequest = { list_key: 'remarks', upload_id: upload.json.upload_id, adapter_key: 'ndjson' }
  const job = await w.call('POST /reference-data/imports', { token: maker, body: importRequest })
  expect(await new ExampleTenant(w, tenant_id).runToEnd(job.json)).toMatchObject({ state: 'succeeded' })
  await activate('remarks', 1)
  return 'remarks'
}
const activate = async (list_key: string, version: number, more: object = {}) => {
  const body = { version, reason: 'test', ...more }
  const reply = await w.call(`POST /reference-data/datasets/${list_key}/activations`, { token: checker, body })
  expect([reply.status, reply.json]).toMatchObject([201, {}])
  return reply.json as { effective_from: string }
}
const readVersion = async (list_key: string): Promise<number> =>
  (await w.call(`GET /reference-data/resolve/${list_key}`, { token: maker })).json.version
const readCachedPointer = (list_key: string) =>
  replica.kernel.transactions.one(fullScope(tenant_id, 'user:test'), (tx) =>
    getCachedPointers(replica.kernel, tx, [{ family: 'list', key: list_key }]),
  )

test('caches a pointer after the first read, until something is activated', async () => {
  const list_key = await newList(2)
  const other = await newList(2)
  expect(await readCachedPointer(list_key)).toBeNull()
  expect(await readVersion(list_key)).toBe(1)
  expect((await readCachedPointer(list_key))?.[0]?.version).toBe(1)
  // The epoch is shared by all lists of a tenant, so any activation invalidates.
  await activate(other, 2)
  expect(await readCachedPointer(list_key)).toBeNull()
  expect(await readVersion(list_key)).toBe(1)
  expect(await readCachedPointer(list_key)).not.toBeNull()
  await activate(list_key, 2)
  expect(await readVersion(list_key)).toBe(2)
})

/** The entry of the list in force by the cached path, and the same read in one transaction without caches. */
async function readBothWays(list_key: string, key: string) {
  const alone = await w.call(`GET /reference-data/resolve/${list_key}/entry?key=${key}`, { token: maker })
  const lookups = [{ list_key, keys: [key] }]
  const inside = await w.call('POST /reference-data/lookup', { token: maker, body: { lookups } })
  expect([alone.status, inside.status]).toEqual([200, 201])
  const [{ list, entries }] = inside.json.results
  return [JSON.stringify(alone.json), JSON.stringify({ list, ...entries[0] })] as const
}

test('a single key gives the same answer with and without caches, before and after an activation, also when it is missing', async () => {
  const list_key = await newList(2)
  const answers: string[] = []
  for (const version of [1, 2, 1]) {
    await activate(list_key, version)
    // The first read fills the cache, the second uses it.
    for (const key of ['DE', 'DE', 'FR']) {
      const [cached, uncached] = await readBothWays(list_key, key)
      expect(cached).toBe(uncached)
      answers.push(JSON.parse(cached).entry?.score ?? 'none')
    }
  }
  expect(answers).toEqual([1, 1, 'none', 2, 2, 'none', 1, 1, 'none'])
})

test('a key of a list too large to cache gives the same answer too', async () => {
  const list_key = await newLargeList()
  for (const key of ['P0', 'P7', 'P99']) {
    const [cached, uncached] = await readBothWays(list_key, key)
    expect(cached).toBe(uncached)
    expect(JSON.parse(cached).entry?.code ?? 'none').toBe(key === 'P99' ? 'none' : key)
  }
})

test('a rollback and a revoked schedule take effect immediately', async () => {
  const list_key = await newList(2)
  await activate(list_key, 2)
  expect([await readVersion(list_key), await readVersion(list_key)]).toEqual([2, 2])
  const body = { reason: 'test' }
  const reply = await w.call(`POST /reference-data/datasets/${list_key}/rollback`, { token: checker, body })
  expect(reply.status).toBe(201)
  expect(await readVersion(list_key)).toBe(1)
})

test('a scheduled version comes into force at its instant without any write', async () => {
  const list_key = await newList(2)
  const { effective_from } = await activate(list_key, 2, {
    effective_from: new Date(Date.now() + 1500).toISOString(),
  })
  expect(await readVersion(list_key)).toBe(1)
  const [pointer] = (await readCachedPointer(list_key)) ?? []
  expect([pointer?.version, pointer?.until]).toEqual([1, effective_from])
  await expect.poll(() => readVersion(list_key), { timeout: 10_000, interval: 50 }).toBe(2)
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(effective_from))
  expect((await readCachedPointer(list_key))?.[0]).toMatchObject({ version: 2, until: null })
})

test('two tenants with the same key have separate cache entries', async () => {
  const list_key = await newList(1)
  expect(await readVersion(list_key)).toBe(1)
  const other = await w.makeTenant()
  const token = await w.token({ tenant_id: other, roles: ['policy_editor'] })
  expect((await w.call(`GET /reference-data/resolve/${list_key}`, { token })).status).toBe(404)
})

test('a pointer resolved in a rolled-back transaction is not valid later', async () => {
  const list_key = await newList(3)
  const scope = fullScope(tenant_id, 'user:test')
  await w.runtime.database
    .write(scope, async (tx) => {
      await activateVersion(tx, { list_key, version: 2, reason: 'rolled back' })
      cachePointers(replica.kernel, tx, await listPointers(tx, [list_key], { valid_at: null, known_at: null }))
      throw new Error('rolled back')
    })
    .catch(() => {})
  await activate(list_key, 3)
  expect(await readVersion(list_key)).toBe(3)
})

test('only activations increase the epoch', async () => {
  await newList(1)
  const scope = fullScope(tenant_id, 'user:test')
  const attempt = (text: string, values: unknown[] = [tenant_id]) =>
    w.runtime.database.write(scope, (tx) => tx.run(text, values)).catch(() => 'refused')
  expect(await attempt('update app.activation_epoch set epoch = epoch + 1 where tenant_id = $1')).toBe('refused')
  expect(await attempt('update app.activation_epoch set epoch = 0 where tenant_id = $1')).toBe('refused')
  expect(await attempt('delete from app.activation_epoch where tenant_id = $1')).toBe('refused')
  expect(await attempt('insert into app.activation_epoch values ($1, 5)', [SYSTEM_TENANT])).toBe('refused')
})
