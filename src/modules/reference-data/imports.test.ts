/**
 * Imports: from a file to a version, with rejected rows, guards, privacy options, cancellation, and exports with the same
 * hash.
 */
import { hash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { typeStore } from '#modules/definitions/index.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

const type = {
  title: 'Party',
  description: 'A party with a name.',
  schema: {
    type: 'object',
    properties: {
      code: { type: 'string', pattern: '^[A-Z0-9]+$' },
      name: { type: 'string', minLength: 1 },
      score: { type: 'integer', minimum: 0 },
      tags: { type: 'array', items: { type: 'string' } },
      born_on: { type: 'string' },
    },
    required: ['code', 'name'],
    additionalProperties: false,
  },
  key_pointers: ['/code'],
  fields: {
    '/code': { title: 'Code' },
    '/name': { title: 'Name' },
    '/born_on': { title: 'Date of birth', personal: true },
  },
  examples: [{ code: 'A1', name: 'Example' }],
}
let lists = 0
async function newList(settings: object = {}): Promise<string> {
  const key = `parties-${++lists}`
  await t.make('POST /reference-data/types', { body: { type_key: key, ...type } })
  await t.make('POST /reference-data/datasets', {
    body: { list_key: key, type_key: key, title: 'Parties', ...settings },
  })
  return key
}
async function upload(bytes: string | Buffer, file_name = 'list.txt'): Promise<string> {
  const headers = { 'content-type': 'application/octet-stream' }
  return (await t.make(`POST /uploads?file_name=${file_name}`, { payload: bytes as string, headers })).upload_id
}
async function importInto(list_key: string, adapter_key: string, bytes: string | Buffer, more: object = {}) {
  const body = { list_key, upload_id: await upload(bytes), adapter_key, ...more }
  const job = await t.make('POST /reference-data/imports', { body })
  await t.runToEnd(job)
  return t.make(`GET ${(job.resource as string).replace('/api', '')}`)
}
const ndjson = (entries: object[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
const many = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ code: `P${n + from}`, name: `Party ${n}` }))

describe('an import', () => {
  test('publishes the next version and activates nothing', async () => {
    const list_key = await newList()
    const done = await importInto(list_key, 'ndjson', ndjson(many(3)), { label: 'first', note: 'by hand' })
    expect(done).toMatchObject({
      state: 'published',
      version: 1,
      counts: { rows: 3, accepted: 3, rejected: 0 },
      rejects: [],
    })
    const dataset = await t.make(`GET /reference-data/datasets/${list_key}`)
    expect(dataset).toMatchObject({ head_version: 1, active: null, versions: [{ version: 1, label: 'first' }] })
    const at = `GET /reference-data/datasets/${list_key}/versions/first`
    const { provenance, created_by } = await t.make(`${at}/provenance`)
    expect(provenance).toMatchObject({
      adapter_key: 'ndjson',
      source: { file_name: 'list.txt', size_bytes: expect.any(Number) },
    })
    expect([created_by, (await t.make(at)).created_by]).toEqual([t.caller, t.caller])
  })

  test('reports every rejected row with its location, and publishes nothing', async () => {
    const list_key = await newList()
    const text = `${ndjson([{ code: 'A1', name: 'Fine' }, { code: 'bad code', name: 'x' }, { code: 'A3' }])}{"code": }\n`
    const done = await importInto(list_key, 'ndjson', text)
    expect(done).toMatchObject({ state: 'rejected', version: null, counts: { rows: 4, accepted: 1, rejected: 3 } })
    expect(done.problem.code).toBe('import_rejected')
    // Read to the end, but not published.
    expect(done.progress).toEqual({ done: 55, total: 100, unit: 'percent' })
    const rejects = await t.make(`GET /reference-data/imports/${done.import_id}/rejects`)
    expect(rejects).toMatchObject({ total: 3, truncated: false })
    const places = rejects.items.map(({ at, pointer }: { at: { line: number }; pointer: string }) => [at.line, pointer])
    expect(places.toSorted()).toEqual([
      [2, '/code'],
      [3, '/name'],
      [4, ''],
    ])
    for (const { message } of rejects.items) expect(message).toMatch(/^[A-Z"].*\.$/)
    expect((await t.make(`GET /reference-data/datasets/${list_key}`)).head_version).toBe(0)
  })

  test('returns all rejects in one file, whatever their number', async () => {
    const bad = Array.from({ length: 1200 }, () => '{"code":"A1"}\n').join('')
    const { import_id, list_key } = await importInto(await newList(), 'ndjson', bad)
    const reply = await w.call(`GET /reference-data/imports/${import_id}/rejects/export`, { token: await t.token() })
    expect(reply.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'content-disposition': `attachment; filename="${list_key}-rejects.ndjson"`,
    })
    const rejects = reply.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rejects.map(({ at }) => at.line)).toEqual(Array.from({ length: 1200 }, (_, n) => n + 1))
    const { items } = await t.make(`GET /reference-data/imports/${import_id}/rejects?limit=200`)
    expect(rejects.slice(0, 200)).toEqual(items)
  })

  test('returns no file of rejects before it has ended', async () => {
    const body = { list_key: await newList(), upload_id: await upload('{}'), adapter_key: 'ndjson' }
    const { resource } = await t.make('POST /reference-data/imports', { body })
    const reply = await w.call(`GET ${resource}/rejects/export`, { token: await t.token() })
    expect([reply.status, reply.json.code]).toEqual([409, 'not_finished'])
  })

  test('rejects duplicate keys', async () => {
    const done = await importInto(await newList(), 'ndjson', ndjson([...many(2), { code: 'P0', name: 'Again' }]))
    expect(done).toMatchObject({ state: 'rejected', rejects: [{ code: 'duplicate_key', count: 1 }] })
    const { items } = await t.make(`GET /reference-data/imports/${done.import_id}/rejects`)
    expect(items).toMatchObject([{ at: { row: 3, line: 3 }, message: 'The key "P0" was used in row 1 already.' }])
  })

  test.each([
    ['an empty file', ''],
    ['a file of white space', ' \n\n'],
  ])('of %s never replaces a list', async (_, text) => {
    const list_key = await newList({ guards: { min_entries: 0 } })
    expect((await importInto(list_key, 'ndjson', ndjson(many(2)))).version).toBe(1)
    if (text === '') {
      const reply = await w.call('POST /uploads', {
        token: await t.token(),
        payload: text,
        headers: { 'content-type': 'application/octet-stream' },
      })
      if (reply.status >= 400) return
    }
    const done = await importInto(list_key, 'ndjson', text)
    expect(done).toMatchObject({ state: 'failed', version: null, problem: { code: 'source_invalid' } })
  })

  test('that would remove too much is stopped, and a compliance officer may override it with a reason', async () => {
    const list_key = await newList()
    await importInto(list_key, 'ndjson', ndjson(many(200)))
    const shorter = ndjson(many(100))
    const blocked = await importInto(list_key, 'ndjson', shorter)
    expect(blocked).toMatchObject({ state: 'blocked', version: null, gates: [{ gate: 'guard', overridable: true }] })
    const forced = await importInto(list_key, 'ndjson', shorter, {
      override_guards: { reason: 'publisher split the list' },
    })
    expect(forced).toMatchObject({ state: 'published', version: 2 })
    const { provenance } = await t.make(`GET /reference-data/datasets/${list_key}/versions/2/provenance`)
    expect(provenance.guards_overridden).toMatchObject({ reason: 'publisher split the list' })
  })

  test('of unchanged content publishes a version, or skips it on request', async () => {
    const list_key = await newList()
    const text = ndjson(many(2))
    await importInto(list_key, 'ndjson', text)
    expect(await importInto(list_key, 'ndjson', text, { on_unchanged: 'skip' })).toMatchObject({
      state: 'unchanged',
      version: null,
    })
    expect(await importInto(list_key, 'ndjson', text)).toMatchObject({ state: 'published', version: 2 })
    const version = await t.make(`GET /reference-data/datasets/${list_key}/versions/2`)
    expect(version).toMatchObject({ content_changed: false, difference: { added: 0, removed: 0, changed: 0 } })
  })

  test('with a stale expected head is refused at the request, and again when published', async () => {
    const list_key = await newList()
    await importInto(list_key, 'ndjson', ndjson(many(2)))
    const upload_id = await upload(ndjson(many(3)))
    const request = { list_key, upload_id, adapter_key: 'ndjson', expected_head: 0 }
    const token = await t.token()
    const refused = await w.call('POST /reference-data/imports', { token, body: request })
    expect([refused.status, refused.json.code]).toEqual([409, 'head_moved'])
    const accepted = await t.make('POST /reference-data/imports', { body: { ...request, expected_head: 1 } })
    await t.make(`POST /reference-data/datasets/${list_key}/versions`, { body: { data: many(2) } })
    expect(await t.runToEnd(accepted)).toMatchObject({ state: 'failed', problem: { code: 'head_moved' } })
  })

  test('into a list that does not exist names the member of the body', async () => {
    const request = { list_key: 'no-such-list', upload_id: await upload(ndjson(many(1))), adapter_key: 'ndjson' }
    const refused = await w.call('POST /reference-data/imports', { token: await t.token(), body: request })
    const detail = 'There is no list with this list_key.'
    expect(refused.json).toMatchObject({
      status: 404,
      detail,
      errors: [{ in: 'body', pointer: '#/list_key', detail }],
    })
  })

  test('drops or hashes personal members before anything is stored', async () => {
    const list_key = await newList()
    const entries = [{ code: 'A1', name: 'Ada', born_on: '1815-12-10', tags: ['x'] }]
    await importInto(list_key, 'ndjson', ndjson(entries), { drop: ['/tags'], hash: ['/born_on'] })
    const [entry] = (await t.make(`GET /reference-data/datasets/${list_key}/versions/1`)).data
    expect(entry).toEqual({ code: 'A1', name: 'Ada', born_on: expect.stringMatching(/^[0-9a-f]{64}$/) })
    const { provenance } = await t.make(`GET /reference-data/datasets/${list_key}/versions/1/provenance`)
    expect(provenance).toMatchObject({ dropped_members: ['/tags'], hashed_members: ['/born_on'] })
    // The hash of the file would allow guessing the members that were removed.
    const file = hash('sha256', ndjson(entries), 'hex')
    const { fingerprint, ...source } = provenance.source
    expect(source).toMatchObject({ sha256: null })
    expect(fingerprint).toMatch(/^[0-9a-f]{32}$/)
    expect(file).not.toContain(fingerprint)
    await importInto(list_key, 'ndjson', ndjson(entries), { drop: ['/tags'], hash: ['/born_on'] })
    const again = await t.make(`GET /reference-data/datasets/${list_key}/versions/2/provenance`)
    expect(again.provenance.source.fingerprint).toBe(fingerprint)
    await importInto(list_key, 'ndjson', ndjson(entries))
    const plain = await t.make(`GET /reference-data/datasets/${list_key}/versions/3/provenance`)
    expect(plain.provenance.source).toEqual({
      file_name: expect.anything(),
      size_bytes: expect.any(Number),
      sha256: file,
    })
  })

  test('through an adapter for another type is refused with both types', async () => {
    const list_key = await newList()
    const body = { list_key, upload_id: await upload('x'), adapter_key: 'ofac-sdn-xml' }
    const refused = await w.call('POST /reference-data/imports', { token: await t.token(), body })
    const detail = `The adapter ofac-sdn-xml reads entries of the type sanctioned-party, not of ${list_key}.`
    expect(refused.json).toMatchObject({
      status: 409,
      code: 'conflict',
      detail,
      errors: [{ pointer: '#/adapter_key', detail }],
    })
    const request = { token: await t.token(), body: { type_key: list_key, text: '<sdnList/>' } }
    const preview = await w.call('POST /reference-data/adapters/ofac-sdn-xml/preview', request)
    expect(preview.json).toMatchObject({ status: 409, code: 'conflict', detail, errors: [{ pointer: '#/type_key' }] })
  })

  test('that is cancelled before it runs stores nothing', async () => {
    const list_key = await newList()
    const body = { list_key, upload_id: await upload(ndjson(many(2))), adapter_key: 'ndjson' }
    const job = await t.make('POST /reference-data/imports', { body })
    const path = (job.resource as string).replace('/api', '')
    expect(await t.make(`POST ${path}/cancel`)).toMatchObject({ state: 'cancelled', version: null })
    expect((await t.make(`GET /reference-data/datasets/${list_key}`)).head_version).toBe(0)
  })

  test('omits bad rows on request', async () => {
    const done = await importInto(await newList(), 'ndjson', ndjson([...many(5), { code: 'no name' }]), {
      strict: false,
    })
    expect(done).toMatchObject({ state: 'published', version: 1, counts: { accepted: 5, rejected: 1 } })
  })
})

describe('a preview', () => {
  test('returns rows, rejects and warnings, and stores nothing', async () => {
    const key = await newList()
    const shown = await t.make('POST /reference-data/adapters/csv/preview', {
      body: { type_key: key, text: 'code,name\nA1,Ada\nb 2,Bob\n' },
    })
    expect(shown).toMatchObject({
      rows: 2,
      accepted: 1,
      rejected: 1,
      entries: [{ entry: { code: 'A1', name: 'Ada' } }],
    })
    expect(shown.rejects[0]).toMatchObject({ pointer: '/code', at: { line: 3 } })
  })

  test('reports duplicate keys and invisible characters in keys', async () => {
    const shown = await t.make('POST /reference-data/adapters/csv/preview', {
      body: { type_key: await newList(), text: 'code,name\nA1,Ada\nB2,Bob\nA\u200b1,Ann\n' },
    })
    expect(shown).toMatchObject({
      rows: 3,
      accepted: 2,
      rejected: 1,
      rejects: [{ code: 'duplicate_key', at: { row: 3, line: 4 } }],
      reject_totals: [{ code: 'duplicate_key', count: 1 }],
      warnings: [{ code: 'key_invisible_removed', at: { line: 4 } }],
    })
  })

  test('without a type returns what the adapter reads', async () => {
    const shown = await t.make('POST /reference-data/adapters/csv/preview', { body: { text: 'a\n x \n x \n' } })
    expect(shown).toMatchObject({ accepted: 2, rejected: 0, entries: [{ entry: { a: ' x ' } }, {}] })
  })

  test('of an HTML page names the format', async () => {
    const body = { text: '<!DOCTYPE html>\n<html><body>Sign in</body></html>', type_key: await newList() }
    const reply = await w.call('POST /reference-data/adapters/csv/preview', { token: await t.token(), body })
    expect(reply.json).toMatchObject({ code: 'source_invalid', source_fault: { code: 'another_format' } })
    expect(reply.json.detail).toContain('looks like an HTML page')
  })
})

describe('white space around texts', () => {
  const imported = async (list_key: string): Promise<unknown> => {
    await importInto(list_key, 'csv', 'code,name\n A1 , Ada \n')
    return (await t.make(`GET /reference-data/datasets/${list_key}/versions/1`)).data
  }

  test('is preserved unless the type declares that it is trimmed', async () => {
    expect(await imported(await newList())).toEqual([{ code: 'A1', name: ' Ada ' }])
    const body = { type_key: 'trimmed-names', ...type, trim: ['/name'] }
    expect(await t.make('POST /reference-data/types', { body })).toMatchObject({ trim: ['/name'] })
    await t.make('POST /reference-data/datasets', {
      body: { list_key: 'trimmed-names', type_key: 'trimmed-names', title: 'Names' },
    })
    expect(await imported('trimmed-names')).toEqual([{ code: 'A1', name: 'Ada' }])
  })

  test('is trimmed where the type is older than the setting', async () => {
    const type_key = 'from-before'
    const { title, description, schema, key_pointers, fields, examples } = type
    const definition = { title, description, schema, key_pointers, list_rules: {}, fields, examples }
    await t.write((tx) =>
      typeStore.insertType(tx, {
        type_key,
        type_version: 1,
        definition: definition as never,
        definition_hash: '0'.repeat(64),
        compatibility: 'backward',
      }),
    )
    expect(await t.make(`GET /reference-data/types/${type_key}`)).toMatchObject({ trim: true })
    await t.make('POST /reference-data/datasets', { body: { list_key: type_key, type_key, title: 'Before' } })
    expect(await imported(type_key)).toEqual([{ code: 'A1', name: 'Ada' }])
  })
})

describe('an export', () => {
  const entries = [
    { code: 'A1', name: 'Ünïcode, "quoted"', score: 5, tags: ['a', 'b'] },
    { code: 'A2', name: '=SUM(A1)' },
    { code: 'A3', name: 'line\nbreak', score: 0 },
  ]
  test.each([
    ['json', 'application/json'],
    ['ndjson', 'application/x-ndjson'],
    ['csv', 'text/csv; charset=utf-8'],
    ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ])('as %s is sent with its media type and reads back to the same content', async (format, media_type) => {
    const list_key = await newList()
    await importInto(list_key, 'ndjson', ndjson(entries))
    const reply = await w.call(
      `GET /reference-data/datasets/${list_key}/versions/1/export?format=${format}&formula_guard=false`,
      { token: await t.token() },
    )
    expect(reply.status).toBe(200)
    expect(reply.headers).toMatchObject({
      'content-type': media_type,
      'content-disposition': `attachment; filename="${list_key}-1.${format}"`,
      'x-content-type-options': 'nosniff',
    })
    const again = await importInto(list_key, format, reply.bytes)
    expect(again).toMatchObject({ state: 'published', version: 2 })
    expect(await t.make(`GET /reference-data/datasets/${list_key}/versions/2`)).toMatchObject({
      content_changed: false,
    })
  })

  test('escapes formulas in spreadsheets unless the request disables it', async () => {
    const list_key = await newList()
    await importInto(list_key, 'ndjson', ndjson(entries))
    const path = `GET /reference-data/datasets/${list_key}/versions/1/export?format=csv`
    expect((await w.call(path, { token: await t.token() })).text).toContain(`'=SUM(A1)`)
  })

  test('of several lists is an archive with a manifest', async () => {
    const keys = [await newList(), await newList()]
    for (const key of keys) {
      await importInto(key, 'ndjson', ndjson(entries))
      await t.make(`POST /reference-data/datasets/${key}/activations`, { body: { version: 1, reason: 'x' } })
    }
    const job = await t.make('POST /reference-data/exports', { body: { list_keys: keys } })
    await t.runToEnd(job)
    const path = (job.resource as string).replace('/api', '')
    const { manifest } = await t.make(`GET ${path}`)
    expect(
      manifest.lists.map(({ list_key, version }: { list_key: string; version: number }) => [list_key, version]),
    ).toEqual(keys.map((key) => [key, 1]))
    const { bytes } = await w.call(`GET ${path}/content`, { token: await t.token() })
    expect(bytes.subarray(0, 2).toString()).toBe('PK')
    expect(bytes.length).toBe(manifest.size_bytes)
  })
})
