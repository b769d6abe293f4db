/** Sources are imported through the API into entries of a shared type, by the adapter of their publisher or by a mapping. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { projectRoot } from '#test/support/database.ts'
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
async function newList(type_key: string): Promise<string> {
  const list_key = `mapped-${++lists}`
  await t.make('POST /reference-data/datasets', { body: { list_key, type_key, title: 'Mapped' } })
  return list_key
}
async function upload(text: string): Promise<string> {
  const headers = { 'content-type': 'application/octet-stream' }
  return (await t.make('POST /uploads?file_name=list.txt', { payload: text, headers })).upload_id
}
async function importInto(list_key: string, adapter_key: string, upload_id: string, options: object = {}) {
  const job = await t.make('POST /reference-data/imports', { body: { list_key, upload_id, adapter_key, options } })
  await t.runToEnd(job)
  return t.make(`GET ${(job.resource as string).replace('/api', '')}`)
}
const listEntries = async (list_key: string) =>
  (await t.make(`GET /reference-data/datasets/${list_key}/versions/1/entries?limit=50`)).items.map(
    ({ entry }: { entry: object }) => entry,
  )

/** The example of the documentation. */
const page = readFileSync(path.join(projectRoot, 'docs/imports.md'), 'utf8')
const readExampleBlock = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1] as string
const table = readExampleBlock('csv')
const options = JSON.parse(readExampleBlock('json')) as Record<string, unknown>

describe('the example of docs/imports.md', () => {
  const ivan = {
    source: 'own-list',
    source_id: '17',
    kind: 'person',
    name: 'Ivan DOE',
    names: [
      { kind: 'alias', name: 'I. DOE' },
      { kind: 'alias', name: 'Vanya' },
      { kind: 'primary', name: 'Ivan DOE' },
    ],
    nationalities: ['BY', 'RU'],
    addresses: [{ country: 'RU', text: 'Main Street 1' }],
    programmes: ['Own list'],
    titles: [],
    positions: [],
    birth_dates: [],
    birth_places: [],
    identifiers: [],
    references: [],
  }
  const acme = {
    ...ivan,
    source_id: '18',
    kind: 'organisation',
    name: 'ACME Ltd',
    names: [{ kind: 'primary', name: 'ACME Ltd' }],
    nationalities: [],
    addresses: [{ country: 'CY', text: 'Port Road 2' }],
  }

  test('is previewed and imported as the same sanctioned parties', async () => {
    const upload_id = await upload(table)
    const preview = await t.make('POST /reference-data/adapters/csv/preview', {
      body: { upload_id, options, type_key: 'sanctioned-party' },
    })
    expect(preview).toMatchObject({ accepted: 2, rejected: 0, rejects: [], warnings: [{ code: 'rows_grouped' }] })
    expect(preview.entries.map(({ entry }: { entry: object }) => entry)).toEqual([ivan, acme])
    expect(preview.entries[1].at).toEqual({ row: 3, line: 4 })

    const list_key = await newList('sanctioned-party')
    const done = await importInto(list_key, 'csv', upload_id, options)
    expect(done).toMatchObject({ state: 'published', version: 1, warnings: preview.warnings })
    expect(await listEntries(list_key)).toEqual([ivan, acme])
  })

  test('rejects a row that contradicts another, with its location', async () => {
    const list_key = await newList('sanctioned-party')
    const done = await importInto(
      list_key,
      'csv',
      await upload(table.replace('17;Ivan DOE;;', '17;Ivan ROE;;')),
      options,
    )
    expect([done.state, done.version]).toEqual(['rejected', null])
    const { items } = await t.make(`GET /reference-data/imports/${done.import_id}/rejects`)
    expect(items).toMatchObject([{ code: 'value_ambiguous', pointer: '/name', at: { line: 3 } }])
  })

  test.each([
    ['two writes to one member', { constants: { name: 'x' } }, ['#/options/columns/1/pointer']],
    ['rows joined by nothing', { group_rows: { by: ['/key'] } }, ['#/options/group_rows/by/0']],
    ['a split that is empty', { columns: [{ column: 'a', pointer: '/a', split: '' }] }, ['#/options/columns/0/split']],
    ['an unknown option', { columns: [{ column: 'a', pointer: '/a', splits: ';' }] }, ['#/options/columns/0/splits']],
  ])('%s: import and preview return 409 with the location', async (_, wrong, pointers) => {
    const token = await t.token()
    const body = { options: { ...options, ...wrong } }
    const upload_id = await upload(table)
    const list_key = await newList('sanctioned-party')
    const replies = [
      await w.call('POST /reference-data/adapters/csv/preview', { token, body: { ...body, text: table } }),
      await w.call('POST /reference-data/imports', {
        token,
        body: { ...body, list_key, upload_id, adapter_key: 'csv' },
      }),
    ]
    for (const { status, json } of replies) {
      expect([status, json.code]).toEqual([409, 'definition_invalid'])
      expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(expect.arrayContaining(pointers))
    }
  })
})

test('constants and elements without columns leave the other members to the type', async () => {
  const list_key = await newList('sanctioned-party')
  const { constants, elements } = options as { constants: object; elements: object[] }
  const text = 'source_id,name,kind,alias\n1,Jo,person,Joe\n'
  const done = await importInto(list_key, 'csv', await upload(text), {
    constants: { ...constants, addresses: [] },
    elements: elements.slice(0, 2),
  })
  expect(done).toMatchObject({ state: 'published', warnings: [] })
  const [entry] = await listEntries(list_key)
  expect(entry).toMatchObject({
    source: 'own-list',
    source_id: '1',
    name: 'Jo',
    names: [{ name: 'Joe' }, { name: 'Jo' }],
  })
})

test('refuses to group the rows of subjects, with the location', async () => {
  const body = {
    upload_id: await upload('external_id\n1\n'),
    format: 'csv',
    options: { group_rows: { by: ['/external_id'] } },
  }
  const { status, json } = await w.call('POST /subjects/bulk', { token: await t.token(['analyst']), body })
  expect([status, json.code, json.errors[0].pointer]).toEqual([409, 'definition_invalid', '#/options/group_rows'])
})

describe.each(['iso-20275', 'mcc', 'naics', 'nace', 'gleif-lei', 'gleif-relationships'])(
  'the adapter %s',
  (adapter_key) => {
    test('is listed with its options, and its sample becomes a list of its type', async () => {
      const adapter = await t.make(`GET /reference-data/adapters/${adapter_key}`)
      const options = Object.values(adapter.options.properties as Record<string, { description?: string }>)
      expect(options.filter(({ description }) => !description)).toEqual([])
      const list_key = await newList(adapter.target_type)
      const done = await importInto(list_key, adapter_key, await upload(adapter.sample.text))
      expect(done).toMatchObject({ state: 'published', version: 1, warnings: [], gates: [] })
      expect(await listEntries(list_key)).toHaveLength(done.counts.accepted)
    })
  },
)

test('refuses an old workbook and names the format', async () => {
  const headers = { 'content-type': 'application/octet-stream' }
  const payload = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(1000)]) as unknown as string
  const { upload_id } = await t.make('POST /uploads?file_name=codes.xls', { payload, headers })
  const done = await importInto(await newList('industry-code'), 'naics', upload_id)
  expect(done).toMatchObject({ state: 'failed', problem: { source_fault: { code: 'another_format' } } })
  expect(done.problem.detail).toMatch(
    /^The file looks like an old Office document \(\.xls, \.doc\); .* Save it as \.xlsx or as CSV\.$/,
  )
})
