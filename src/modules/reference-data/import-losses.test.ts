/** An import that loses values without losing entries is stopped and can be overridden; one that only reorders is not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import yazl from 'yazl'
import { collectBytes } from '#test/support/byte-sources.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

let lists = 0
async function newList(type_key: string, guards: object = {}): Promise<string> {
  const list_key = `losses-${++lists}`
  await t.make('POST /reference-data/datasets', { body: { list_key, type_key, title: 'List', guards } })
  return list_key
}
async function upload(bytes: Uint8Array, file_name: string): Promise<string> {
  const headers = { 'content-type': 'application/octet-stream' }
  return (await t.make(`POST /uploads?file_name=${file_name}`, { payload: bytes as Buffer, headers })).upload_id
}
async function importInto(
  list_key: string,
  adapter_key: string,
  bytes: Uint8Array,
  { file_name = 'list', ...more }: { file_name?: string } & Record<string, unknown> = {},
) {
  const body = { list_key, upload_id: await upload(bytes, file_name), adapter_key, ...more }
  const job = await t.make('POST /reference-data/imports', { body })
  await t.runToEnd(job)
  return t.make(`GET ${(job.resource as string).replace('/api', '')}`)
}

const PARTIES = 20
const nothing = Array(7).fill('-0- ').join(',')
const buildRows = (row: (party: number) => string, count = PARTIES) =>
  Array.from({ length: count }, (_, party) => `${row(party + 1)}\r\n`).join('')
const buildSdn = (count = PARTIES) =>
  `${buildRows((n) => `${n},"PARTY ${n}","individual","SDGT",${nothing},-0- `, count)}\x1a`
const set = {
  'sdn.csv': buildSdn(),
  'alt.csv': `${buildRows((n) => `${n},${n},"aka","ALIAS ${n}",-0- `)}\x1a`,
  'add.csv': `${buildRows((n) => `${n},${n},"${n} Main St","Oran","Algeria",-0- `)}\x1a`,
  'sdn_comments.csv': '\x1a',
}
function buildZip(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name)
  zip.end()
  return collectBytes(zip.outputStream as unknown as AsyncIterable<Buffer>)
}
const buildZipWithoutAliases = () => {
  const { 'alt.csv': _, ...rest } = set
  return buildZip(rest)
}

describe('a list read by the adapter of its publisher', () => {
  test.each(['us-csl-csv', 'opensanctions-ftm'])(
    '%s: imports its sample by the name of the adapter',
    async (adapter_key) => {
      const adapter = await t.make(`GET /reference-data/adapters/${adapter_key}`)
      const described = Object.values(adapter.options.properties as Record<string, { description?: string }>)
      expect(described.map(({ description }) => description?.length ?? 0)).not.toContain(0)
      const done = await importInto(await newList('sanctioned-party'), adapter_key, Buffer.from(adapter.sample.text))
      expect(done).toMatchObject({ state: 'published', version: 1, warnings: [] })
    },
  )

  test('stops at references without a target, and refuses a file without a required section', async () => {
    const { items } = await t.make('GET /reference-data/adapters')
    const { sample, options: known } = items.find(
      (one: { adapter_key: string }) => one.adapter_key === 'ofac-sdn-advanced-xml',
    )
    expect(known.properties.absent_sections.description).toContain('deliberately')
    const orphaned = Buffer.from(sample.text.replace('IdentityID="60"', 'IdentityID="61"'))
    const stopped = await importInto(await newList('sanctioned-party'), 'ofac-sdn-advanced-xml', orphaned)
    expect([stopped.state, stopped.gates[0].facts.orphan_rows]).toEqual(['blocked', 1])
    const cut = Buffer.from(sample.text.replace('<ProfileRelationships/>', ''))
    const refused = await importInto(await newList('sanctioned-party'), 'ofac-sdn-advanced-xml', cut)
    expect(refused.problem.source_fault).toMatchObject({ code: 'layout_unknown' })
    const options = { absent_sections: ['ProfileRelationships'] }
    const taken = await importInto(await newList('sanctioned-party'), 'ofac-sdn-advanced-xml', cut, { options })
    expect(taken.state).toBe('published')
  })
})

describe('an archive of OFAC', () => {
  test('without its aliases fails and names the missing file', async () => {
    const done = await importInto(await newList('sanctioned-party'), 'ofac-sdn-csv', await buildZipWithoutAliases())
    expect([done.state, done.version, done.problem.code]).toEqual(['failed', null, 'source_invalid'])
    expect(done.problem.source_fault).toMatchObject({ code: 'archive_members', at: { file: 'alt.csv' } })
    expect(done.problem.detail).toContain('The archive lacks alt.csv (aliases).')
  })

  test('reports its files; without aliases the guard reports the loss and accepts an override', async () => {
    const list_key = await newList('sanctioned-party')
    const first = await importInto(list_key, 'ofac-sdn-csv', await buildZip({ ...set, 'spec.txt': 'x' }))
    expect(first).toMatchObject({ state: 'published', version: 1, warnings: [{ code: 'files_unread' }] })
    const read = { state: 'read', encoding: 'utf-8', encoding_from: 'content' }
    expect(first.files).toEqual([
      { file: 'spec.txt', state: 'unread' },
      ...['alt.csv', 'add.csv', 'sdn_comments.csv', 'sdn.csv'].map((file) => ({ file, ...read })),
    ])
    const options = { absent_files: ['alt'] }
    const stopped = await importInto(list_key, 'ofac-sdn-csv', await buildZipWithoutAliases(), { options })
    expect([stopped.state, stopped.version]).toEqual(['blocked', null])
    expect(stopped.files[0]).toEqual({ file: 'alt.csv', state: 'absent', holds: 'aliases' })
    const lost = { pointer: '/names', lost: PARTIES, values_before: PARTIES }
    const emptied = { pointer: '/names', emptied: PARTIES, entries_before: PARTIES }
    // Every entry changes too, so that guard also applies.
    expect(stopped.gates).toMatchObject([
      { gate: 'guard', facts: { changed: PARTIES } },
      { gate: 'guard', overridable: true, facts: lost },
      { gate: 'guard', overridable: true, facts: emptied },
    ])
    const override_guards = { reason: 'Aliases are kept elsewhere' }
    const taken = await importInto(list_key, 'ofac-sdn-csv', await buildZipWithoutAliases(), {
      options,
      override_guards,
    })
    expect([taken.state, taken.version]).toEqual(['published', 2])
    const { provenance } = await t.make(`GET /reference-data/datasets/${list_key}/versions/2/provenance`)
    expect(provenance).toMatchObject({ guards_overridden: { breaches: stopped.gates }, files: stopped.files })
  })

  test('with rows of parties it does not have is stopped at the first version', async () => {
    const bytes = await buildZip({ ...set, 'sdn.csv': buildSdn(PARTIES - 1) })
    const preview = await t.make('POST /reference-data/adapters/ofac-sdn-csv/preview', {
      body: { upload_id: await upload(bytes, 'sdn.zip'), limit: 1 },
    })
    expect(preview.files).toHaveLength(4)
    const orphaned = { code: 'rows_orphaned', count: 1, closes_guard: true, at: { file: 'alt.csv', line: PARTIES } }
    expect(preview.warnings[0]).toMatchObject(orphaned)
    const stopped = await importInto(await newList('sanctioned-party'), 'ofac-sdn-csv', bytes)
    expect(stopped).toMatchObject({ state: 'blocked', version: null, warnings: preview.warnings })
    expect(stopped.gates).toMatchObject([
      { gate: 'guard', overridable: true, facts: { rows: 1, orphan_rows: 2, at: { file: 'alt.csv' } } },
      { gate: 'guard', facts: { rows: 1, at: { file: 'add.csv', line: PARTIES } } },
    ])
    const tolerant = await newList('sanctioned-party', { max_orphan_rows: 2 })
    expect((await importInto(tolerant, 'ofac-sdn-csv', bytes)).state).toBe('published')
  })

  test('of another list is refused with the name of the file', async () => {
    const list_key = await newList('sanctioned-party')
    const options = { absent_files: ['alt', 'add', 'sdn_comments'] }
    const done = await importInto(list_key, 'ofac-sdn-csv', Buffer.from(buildSdn()), {
      options,
      file_name: 'cons_prim.csv',
    })
    expect(done.problem.source_fault).toEqual({ code: 'layout_unknown', at: { row: 0, file: 'cons_prim.csv' } })
    expect(
      (await importInto(list_key, 'ofac-sdn-csv', Buffer.from(buildSdn()), { options, file_name: 'sdn.csv' })).state,
    ).toBe('published')
  })
})

const tagged = (fields: object) => ({
  title: 'Tagged',
  description: 'Something with tags.',
  schema: {
    type: 'object',
    properties: {
      code: { type: 'string' },
      note: { type: 'string' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['code'],
    additionalProperties: false,
  },
  key_pointers: ['/code'],
  fields: { '/tags': { title: 'Tags', ...fields } },
  examples: [{ code: 'A', tags: ['x'] }],
})
const buildEntries = (tags: readonly string[], count = 30) =>
  Array.from({ length: count }, (_, n) => ({ code: `C${n}`, tags, note: 'é' }))
const ndjson = (entries: readonly object[]) =>
  Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))

test('an inline list whose entries lose values is stopped like an import', async () => {
  await t.make('POST /reference-data/types', { body: { type_key: 'tagged', ...tagged({}) } })
  const path = `/reference-data/datasets/${await newList('tagged', { max_changed_bps: 10_000 })}/versions`
  await t.make(`POST ${path}`, { body: { data: buildEntries(['a', 'b']) } })
  const token = await t.token()
  const refused = await w.call(`POST ${path}`, { body: { data: buildEntries(['c']) }, token })
  expect([refused.status, refused.json.code]).toEqual([409, 'gates_closed'])
  expect(refused.json.gates).toMatchObject([{ facts: { pointer: '/tags', lost: 30, values_before: 60 } }])
  // Other values, but as many: nothing is lost.
  await t.make(`POST ${path}`, { body: { data: buildEntries(['c', 'd']) } })
})

test('the first import after a type declares a set counts reordered entries separately from changed ones', async () => {
  await t.make('POST /reference-data/types', { body: { type_key: 'reordered', ...tagged({}) } })
  const list_key = await newList('reordered', { max_changed_bps: 1000 })
  expect((await importInto(list_key, 'ndjson', ndjson(buildEntries(['b', 'a'])))).version).toBe(1)
  await t.make('POST /reference-data/types/reordered/versions', { body: tagged({ set: true }) })
  const next = [{ code: 'C0', tags: ['a', 'b'], note: 'changed' }, ...buildEntries(['a', 'b']).slice(1)]
  expect((await importInto(list_key, 'ndjson', ndjson(next))).version).toBe(2)
  const { items } = await t.make(`GET /reference-data/datasets/${list_key}/versions`)
  expect(items[0].difference).toEqual({ added: 0, removed: 0, changed: 1, restated: 29 })
  // From then on the order in the file is ignored.
  const again = [...buildEntries(['b', 'a', 'b']).slice(1), next[0] as object]
  expect((await importInto(list_key, 'ndjson', ndjson(again), { on_unchanged: 'skip' })).state).toBe('unchanged')
})

test('detects and reports the encoding of a file, unless the request states one', async () => {
  await t.make('POST /reference-data/types', { body: { type_key: 'encoded', ...tagged({}) } })
  const list_key = await newList('encoded')
  const bytes = Buffer.from('code,note\nA,José\n', 'latin1')
  const detected = await importInto(list_key, 'csv', bytes)
  expect(detected.files).toEqual([{ file: null, state: 'read', encoding: 'windows-1252', encoding_from: 'content' }])
  const { items } = await t.make(`GET /reference-data/datasets/${list_key}/versions/1/entries`)
  expect(items[0].entry.note).toBe('José')
  const stated = await importInto(list_key, 'csv', bytes, { options: { encoding: 'iso-8859-1' }, on_unchanged: 'skip' })
  expect(stated).toMatchObject({
    state: 'unchanged',
    files: [{ encoding: 'iso-8859-1', encoding_from: 'option' }],
  })
  const utf8 = await importInto(list_key, 'csv', bytes, { options: { encoding: 'utf-8' } })
  expect(utf8.problem.source_fault).toMatchObject({ code: 'encoding_invalid', at: { line: 2 } })
})
