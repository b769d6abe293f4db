/** PostgreSQL may ask for any transaction to be repeated; a source is read only once. An import must survive both. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { typeBody } from '#modules/reference-data/fixtures.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

/** The first version to be published meets a serialisation failure, and no other does. */
async function failOnce(): Promise<void> {
  const superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  await superuser.query(`
    create sequence app.attempts;
    grant usage on sequence app.attempts to app;
    create function app.fail_once() returns trigger language plpgsql as $$
    begin
      if nextval('app.attempts') = 1 then raise exception 'repeat this' using errcode = '40001'; end if;
      return new;
    end $$;
    create trigger a_fail_once before insert on app.dataset_version for each row execute function app.fail_once()`)
  await superuser.end()
}

test('an import whose transaction is repeated publishes the whole list, or nothing', async () => {
  const entries = Array.from({ length: 50 }, (_, n) => ({ code: `C${String(n).padStart(2, '0')}`, rating: 'low' }))
  await t.make('POST /reference-data/types', { body: { type_key: 'rating', ...typeBody() } })
  await t.make('POST /reference-data/datasets', { body: { list_key: 'list', type_key: 'rating', title: 'List' } })
  const payload = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
  const headers = { 'content-type': 'application/octet-stream' }
  const { upload_id } = await t.make('POST /uploads?file_name=list.ndjson', { payload, headers })
  await failOnce()
  const body = { list_key: 'list', upload_id, adapter_key: 'ndjson' }
  const job = await t.make('POST /reference-data/imports', { body })
  expect(await t.runToEnd(job)).toMatchObject({ state: 'succeeded', result: { state: 'published', version: 1 } })
  const { data, entry_count } = await t.make('GET /reference-data/datasets/list/versions/1')
  expect([entry_count, data]).toEqual([50, entries])
})
