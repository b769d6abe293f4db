/** Publishers' real files through the real API: two versions differ by exactly the expected keys; odd files leave nothing. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ExampleTenant } from '../support/example-tenant.ts'
import { compareVersions, type ExpectedDifference, type RegistryApi, readExpectedDiffs } from '../support/real-lists.ts'
import { findSharedFolder } from '../support/shared-data.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

/** The stand compares all pairs; these have every oddity once. */
const CHOSEN = [
  'sanctions/ofac-sdn/sdn_2022-02-25.csv',
  'sanctions/us-bis-dpl/dpl_2022-09-07.txt',
  'sanctions/un-consolidated/un_2018-10-29.xml',
  'reference/iso3166/country-codes_2019-04-04_2ed03b6.csv',
  'reference/iso4217/codes-all_2020-10-12_df3ae68.csv',
  'reference/mcc/mcc_codes_2015-04-29_c78055f.csv',
]
const ODD: readonly [adapter: string, file: string, code: string, line: number | undefined][] = [
  ['ofac-sdn-csv', 'sanctions/ofac-relational/invalid-2019/sdn.csv', 'archive_members', undefined],
  ['ofac-consolidated-xml', 'sanctions/ofac-sdn-xml-sample/sdn.xml', 'layout_unknown', undefined],
  ['un-consolidated-xml', 'sanctions/my-moha/moha_2025-01-13_MALFORMED.xml', 'not_well_formed', 1],
  ['un-consolidated-xml', 'sanctions/my-moha/moha_2025-11-27.xml', 'layout_unknown', 3],
]

const folder = findSharedFolder('', CHOSEN.length + ODD.length + 1) as string
const expected = folder ? readExpectedDiffs(folder) : []
const differenceTo = (file: string) => expected.find((pair) => pair.new === file) as ExpectedDifference

describe.skipIf(!folder)('a real list', () => {
  let w: TestApp
  let t: ExampleTenant
  let api: RegistryApi
  beforeAll(async () => {
    w = await startTestApp()
    t = await ExampleTenant.create(w)
    const runner = w.runtime.createRunner(2)
    runner.start()
    api = {
      ask: (at, body) => t.make(at, body ? { body } : {}),
      upload: async (file_name, payload) => {
        const headers = { 'content-type': 'application/octet-stream' }
        return (await t.make(`POST /uploads?file_name=${file_name}`, { payload, headers })).upload_id
      },
      imported: async (body) => {
        let job = await t.make('POST /reference-data/imports', { body })
        const { resource } = job
        while (job.state === 'queued' || job.state === 'running') job = await t.make(`GET /jobs/${job.job_id}?wait=8`)
        return t.make(`GET ${resource}`)
      },
    }
    return () => runner.stop(5000)
  })
  afterAll(() => w.close())

  test.each(CHOSEN)('%s differs from the version before it by exactly the expected keys', async (file) => {
    expect(await compareVersions(api, folder, differenceTo(file))).toEqual([])
  })

  let lists = 0
  async function odd(adapter_key: string, file: string, type_key: string, options: object = {}) {
    const list_key = `odd-${++lists}`
    await api.ask('POST /reference-data/datasets', { list_key, type_key, title: 'Odd' })
    const upload_id = await api.upload(path.basename(file), readFileSync(path.join(folder, file)))
    const done = await api.imported({ list_key, upload_id, adapter_key, options })
    expect(await api.ask(`GET /reference-data/datasets/${list_key}`)).toMatchObject({ head_version: 0, versions: [] })
    expect(await left(list_key)).toEqual({ versions: 0, entries: 0 })
    return done
  }
  const left = (list_key: string) =>
    t.write((tx) =>
      tx.find(
        `select count(distinct v.version) as versions, count(e.key) as entries from app.dataset d
           left join app.dataset_version v using (tenant_id, dataset_id)
           left join app.dataset_entry e using (tenant_id, dataset_id) where d.list_key = $1`,
        [list_key],
      ),
    )

  test.each(ODD)('%s of %s fails, says where, and leaves nothing', async (adapter, file, code, line) => {
    const { state, version, problem } = await odd(adapter, file, 'sanctioned-party')
    expect([state, version, problem.code]).toEqual(['failed', null, 'source_invalid'])
    expect(problem.source_fault.code).toBe(code)
    expect(problem.source_fault.at?.line).toBe(line)
  })

  test('with rows that lack columns is rejected row by row, and leaves nothing', async () => {
    const properties = { source: { type: 'string' }, name: { type: 'string' } }
    await api.ask('POST /reference-data/types', {
      type_key: 'csl',
      title: 'CSL',
      description: 'Two of its columns.',
      schema: { type: 'object', properties, required: ['name'] },
      key_pointers: ['/name'],
      examples: [{ name: 'x' }],
    })
    const done = await odd('csv', 'sanctions/us-csl/csl_invalid_2019.csv', 'csl')
    expect([done.state, done.version]).toEqual(['rejected', null])
    const { items } = await api.ask(`GET /reference-data/imports/${done.import_id}/rejects`)
    const places = items.map(({ code, at }: { code: string; at: { line: number } }) => [code, at.line])
    expect(places).toEqual([2, 4, 5, 9].map((line) => ['column_lacking', line]))
  })
})
