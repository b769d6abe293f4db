/** Edge cases of lists: key normalisation, stale ETags, repeated requests, unusual files and values. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openArchive } from '#registry/formats/archive.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { hasPython, verifyInPython } from '#test/support/python-verifier.ts'
import { type Rating, SharedList } from '#test/support/shared-list.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

/** Members that tables represent badly: open, nullable, of several types, by reference, and without a type. */
const type = {
  title: 'Party',
  description: 'A party.',
  schema: {
    type: 'object',
    $defs: { grade: { type: 'string', maxLength: 5 } },
    properties: {
      name: { type: 'string', maxLength: 100 },
      score: { type: ['number', 'null'] },
      grade: { $ref: '#/$defs/grade' },
      level: { enum: ['low', 'high'] },
      code: { type: ['string', 'integer'] },
      aliases: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    },
    required: ['name'],
  },
  key_pointers: ['/name'],
  examples: [{ name: 'Ada' }],
}
let lists = 0
async function newList(versions: object[][] = [], settings: object = {}): Promise<string> {
  const key = `edges-${++lists}`
  await t.make('POST /reference-data/types', { body: { type_key: key, ...type } })
  await t.make('POST /reference-data/datasets', { body: { list_key: key, type_key: key, title: 'Edges', ...settings } })
  for (const data of versions) await t.make(`POST /reference-data/datasets/${key}/versions`, { body: { data } })
  return key
}
const activate = (list_key: string, version: number) =>
  t.make(`POST /reference-data/datasets/${list_key}/activations`, { body: { version, reason: 'x' } })
const call = async (at: string, options: object = {}) => w.call(at, { token: await t.token(), ...options })

async function importInto(list_key: string, adapter_key: string, bytes: string | Buffer, more: object = {}) {
  const headers = { 'content-type': 'application/octet-stream' }
  const { upload_id } = await t.make('POST /uploads?file_name=list', { payload: bytes as string, headers })
  const job = await t.make('POST /reference-data/imports', { body: { list_key, upload_id, adapter_key, ...more } })
  await t.runToEnd(job)
  return t.make(`GET ${(job.resource as string).replace('/api', '')}`)
}

describe('a key', () => {
  test('is found in any Unicode normal form and with surrounding white space', async () => {
    const list_key = await newList([[{ name: 'Côte d’Azur' }]])
    await activate(list_key, 1)
    for (const name of ['Côte d’Azur', ' Co\u0302te d’Azur ']) {
      const key = encodeURIComponent(name)
      const { entry } = await t.make(`GET /reference-data/resolve/${list_key}/entry?key=${key}`)
      const { results } = await t.make('POST /reference-data/lookup', {
        body: { lookups: [{ list_key, keys: [name] }] },
      })
      const proof = await t.make(`GET /reference-data/datasets/${list_key}/versions/1/proof?key=${key}`)
      expect([entry, results[0].entries, proof.present, proof.key]).toEqual([
        { name: 'Côte d’Azur' },
        [{ key: name, entry: { name: 'Côte d’Azur' } }],
        true,
        'Côte d’Azur',
      ])
    }
  })
})

const python = hasPython()
if (!python) console.log('python3 is not here: 1 test of the verifier in docs/proofs is skipped')

test.runIf(python)('the verifier of docs/proofs accepts a proof and refuses a modified one', async () => {
  const names = Array.from({ length: 300 }, (_, at) => ({ name: `Name ${at} – é` }))
  const list_key = await newList([names])
  const at = `GET /reference-data/datasets/${list_key}/versions/1`
  const held = (await t.make(at)).content_hash
  const prove = (key: string) => t.make(`${at}/proof?key=${encodeURIComponent(key)}`)
  const [present, absent] = [await prove('Name 7 – é'), await prove('Nobody')]
  expect([present.present, absent.present]).toEqual([true, false])
  const { proof } = present
  const cases = [present, absent, { ...present, entry: { name: 'Other' } }, { ...absent, proof }]
  expect(verifyInPython(cases.map((answer) => ({ answer, held })))).toEqual([true, true, false, false])
  expect(verifyInPython([{ answer: present, held: proof.key_hash }])).toEqual([false])
})

describe('an ETag', () => {
  test('of a list changes with its versions and activations, and works as If-Match', async () => {
    const list_key = await newList([[{ name: 'Ada' }]])
    const at = `/reference-data/datasets/${list_key}`
    const tag = async () => (await call(`GET ${at}`)).headers['etag'] as string
    const tags = [await tag()]
    await activate(list_key, 1)
    tags.push(await tag())
    await t.make(`POST ${at}/versions`, { body: { data: [{ name: 'Bob' }] } })
    tags.push(await tag())
    expect(new Set(tags).size).toBe(3)
    expect((await call(`GET ${at}`, { headers: { 'if-none-match': tags[1] } })).status).toBe(200)
    expect((await call(`GET ${at}`, { headers: { 'if-none-match': tags[2] } })).status).toBe(304)
    const change = (tag_sent: string) =>
      call(`PATCH ${at}`, { headers: { 'if-match': tag_sent }, body: { title: 'Renamed' } })
    expect((await change(tags[0] as string)).status).toBe(200)
    expect((await change(tags[0] as string)).status).toBe(412)
  })

  test('of a version changes when the version is withdrawn', async () => {
    const at = `/reference-data/datasets/${await newList([[{ name: 'Ada' }]])}/versions/1`
    const before = (await call(`GET ${at}`)).headers['etag'] as string
    await t.make(`PATCH ${at}`, { body: { state: 'withdrawn', reason: 'x' } })
    const after = await call(`GET ${at}`, { headers: { 'if-none-match': before } })
    expect([after.status, after.json.state]).toEqual([200, 'withdrawn'])
  })
})

describe('a rollback', () => {
  test('that is repeated does not restore the version it replaced', async () => {
    const list_key = await newList([[{ name: 'Ada' }], [{ name: 'Bob' }]])
    await activate(list_key, 1)
    await activate(list_key, 2)
    const back = (body: object) => call(`POST /reference-data/datasets/${list_key}/rollback`, { body })
    expect((await back({ reason: 'wrong' })).json.activation.version).toBe(1)
    const again = await back({ reason: 'wrong' })
    expect([again.status, again.json.code]).toEqual([409, 'transition_not_allowed'])
    expect((await back({ reason: 'right after all', to_version: 2 })).json.activation.version).toBe(2)
  })

  test('of a shared list returns the reason in the problem', async () => {
    const { list_key } = await SharedList.create(w, 'free', [{ country: 'DE', rating: 'low' }])
    const refused = await call(`POST /reference-data/datasets/${list_key}/rollback`, { body: { reason: 'x' } })
    expect([refused.status, refused.json.code]).toEqual([409, 'transition_not_allowed'])
    expect(refused.json.detail).toContain('shared list')
  })
})

describe('an import', () => {
  test('rejects a character that cannot be stored, and reports it', async () => {
    const list_key = await newList()
    const done = await importInto(list_key, 'ndjson', '{"name":"a\\u0000b"}\n{"name":"c"}\n')
    expect(done).toMatchObject({ state: 'rejected', rejects: [{ code: 'unstorable_text', count: 1 }] })
    const { items } = await t.make(`GET /reference-data/imports/${done.import_id}/rejects`)
    expect(items).toMatchObject([{ pointer: '/name', excerpt: 'a\ufffdb', at: { line: 1 } }])
  })

  test('stopped by a guard reports what was read', async () => {
    const list_key = await newList([], { guards: { min_entries: 5 } })
    const bad = '{"name":"Ada"}\n{"name":5}\n'
    const done = await importInto(list_key, 'ndjson', bad, { strict: false })
    expect(done).toMatchObject({
      state: 'blocked',
      gates: [{ gate: 'guard' }],
      counts: { rows: 2, accepted: 1, rejected: 1 },
      rejects: [{ pointer: '/name', count: 1 }],
    })
    expect(await t.make(`GET /reference-data/imports/${done.import_id}/rejects`)).toMatchObject({ total: 1 })
  })

  test('counts the stored rejects when the source breaks off later', async () => {
    const rows = Array.from({ length: 1500 }, () => '{"name":5}\n').join('')
    const done = await importInto(await newList(), 'ndjson', `${rows}{"name":"Ada`)
    expect(done).toMatchObject({ state: 'failed', counts: null })
    const { items, total } = await t.make(`GET /reference-data/imports/${done.import_id}/rejects?limit=200`)
    expect(items).toHaveLength(200)
    expect(total).toBeGreaterThanOrEqual(500)
  })

  test.each([
    [
      'a renamed column',
      'Name,score\nAda,1\n',
      'The column is not read, since no member of the type has this name: "Name".',
    ],
    ['another delimiter', 'name;score\nAda;1\n', 'Perhaps the delimiter is a semicolon.'],
  ])('warns about columns it does not read: %s', async (_name, content, said) => {
    const { state, warnings } = await importInto(await newList(), 'csv', content)
    expect([state, warnings]).toMatchObject(['rejected', [{ code: 'looks_like' }, { code: 'columns_unread' }]])
    expect(warnings[1].message).toContain(said)
  })

  test('drops members of list items, and warns about members that never occurred', async () => {
    const list_key = await newList()
    const entry = { name: 'Ada', score: 1, aliases: [{ name: 'A' }, { name: 'B' }] }
    const options = { drop: ['/aliases/*/name', '/scroe'] }
    const { warnings } = await importInto(list_key, 'ndjson', `${JSON.stringify(entry)}\n`, options)
    expect(warnings).toMatchObject([{ code: 'personal_unmet', message: expect.stringContaining('/scroe') }])
    const { data } = await t.make(`GET /reference-data/datasets/${list_key}/versions/1`)
    expect(data).toEqual([{ name: 'Ada', score: 1, aliases: [{}, {}] }])
  })

  test('of a workbook through a text adapter names the file format', async () => {
    const list_key = await newList([[{ name: 'Ada' }]])
    const { bytes } = await call(`GET /reference-data/datasets/${list_key}/versions/1/export?format=xlsx`)
    const { problem } = await importInto(list_key, 'csv', bytes)
    expect(problem.detail).toContain('Excel workbook')
  })

  test('with an unknown option names the option', async () => {
    const body = {
      list_key: await newList(),
      upload_id: await t.newUpload(),
      adapter_key: 'csv',
      options: { delim: ';' },
    }
    const refused = await call('POST /reference-data/imports', { body })
    expect([refused.status, refused.json.detail]).toEqual([
      409,
      expect.stringContaining('/delim is not a known member'),
    ])
  })
})

describe('an export', () => {
  const entries = [
    { name: 'Ada', score: null, grade: 'A', level: 'high', code: 'x', extra: { deep: [1, null] } },
    { name: 'Bob', score: 1.5e-7, grade: '', code: 7 },
    { name: 'Cyd', score: 0.1 + 0.2, level: 'low', code: '7' },
  ]
  test.each(['csv', 'xlsx'])(
    'as %s preserves values that are null, empty, undeclared, of several types or very small',
    async (format) => {
      const list_key = await newList([entries])
      const at = `GET /reference-data/datasets/${list_key}/versions/1/export?format=${format}&formula_guard=false`
      const { bytes, headers } = await call(at)
      expect(headers['content-disposition']).toBe(`attachment; filename="${list_key}-1.${format}"`)
      expect(await importInto(list_key, format, bytes)).toMatchObject({ state: 'published', warnings: [] })
      const { data, content_changed } = await t.make(`GET /reference-data/datasets/${list_key}/versions/2`)
      expect([data, content_changed]).toEqual([entries, false])
    },
  )

  test('of a list too large to cache has the overlay applied', async () => {
    const list = await SharedList.create(w, 'free', [{ country: 'AA', rating: 'low' }])
    await list.publishTypeVersion({ note: { type: 'string', maxLength: 10_000 } })
    const codes = Array.from({ length: 400 }, (_, n) => String.fromCharCode(65 + Math.floor(n / 20), 65 + (n % 20)))
    await list.publish(codes.map((country): Rating => ({ country, rating: 'low', note: 'n'.repeat(3000) })))
    const changes = [
      { key: 'AB', op: 'merge', value: { rating: 'high' } },
      { key: 'AC', op: 'remove' },
      { key: 'AZ', op: 'put', value: { country: 'AZ', rating: 'high' } },
      { key: 'ZZ', op: 'put', value: { country: 'ZZ', rating: 'high' } },
    ]
    await t.make(`PUT /reference-data/datasets/${list.list_key}/overlay`, { body: { entries: changes, reason: 'x' } })
    const job = await t.make('POST /reference-data/exports', { body: { list_keys: [list.list_key] } })
    await t.runToEnd(job)
    const path = (job.resource as string).replace('/api', '')
    const { manifest } = await t.make(`GET ${path}`)
    expect(manifest.lists).toMatchObject([{ overlay_version: 1, entry_count: 401 }])
    const { bytes } = await call(`GET ${path}/content`)
    const source = async function* () {
      yield bytes
    }
    const archive = await openArchive(source(), 100_000_000)
    const member = archive.members.find(({ name }) => name.endsWith('.ndjson'))
    const pieces: Buffer[] = []
    for await (const piece of member?.read() ?? []) pieces.push(piece)
    await archive.close()
    const written = Buffer.concat(pieces).toString().trimEnd().split('\n')
    const countries = written.map((line) => (JSON.parse(line) as Rating).country)
    expect(countries).toEqual([...codes.filter((code) => code !== 'AC'), 'AZ', 'ZZ'].toSorted())
    expect(written.filter((line) => line.includes('"high"'))).toHaveLength(3)
  })
})

describe('an overlay', () => {
  const at = ({ list_key }: SharedList) => `/reference-data/datasets/${list_key}/overlay`
  const view = async (list: SharedList) => {
    const { overlay } = await t.make(`GET ${at(list)}`)
    const [{ key, effective }] = overlay.entries
    const { entry } = await t.make(`GET /reference-data/resolve/${list.list_key}/entry?key=${key}`)
    return { effective, entry }
  }

  test('leaves the shared entry in force when the policy no longer allows the change', async () => {
    const list = await SharedList.create(w, 'add_only', [{ country: 'DE', rating: 'low' }])
    const ours = { country: 'FR', rating: 'low' }
    await t.make(`PUT ${at(list)}`, { body: { entries: [{ key: 'FR', op: 'put', value: ours }], reason: 'x' } })
    expect(await view(list)).toEqual({ effective: ours, entry: ours })
    const theirs: Rating = { country: 'FR', rating: 'high' }
    await list.publish([{ country: 'DE', rating: 'low' }, theirs])
    expect(await view(list)).toEqual({ effective: theirs, entry: theirs })
  })

  test('leaves the shared entry in force while it is pinned to another version', async () => {
    const de: Rating = { country: 'DE', rating: 'low' }
    const list = await SharedList.create(w, 'free', [de])
    const entries = [{ key: 'DE', op: 'merge', value: { rating: 'high' } }]
    await t.make(`PUT ${at(list)}`, { body: { entries, mode: 'pinned', reason: 'x' } })
    expect((await view(list)).effective).toEqual({ ...de, rating: 'high' })
    await list.publish([de, { country: 'FR', rating: 'low' }])
    expect(await view(list)).toEqual({ effective: de, entry: de })
  })

  test('on an own list is refused with the alternative', async () => {
    const list_key = await newList([[{ name: 'Ada' }]])
    const body = { entries: [{ key: 'Ada', op: 'remove' }], reason: 'x' }
    const refused = await call(`PUT /reference-data/datasets/${list_key}/overlay`, { body })
    expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining('publish a version')])
  })
})
