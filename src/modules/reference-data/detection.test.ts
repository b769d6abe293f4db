/** Detection over HTTP, previews that name a list, and imports that say what a rejected file looks like. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
  await t.make('POST /reference-data/datasets', {
    body: { list_key: 'industries', type_key: 'industry-risk', title: 'Industries' },
  })
})
afterAll(() => w.close())

const upload = async (payload: string, file_name: string): Promise<string> => {
  const headers = { 'content-type': 'application/octet-stream' }
  return (await t.make(`POST /uploads?file_name=${file_name}`, { payload, headers })).upload_id
}
const semicolons = 'division;section;title;rating;score_bps\n01;A;Agriculture;low;1000\n92;R;Gambling;high;8000\n'

test('offers the adapter, options and type of an upload, with a key for the new list', async () => {
  const upload_id = await upload(semicolons, 'Own%20Industries.csv')
  const found = await t.make('POST /reference-data/detections', { body: { upload_id } })
  expect(found).toMatchObject({
    list_key: 'own-industries',
    file_name: 'Own Industries.csv',
    is_whole: true,
    advice: null,
  })
  expect(found.candidates[0]).toMatchObject({
    adapter_key: 'csv',
    type_key: 'industry-risk',
    options: { delimiter: ';' },
    rows: 2,
    accepted: 2,
    rejected: 0,
  })
  expect(found.candidates[0].reason).toContain('5 of 5 columns match the type Industry risk')
})

test('puts the options of the last import of the list first', async () => {
  const upload_id = await upload(semicolons, 'again.csv')
  const body = { list_key: 'industries', adapter_key: 'csv', upload_id, options: { delimiter: ';', trim: true } }
  await t.runToEnd(await t.make('POST /reference-data/imports', { body }))
  const found = await t.make('POST /reference-data/detections', { body: { upload_id, list_key: 'industries' } })
  expect(found).toMatchObject({ list_key: 'industries', candidates: [{ options: { delimiter: ';', trim: true } }, {}] })
})

test('returns 404 for another upload or list', async () => {
  const missing = '00000000-0000-7000-8000-000000000000'
  const upload_id = await upload(semicolons, 'x.csv')
  for (const body of [{ upload_id: missing }, { upload_id, list_key: 'missing' }, { upload_id, type_key: 'missing' }]) {
    expect((await w.call('POST /reference-data/detections', { token: await t.token(), body })).status).toBe(404)
  }
})

test('previews against the type of a list', async () => {
  const path = 'POST /reference-data/adapters/csv/preview'
  const body = { text: semicolons.replaceAll(';', ','), list_key: 'industries' }
  expect(await t.make(path, { body })).toMatchObject({ accepted: 2, rejected: 0 })
  expect(await t.make(path, { body: { ...body, text: 'division\n1\n' } })).toMatchObject({ accepted: 0, rejected: 1 })
  expect((await w.call(path, { token: await t.token(), body: { ...body, list_key: 'missing' } })).status).toBe(404)
})

test('an import whose rows are all rejected says what the file looks like and how it is read', async () => {
  const upload_id = await upload(semicolons, 'x.csv')
  const body = { list_key: 'industries', adapter_key: 'csv', upload_id }
  const job = await t.make('POST /reference-data/imports', { body })
  await t.runToEnd(job)
  const { state, warnings } = await t.make(`GET ${job.resource.replace('/api', '')}`)
  expect([state, warnings[0]]).toEqual([
    'rejected',
    {
      code: 'looks_like',
      message:
        'The file looks like a table with 5 columns separated by semicolons. The adapter CSV reads it with the options {"delimiter":";"}.',
    },
  ])
})
