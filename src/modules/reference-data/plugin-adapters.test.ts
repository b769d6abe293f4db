/** Imports and previews through an adapter that a plugin implements. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SANDBOX_HASH } from '#sandbox/builds.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { adapterPlugin, type PluginFiles } from '#test/support/plugins.ts'
import { type Reply, shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
  await t.make('POST /reference-data/types', { body: { type_key: 'codes', ...type } })
})
afterAll(() => w.close())

const type = {
  title: 'Code',
  description: 'A code with a name.',
  schema: {
    type: 'object',
    properties: { code: { type: 'string', pattern: '^[A-Z0-9]+$' }, name: { type: 'string' } },
    required: ['code'],
    additionalProperties: false,
  },
  key_pointers: ['/code'],
  fields: { '/code': { title: 'Code' }, '/name': { title: 'Name' } },
  examples: [{ code: 'A1' }],
}

let count = 0
const call = async (at: string, body?: unknown): Promise<Reply> =>
  w.call(at, { token: await t.token(), ...(body !== undefined && { body }) })

async function newList(): Promise<string> {
  const list_key = `codes-${++count}`
  await t.make('POST /reference-data/datasets', { body: { list_key, type_key: 'codes', title: 'Codes' } })
  return list_key
}

/** An active plugin adapter with this source; by default the good one. */
async function newPlugin(change: (plugin: PluginFiles) => PluginFiles = (plugin) => plugin): Promise<string> {
  const plugin_key = `adapter-${++count}`
  const created = await call('POST /plugins', { plugin_key, package: change(adapterPlugin(plugin_key)) })
  expect([created.status, created.json.reasons]).toEqual([201, []])
  expect((await call(`POST /plugins/${plugin_key}/activations`, { version: 1, reason: 'Reviewed' })).status).toBe(201)
  return plugin_key
}

const disable = (plugin_key: string) => call(`POST /plugins/${plugin_key}/disable`, { reason: 'Wrong entries' })

async function upload(text: string | Buffer): Promise<string> {
  const headers = { 'content-type': 'application/octet-stream' }
  return (await t.make('POST /uploads?file_name=codes.csv', { payload: text as string, headers })).upload_id
}

const startImport = async (list_key: string, plugin_key: string, text: string, more: object = {}): Promise<Reply> =>
  call('POST /reference-data/imports', {
    ...{ list_key, upload_id: await upload(text), adapter_key: `plugin:${plugin_key}`, ...more },
  })
const readImport = async ({ json }: Reply) => t.make(`GET ${(json.resource as string).replace('/api', '')}`)

const lines = (rows: number): string =>
  `code,name\n${Array.from({ length: rows }, (_, row) => `c${row},Name ${row}\n`).join('')}`

/** Fails on the row with this code. */
const failOn =
  (code: string) =>
  (plugin: PluginFiles): PluginFiles => ({
    ...plugin,
    files: {
      'plugin.js': `${plugin.files['plugin.js']}`.replace(
        'const entries = []',
        `if (chunk.rows.some((row) => row.code === '${code}')) throw new Error('cannot read ${code}')\n  const entries = []`,
      ),
    },
  })

/** Does this for the row with this code, beside its entry. */
const also =
  (code: string, statement: string) =>
  (plugin: PluginFiles): PluginFiles => ({
    ...plugin,
    files: {
      'plugin.js': `${plugin.files['plugin.js']}`.replace(
        'if (!code)',
        `if (code === '${code}') ${statement}\n    if (!code)`,
      ),
    },
  })

/** Makes nothing of rows with this code. */
const skip =
  (code: string) =>
  (plugin: PluginFiles): PluginFiles => ({
    ...plugin,
    files: {
      'plugin.js': `${plugin.files['plugin.js']}`.replace(
        'if (!code)',
        `if (code === '${code}') continue\n    if (!code)`,
      ),
    },
  })

describe('an import through a plugin', () => {
  test('publishes what the plugin makes of the rows, in several chunks, and names it in the provenance', async () => {
    const [list_key, plugin_key] = [await newList(), await newPlugin()]
    const started = await startImport(list_key, plugin_key, lines(2500))
    expect(started.status).toBe(202)
    await t.runToEnd(started.json)
    const done = await readImport(started)
    expect(done).toMatchObject({
      state: 'published',
      adapter_key: `plugin:${plugin_key}`,
      adapter_version: 1,
      counts: { rows: 2500, accepted: 2500, rejected: 0 },
      order: { plugin: { plugin_key, version: 1, sandbox_hash: SANDBOX_HASH } },
    })
    const at = `GET /reference-data/datasets/${list_key}/versions/1`
    const { provenance } = await t.make(`${at}/provenance`)
    expect(provenance.plugin).toEqual(done.order.plugin)
    expect((await t.make(`${at}/entries?key_prefix=C7&limit=1`)).items[0].entry).toEqual({ code: 'C7', name: 'Name 7' })
    const { items } = await t.make(`GET /plugins/${plugin_key}/invocations`)
    expect(items[0]).toMatchObject({ items: expect.any(Number), failed: 0 })
    expect(items[0].items).toBeGreaterThan(2)
  })

  test('reports rows that the plugin refuses with their line', async () => {
    const [list_key, plugin_key] = [await newList(), await newPlugin()]
    const started = await startImport(list_key, plugin_key, 'code,name\na,First\n,Second\n', { strict: false })
    await t.runToEnd(started.json)
    const done = await readImport(started)
    expect(done).toMatchObject({ state: 'published', counts: { accepted: 1, rejected: 1 } })
    const { items } = await t.make(`GET /reference-data/imports/${done.import_id}/rejects`)
    expect(items[0]).toMatchObject({ code: 'plugin_rejected', message: 'The code is missing', at: { row: 2, line: 3 } })
  })

  test('answers 503 plugin_invalid before anything is stored', async () => {
    const [list_key, plugin_key] = [await newList(), await newPlugin()]
    await disable(plugin_key)
    const before = (await t.make('GET /reference-data/imports')).items.length
    const refused = await startImport(list_key, plugin_key, lines(1))
    expect(refused).toMatchObject({ status: 503, json: { code: 'plugin_invalid', plugin_key, retryable: false } })
    expect(refused.headers['retry-after']).toBeUndefined()
    expect((await t.make('GET /reference-data/imports')).items).toHaveLength(before)
  })

  test('ends failed with the reason when the plugin became invalid after the start, and publishes nothing', async () => {
    const [list_key, plugin_key] = [await newList(), await newPlugin()]
    const started = await startImport(list_key, plugin_key, lines(10))
    const { items } = await t.make(`GET /plugins/${plugin_key}/dependents`)
    expect(items).toMatchObject([
      { kind: 'adapter', key: `plugin:${plugin_key}`, runs: true },
      { kind: 'import', key: started.json.resource.split('/').at(-1), runs: true, operations: [] },
    ])
    await disable(plugin_key)
    await t.runToEnd(started.json)
    expect(await readImport(started)).toMatchObject({
      ...{ state: 'failed', version: null, problem: { code: 'plugin_invalid', plugin_key } },
    })
    expect((await t.make(`GET /reference-data/datasets/${list_key}`)).head_version).toBe(0)
  })

  test('ends failed when the plugin fails in the middle of the file, and records why', async () => {
    const [list_key, plugin_key] = [await newList(), await newPlugin(failOn('c2000'))]
    const started = await startImport(list_key, plugin_key, lines(2500))
    await t.runToEnd(started.json)
    expect(await readImport(started)).toMatchObject({
      ...{ state: 'failed', version: null, problem: { code: 'plugin_failed', plugin_key, reason: 'threw' } },
    })
    expect((await t.make(`GET /reference-data/datasets/${list_key}`)).head_version).toBe(0)
    const { items } = await t.make(`GET /plugins/${plugin_key}/invocations`)
    expect(items[0]).toMatchObject({
      failed: 1,
      failures: [{ reason: 'threw', message: expect.stringContaining('cannot read c2000') }],
    })
  })

  test.each([
    [
      'is disabled',
      async () => {
        const plugin_key = await newPlugin()
        await disable(plugin_key)
        return { plugin_key, version: 1, code: 'disabled' }
      },
    ],
    [
      'was never put in force',
      async () => {
        const plugin_key = `adapter-${++count}`
        await call('POST /plugins', { plugin_key, package: adapterPlugin(plugin_key) })
        return { plugin_key, version: null, code: 'not_in_force' }
      },
    ],
    [
      'is not valid',
      async () => {
        const plugin_key = `adapter-${++count}`
        const { manifest } = adapterPlugin(plugin_key)
        await call('POST /plugins', { plugin_key, package: { manifest, files: { 'plugin.js': 'export const x = 1' } } })
        return { plugin_key, version: null, code: 'not_in_force' }
      },
    ],
    [
      'lost its hash',
      async () => {
        const plugin_key = await newPlugin()
        const owner = new pg.Client(w.clone.postgres)
        await owner.connect()
        await owner.query('set session_replication_role = replica')
        await owner.query(
          `update app.plugin_validation v set content_hash = repeat('0', 64) from app.dataset d
          where d.tenant_id = v.tenant_id and d.dataset_id = v.dataset_id and d.tenant_id = $1 and d.list_key = $2`,
          [t.tenant_id, plugin_key],
        )
        await owner.end()
        return { plugin_key, version: 1, code: 'hash_mismatch' }
      },
    ],
  ])('is among the dependents of a plugin that %s, and both its operations answer 503', async (_, stop) => {
    const { plugin_key, version, code } = await stop()
    const adapter_key = `plugin:${plugin_key}`
    const { runs, reasons, items } = await t.make(`GET /plugins/${plugin_key}/dependents`)
    expect([runs, reasons[0].code]).toEqual([false, code])
    expect(items).toEqual([
      {
        ...{ kind: 'adapter', key: adapter_key, version, title: 'Code table', runs: false, reasons: [] },
        operations: ['previewAdapter', 'startImport'],
      },
    ])
    const previewed = await call(`POST /reference-data/adapters/${adapter_key}/preview`, { text: 'code\na\n' })
    const imported = await startImport(await newList(), plugin_key, lines(1))
    expect([previewed.json.code, imported.json.code]).toEqual(['plugin_invalid', 'plugin_invalid'])
  })

  test('is among the invocations of the plugin where nothing is published: a guard, or a row that is refused', async () => {
    const [list_key, plugin_key] = [await newList(), await newPlugin()]
    const importText = async (text: string) => {
      const started = await startImport(list_key, plugin_key, text)
      await t.runToEnd(started.json)
      return readImport(started)
    }
    await importText(lines(20))
    await t.make(`PATCH /reference-data/datasets/${list_key}`, { body: { guards: { max_removed_bps: 1000 } } })
    const ends = [await importText(lines(1)), await importText('code,name\n,Second\n')]
    expect(ends.map(({ state }) => state)).toEqual(['blocked', 'rejected'])
    const { items } = await t.make(`GET /plugins/${plugin_key}/invocations`)
    expect(items.map(({ cause, failed }: { cause: object; failed: number }) => ({ ...cause, failed }))).toEqual([
      ...ends.toReversed().map(({ import_id }) => ({ kind: 'import', id: import_id, failed: 0 })),
      { kind: 'import', id: expect.any(String), failed: 0 },
    ])
  })

  test('refuses an unknown plugin and options', async () => {
    const list_key = await newList()
    expect((await startImport(list_key, 'unknown', lines(1))).status).toBe(404)
    const plugin_key = await newPlugin()
    const optioned = await startImport(list_key, plugin_key, lines(1), { options: { delimiter: ';' } })
    expect([optioned.status, optioned.json.code]).toEqual([409, 'definition_invalid'])
  })
})

describe('the list of adapters', () => {
  test('names plugins in force, and why one cannot run', async () => {
    const plugin_key = await newPlugin()
    const adapter_key = `plugin:${plugin_key}`
    const find = async () => {
      const { items } = await t.make('GET /reference-data/adapters?limit=200')
      return items.find((one: { adapter_key: string }) => one.adapter_key === adapter_key)
    }
    const listed = await find()
    expect(listed).toMatchObject({
      ...{ title: 'Code table', adapter_version: 1, file_extensions: ['csv', 'txt'], target_type: null, sample: null },
      plugin: { plugin_key, runs: true, reasons: [] },
    })
    expect(await t.make(`GET /reference-data/adapters/${adapter_key}`)).toEqual(listed)
    await disable(plugin_key)
    expect((await find()).plugin).toEqual({ plugin_key, runs: false, reasons: [expect.stringContaining('disabled')] })
    const other = await ExampleTenant.create(w)
    const foreign = await w.call(`GET /reference-data/adapters/${adapter_key}`, { token: await other.token() })
    expect(foreign.status).toBe(404)
    const { items } = await other.make('GET /reference-data/adapters?limit=200')
    expect(items.map((one: { adapter_key: string }) => one.adapter_key)).not.toContain(adapter_key)
  })
})

describe('a preview through a plugin', () => {
  const preview = (plugin_key: string, text: string) =>
    call(`POST /reference-data/adapters/plugin:${plugin_key}/preview`, { text, type_key: 'codes' })

  test('shows entries and rejects', async () => {
    const plugin_key = await newPlugin()
    expect((await preview(plugin_key, 'code,name\na,First\n,Second\n')).json).toMatchObject({
      ...{ rows: 2, accepted: 1, rejected: 1 },
      entries: [{ entry: { code: 'A', name: 'First' }, at: { row: 1, line: 2 } }],
      rejects: [{ code: 'plugin_rejected', message: 'The code is missing' }],
    })
  })

  test('reports rows of which the plugin made nothing, and refuses a source of which it made nothing at all', async () => {
    const plugin_key = await newPlugin(skip('lost'))
    const { json } = await preview(plugin_key, 'code,name\na,First\nlost,Second\nlost,Third\n')
    expect(json).toMatchObject({
      ...{ rows: 1, accepted: 1 },
      warnings: [{ code: 'rows_without_result', at: { row: 2, line: 3 }, count: 2 }],
    })
    expect(json.warnings[0].message).toBe('The plugin made neither an entry nor a reject of 2 of 3 rows.')
    const nothing = await preview(plugin_key, 'code,name\nlost,First\nlost,Second\n')
    expect([nothing.status, nothing.json.code]).toEqual([409, 'source_invalid'])
    expect(nothing.json.detail).toContain('The source holds 2 rows, but the plugin made no entry')
  })

  test('answers 404, then 503 plugin_invalid, then 503 plugin_failed', async () => {
    expect((await preview('unknown', 'code\na\n')).status).toBe(404)
    const plugin_key = await newPlugin(failOn('bad'))
    const failed = await preview(plugin_key, 'code,name\nbad,x\n')
    expect(failed).toMatchObject({ status: 503, json: { code: 'plugin_failed', reason: 'threw', plugin_key } })
    const { items } = await t.make(`GET /plugins/${plugin_key}/invocations`)
    expect(items).toMatchObject([
      { cause: { kind: 'preview', id: null }, failed: 1, failures: [{ reason: 'threw', message: expect.any(String) }] },
    ])
    await disable(plugin_key)
    expect(await preview(plugin_key, 'code,name\na,x\n')).toMatchObject({
      status: 503,
      json: { code: 'plugin_invalid' },
    })
  })

  test('counts a row with two entries once, and refuses a row that has an entry and a reject', async () => {
    const twice = await newPlugin(also('two', `entries.push({ row, entry: { code: 'TWO2' } })`))
    expect((await preview(twice, 'code,name\na,First\ntwo,Second\n')).json).toMatchObject({ rows: 2, accepted: 3 })
    const [list_key] = [await newList()]
    const started = await startImport(list_key, twice, 'code,name\na,First\ntwo,Second\n')
    await t.runToEnd(started.json)
    expect(await readImport(started)).toMatchObject({ state: 'published', counts: { rows: 2, accepted: 3 } })
    const both = await newPlugin(also('two', `rejects.push({ row, reason: 'Not sure' })`))
    expect(await preview(both, 'code,name\ntwo,Second\n')).toMatchObject({
      status: 503,
      json: { code: 'plugin_failed', reason: 'output_invalid' },
    })
  })

  test('reads XML and JSON by the format that the manifest names', async () => {
    const withFormat = (format: object) => (plugin: PluginFiles) => ({
      ...plugin,
      manifest: { ...plugin.manifest, format },
    })
    const xml = await newPlugin(withFormat({ kind: 'xml', options: { path: 'codes/code' } }))
    const document = '<codes><code id="1"><code>x1</code><name>One</name></code></codes>'
    expect((await preview(xml, document)).json).toMatchObject({
      accepted: 1,
      entries: [{ entry: { code: 'X1', name: 'One' } }],
    })
    const json = await newPlugin(withFormat({ kind: 'json', options: { pointer: '/items' } }))
    expect((await preview(json, '{"items":[{"code":"j1","name":"J"}]}')).json).toMatchObject({ accepted: 1 })
  })
})
