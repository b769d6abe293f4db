/** Bulk imports: every row is counted once and every faulty one reported, whatever happens to file, worker or connection. */
import { hash } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Tx } from '#kernel/database/tx.ts'
import { HOUSEKEEPING } from '#modules/tenant/index.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { type JobTestApp, startJobTestApp, waitUntil } from '#test/support/job-test-app.ts'
import { claimExternalIds } from './bulk/queries.ts'

let w: JobTestApp
let t: ExampleTenant
let superuser: pg.Client
beforeAll(async () => {
  w = await startJobTestApp()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})
afterEach(() => w.clear())

async function startBulk(bytes: string | Buffer, format = 'ndjson', options: object = {}) {
  const headers = { 'content-type': 'application/octet-stream' }
  const { upload_id } = await t.make('POST /uploads?file_name=subjects', { payload: bytes, headers })
  return t.make('POST /subjects/bulk', { body: { upload_id, format, options } })
}
const getBulk = (job: { resource: string }) => t.make(`GET ${job.resource.replace('/api', '')}`)
const listRejects = (job: { resource: string }) => t.make(`GET ${job.resource.replace('/api', '')}/rejects?limit=200`)
async function importFile(bytes: string | Buffer, format = 'ndjson', options: object = {}) {
  t = await ExampleTenant.create(w)
  const job = await startBulk(bytes, format, options)
  w.startRunner()
  await w.ended(t.tenant_id, job.job_id)
  return { job, bulk: await getBulk(job), rejects: (await listRejects(job)).items }
}

const ndjson = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const row = (n: number, more: object = {}) => ({
  subject_type: 'person',
  external_id: `id-${n}`,
  name: `Person ${n}`,
  ...more,
})
const many = (count: number, more: object = {}) => Array.from({ length: count }, (_, n) => row(n + 1, more))
const zero = { rows: 0, created: 0, changed: 0, unchanged: 0, rejected: 0, faults: 0 }

/** External ids with revisions, as the tenant has them. */
const stored = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      await t.write((tx) =>
        tx.query<{ external_id: string; revision: number }>(
          'select external_id, revision from app.subject where tenant_id = $1',
          [t.tenant_id],
        ),
      )
    ).map(({ external_id, revision }) => [external_id, revision]),
  )

test('the hash of the file is removed with the upload', async () => {
  const bytes = ndjson(many(1))
  const { job, bulk } = await importFile(bytes)
  expect(bulk.source).toMatchObject({ file_name: 'subjects', sha256: hash('sha256', bytes, 'hex') })
  await t.write((tx) => tx.run('delete from app.upload where tenant_id = $1', [tx.tenant_id]))
  expect((await getBulk(job)).source).toEqual({ ...bulk.source, sha256: null })
})

test('CSV columns without the prefix are attributes, unless the same column has the prefix too', async () => {
  const head = 'external_id,subject_type,name,residence_country'
  const plain = await importFile(`${head}\nc-1,person,Ada,DE\n`, 'csv')
  expect(plain.bulk.counts).toMatchObject({ created: 1, rejected: 0 })
  expect((await t.make('GET /subjects')).items).toMatchObject([{ attributes: { residence_country: 'DE' } }])
  const both = await importFile(
    `${head},attributes.residence_country\nc-1,person,Ada,DE,FR\nc-2,person,Bo,DE,FR\n`,
    'csv',
  )
  expect(both.bulk.counts).toMatchObject({ created: 0, rejected: 2, faults: 2 })
  expect((await listRejects(both.job)).groups).toMatchObject([
    { code: 'member_unknown', pointer: '/residence_country', rows: 2, first_row: 1 },
  ])
})

describe('a file', () => {
  test('in CSV creates subjects with attributes of the declared types', async () => {
    const text =
      'external_id,subject_type,name,segment,attributes.country\n' +
      'a,person,"Lovelace, Ada",retail,GB\nb,company,Analytical Engines,,\n'
    const { bulk, rejects } = await importFile(text, 'csv')
    expect(bulk).toMatchObject({ state: 'succeeded', counts: { ...zero, rows: 2, created: 2 }, problem: null })
    expect(rejects).toEqual([])
    const [b, a] = (await t.make('GET /subjects')).items
    expect(a).toMatchObject({ name: 'Lovelace, Ada', segment: 'retail', attributes: { country: 'GB' } })
    expect(b).toMatchObject({ name: 'Analytical Engines', segment: null, attributes: {} })
    const columns = [
      { column: 'Kunde', pointer: '/name' },
      { column: 'Art', pointer: '/subject_type' },
      { column: 'Umsatz', pointer: '/attributes/turnover', kind: 'decimal', decimal_separator: ',' },
    ]
    const mapped = await importFile('Kunde;Art;Umsatz\nAda;person;12,5\n', 'csv', { delimiter: ';', columns })
    expect(mapped.bulk.counts).toMatchObject({ created: 1 })
    expect((await t.make('GET /subjects')).items[0].attributes).toEqual({ turnover: 12.5 })
  })

  test('imported again changes only what differs', async () => {
    await importFile(ndjson(many(5)))
    const again = await startBulk(ndjson([...many(4), row(5, { name: 'New' }), row(6)]))
    await w.ended(t.tenant_id, again.job_id)
    expect((await getBulk(again)).counts).toEqual({ ...zero, rows: 6, created: 1, changed: 1, unchanged: 4 })
    expect(await stored()).toEqual({ 'id-1': 1, 'id-2': 1, 'id-3': 1, 'id-4': 1, 'id-5': 2, 'id-6': 1 })
  })

  test('with faulty rows reports each with line and reason, and imports the others', async () => {
    const { bulk, rejects } = await importFile(
      [
        JSON.stringify(row(1)),
        '{"name":',
        '[]',
        JSON.stringify({ ...row(4), subject_type: 'cat', colour: 'red' }),
        JSON.stringify({ external_id: 'x' }),
        JSON.stringify(row(6, { attributes: { text: 'x'.repeat(17_000) } })),
        JSON.stringify(row(7, { attributes: { text: 'a\u0000b' } })),
        '{"name":"a","name":"b","subject_type":"person"}',
        JSON.stringify(row(9)),
        '',
      ].join('\n'),
    )
    expect(bulk.counts).toEqual({ rows: 9, created: 2, changed: 0, unchanged: 0, rejected: 7, faults: 9 })
    expect(bulk.state).toBe('succeeded')
    const brief = rejects.map(({ at, code, pointer }: never) => [(at as { line: number }).line, code, pointer])
    expect(brief).toEqual([
      [2, 'not_well_formed', ''],
      [3, 'not_an_object', ''],
      [4, 'member_unknown', '/colour'],
      [4, 'value_invalid', '/subject_type'],
      [5, 'value_missing', '/subject_type'],
      [5, 'value_missing', '/name'],
      [6, 'value_invalid', '/attributes'],
      [7, 'value_invalid', '/attributes/text'],
      [8, 'name_duplicate', ''],
    ])
    expect(await stored()).toEqual({ 'id-1': 1, 'id-9': 1 })
  })

  test('with a repeated external id imports the first row, also across steps', async () => {
    const rows = [row(1), row(1, { name: 'Again' }), ...many(2500).slice(1), row(2, { name: 'Far' }), row(1)]
    const { bulk, rejects } = await importFile(ndjson(rows))
    expect(bulk.counts).toEqual({ ...zero, rows: 2503, created: 2500, rejected: 3, faults: 3 })
    expect(rejects).toMatchObject([
      { code: 'duplicate_external_id', at: { row: 2 }, message: 'The external id was used in row 1 already.' },
      { code: 'duplicate_external_id', at: { row: 2502 }, message: 'The external id was used in row 3 already.' },
      { code: 'duplicate_external_id', at: { row: 2503 } },
    ])
    expect((await t.make('GET /subjects?external_id=id-1')).items[0].name).toBe('Person 1')
    const left = await t.write((tx) =>
      tx.query('select 1 from app.subject_bulk_key where tenant_id = $1', [t.tenant_id]),
    )
    expect(left).toEqual([])
  })

  test('looks external ids up only if some were used before', async () => {
    t = await ExampleTenant.create(w)
    const { bulk_id } = await getBulk(await startBulk(ndjson([row(1)])))
    await t.write(async (tx) => {
      const sent: string[] = []
      const query = (text: string, values: readonly unknown[]) => {
        sent.push(text)
        return tx.query(text, values)
      }
      const counting = { ...tx, tenant_id: tx.tenant_id, query } as unknown as Tx
      const claim = (keys: Record<string, number>) => claimExternalIds(counting, bulk_id, new Map(Object.entries(keys)))
      expect([await claim({ a: 1, b: 2 }), sent.length]).toEqual([[], 1])
      expect([await claim({ b: 3, c: 4 }), sent.length]).toEqual([[{ external_id: 'b', first_row: 2 }], 3])
    })
  })

  test('with an offboarded subject rejects its row', async () => {
    await importFile(ndjson([row(1)]))
    const [{ subject_id }] = (await t.make('GET /subjects')).items
    await t.make(`POST /subjects/${subject_id}/offboard`, { body: { reason: 'x' } })
    const job = await startBulk(ndjson([row(1, { name: 'Back' }), row(2)]))
    await w.ended(t.tenant_id, job.job_id)
    expect((await getBulk(job)).counts).toEqual({ ...zero, rows: 2, created: 1, rejected: 1, faults: 1 })
    expect((await listRejects(job)).items).toMatchObject([{ code: 'subject_offboarded', at: { row: 1 } }])
  })

  test.each([
    ['cut off in NDJSON', `${ndjson(many(1200))}{"name":"hal`, 'ndjson', 'truncated'],
    ['cut off in CSV', 'external_id,subject_type,name\na,person,Ada\nb,per', 'csv', 'truncated'],
    ['an open quote', 'external_id,subject_type,name\na,person,"Ada\nb,person,Bob\n', 'csv', 'truncated'],
    ['another encoding', Buffer.from('subject_type,name\nperson,J\xfcrgen\n', 'latin1'), 'csv', 'encoding_invalid'],
    ['no byte at all', '', 'csv', 'empty_source'],
    ['a damaged archive', Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8]), 'csv', 'archive_damaged'],
  ])('that is broken (%s) changes nothing', async (_name, bytes, format, code) => {
    const { bulk } = await importFile(bytes, format)
    expect(bulk).toMatchObject({ state: 'failed', counts: zero })
    expect(bulk.problem).toMatchObject({ code: 'source_invalid', source_fault: { code } })
    expect(await stored()).toEqual({})
  })

  test('without rows succeeds with zero counts', async () => {
    const { bulk } = await importFile('external_id,subject_type,name\n', 'csv')
    expect(bulk).toMatchObject({ state: 'succeeded', counts: zero })
  })

  test('with wrong options or a missing upload is refused at once', async () => {
    t = await ExampleTenant.create(w)
    const token = await t.token()
    const headers = { 'content-type': 'application/octet-stream' }
    const { upload_id } = await t.make('POST /uploads', { payload: 'x', headers })
    const body = { upload_id, format: 'csv', options: { delimiter: 'many' } }
    const odd = await w.call('POST /subjects/bulk', { token, body })
    expect([odd.status, odd.json.code, odd.json.errors[0].pointer]).toEqual([
      409,
      'definition_invalid',
      '#/options/delimiter',
    ])
    const missing = { upload_id: '01900000-0000-7000-8000-000000000000', format: 'csv' }
    expect((await w.call('POST /subjects/bulk', { token, body: missing })).status).toBe(404)
  })

  test('writes one audit event per step, without personal data', async () => {
    const { job } = await importFile(ndjson(many(1500)))
    const { items } = await t.make(`GET /audit/objects/jobs/${job.job_id}`)
    const details = items.map(({ detail }: { detail: object }) => detail)
    expect(details).toMatchObject([
      { result: { rows: 1500 } },
      { counts: { rows: 1500 }, digest: expect.stringMatching(/^[0-9a-f]{32}$/) },
      { counts: { rows: 1000 }, digest: expect.any(String) },
    ])
    expect(JSON.stringify(items)).not.toContain('Person')
  })
})

/** Row 1500 waits for an advisory lock that a test holds, or fails, as the test chooses. */
const GATE = 4711
const installTrigger = (act: string) =>
  superuser.query(`create or replace function app.test_gate() returns trigger language plpgsql as $$
      begin if new.external_id = 'id-1500' then ${act} end if; return new; end $$;
    create or replace trigger test_gate before insert on app.subject for each row execute function app.test_gate()`)
const removeTrigger = () => superuser.query('drop trigger if exists test_gate on app.subject')
const waiting = async () =>
  (await superuser.query(`select 1 from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted`))
    .rowCount

describe('an interrupted import', () => {
  afterEach(removeTrigger)
  const whole = { ...zero, rows: 2500, created: 2500 }
  const everybody = Object.fromEntries(many(2500).map(({ external_id }) => [external_id, 1]))

  test.each([
    ['a step fails', `raise exception 'broken';`],
    ['the connection dies in a step', 'perform pg_terminate_backend(pg_backend_pid());'],
  ])('rolls back the step when %s, and the next attempt resumes after the last step', async (_name, act) => {
    t = await ExampleTenant.create(w)
    await installTrigger(act)
    const job = await startBulk(ndjson(many(2500)))
    w.startRunner()
    await waitUntil('the first attempt is over', async () => {
      const { state, attempts } = await w.look(t.tenant_id, job.job_id)
      return state === 'queued' && attempts === 1
    })
    expect((await getBulk(job)).counts).toEqual({ ...zero, rows: 1000, created: 1000 })
    expect(Object.keys(await stored())).toHaveLength(1000)
    await removeTrigger()
    await w.aborted(t.tenant_id, job.job_id)
    expect(await w.ended(t.tenant_id, job.job_id)).toMatchObject({ state: 'succeeded', attempts: 2 })
    expect((await getBulk(job)).counts).toEqual(whole)
    expect(await stored()).toEqual(everybody)
  })

  test('is finished by another worker when the first one loses its lease', async () => {
    t = await ExampleTenant.create(w)
    await installTrigger(`perform pg_advisory_xact_lock(${GATE});`)
    await superuser.query(`select pg_advisory_lock(${GATE})`)
    const job = await startBulk(ndjson(many(2500)))
    w.startRunner(1, { heartbeat_ms: 60_000 })
    await waitUntil('the first worker waits for the lock', async () => (await waiting()) === 1)
    await t.write((tx) =>
      tx.run(`update app.job set lease_until = now() - interval '1 s' where tenant_id = $1 and job_id = $2`, [
        t.tenant_id,
        job.job_id,
      ]),
    )
    w.startRunner()
    await waitUntil('the job was taken back', async () => (await w.look(t.tenant_id, job.job_id)).state === 'queued')
    await w.aborted(t.tenant_id, job.job_id)
    await waitUntil('another worker has it', async () => (await w.look(t.tenant_id, job.job_id)).attempts === 2)
    await superuser.query(`select pg_advisory_unlock(${GATE})`)
    expect(await w.ended(t.tenant_id, job.job_id)).toMatchObject({ state: 'succeeded' })
    expect((await getBulk(job)).counts).toEqual(whole)
    expect(await stored()).toEqual(everybody)
  })

  test('keeps the imported rows when it is cancelled, and resumes when retried', async () => {
    t = await ExampleTenant.create(w)
    await installTrigger(`perform pg_advisory_xact_lock(${GATE});`)
    await superuser.query(`select pg_advisory_lock(${GATE})`)
    const job = await startBulk(ndjson(many(2500)))
    w.startRunner()
    await waitUntil('the worker waits for the lock', async () => (await waiting()) === 1)
    // Waits for the step, which locks the row of the job at its end.
    await t.make(`POST /jobs/${job.job_id}/cancel`)
    await superuser.query(`select pg_advisory_unlock(${GATE})`)
    expect(await w.ended(t.tenant_id, job.job_id)).toMatchObject({ state: 'cancelled' })
    const { state, counts } = await getBulk(job)
    expect(state).toBe('cancelled')
    expect(counts.rows).toBeLessThanOrEqual(2000)
    expect(Object.keys(await stored())).toHaveLength(counts.created)
    await t.make(`POST /jobs/${job.job_id}/retry`)
    expect(await w.ended(t.tenant_id, job.job_id)).toMatchObject({ state: 'succeeded' })
    expect((await getBulk(job)).counts).toEqual(whole)
    expect(await stored()).toEqual(everybody)
  })
})

test('rejected rows are kept for their retention period, also after the job is removed', async () => {
  const { job, rejects } = await importFile(ndjson([row(1), row(1)]))
  expect(rejects).toMatchObject([{ code: 'duplicate_external_id' }])
  const runHousekeeping = async () => {
    const { job_id } = await t.write((tx) => w.kernel.jobs.enqueue(tx, { kind: HOUSEKEEPING, payload: {} }))
    return (await w.ended(t.tenant_id, job_id)).result
  }
  expect(await runHousekeeping()).toMatchObject({ jobs: 0, 'import-rejects': 0 })
  const age = (table: 'job' | 'subject_bulk') =>
    t.write((tx) =>
      tx.run(`update app.${table} set finished_at = now() - interval '10 years' where tenant_id = $1 and job_id = $2`, [
        t.tenant_id,
        job.job_id,
      ]),
    )
  await age('job')
  expect(await runHousekeeping()).toMatchObject({ jobs: 1, 'import-rejects': 0 })
  await age('subject_bulk')
  expect(await runHousekeeping()).toMatchObject({ jobs: 0, 'import-rejects': 1 })
  expect(await listRejects(job)).toMatchObject({ items: [], faults: 1, truncated: true })
  expect((await getBulk(job)).counts).toMatchObject({ rows: 2, created: 1, rejected: 1 })
})

test('two concurrent files with the same subjects create each subject once', async () => {
  t = await ExampleTenant.create(w)
  const jobs = [await startBulk(ndjson(many(1500))), await startBulk(ndjson(many(1500).toReversed()))]
  w.startRunner(3)
  for (const job of jobs) await w.ended(t.tenant_id, job.job_id)
  const counts = (await Promise.all(jobs.map(getBulk))).map((bulk) => bulk.counts)
  expect(counts[0].created + counts[1].created).toBe(1500)
  expect(counts[0].unchanged + counts[1].unchanged).toBe(1500)
  expect(await stored()).toEqual(Object.fromEntries(many(1500).map(({ external_id }) => [external_id, 1])))
})
