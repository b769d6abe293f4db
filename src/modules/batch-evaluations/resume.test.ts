/** Cancelled, crashed, resumed and retried batches: no item twice, none lost, always with the same receipt. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { JobRunner } from '#kernel/job/runner.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { flippedBit } from '#test/support/decision-documents.ts'
import { countries, ensurePolicy, type Policy, publishList } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { waitUntil } from '#test/support/job-test-app.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { runBatch, startBatch, uploadText } from './fixtures.ts'

let w: TestApp
let t: ExampleTenant
let token: string
let policy: Policy
let superuser: pg.Client
const runners: JobRunner[] = []

const GATE = 4711
const ROWS = 5000

beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  token = await t.token()
  policy = await ensurePolicy(t)
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  // The second step of a large batch waits here while the test holds the lock.
  await superuser.query(`create function public.wait_at_gate() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(${GATE}); return new; end $$;
    create trigger zz_gate before insert on app.batch_item for each row when (new.seq = 3000) execute function public.wait_at_gate()`)
})
afterEach(async () => {
  await superuser.query('select pg_advisory_unlock_all()')
  await Promise.all(runners.splice(0).map((runner) => runner.stop(0)))
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const get = async (path: string) => (await w.call(`GET ${path}`, { token })).json
const post = (path: string) => w.call(`POST ${path}`, { token })
const buildRequest = async () => {
  const lines = Array.from({ length: ROWS }, (_, n) => `row-${n},${n % 5 === 0 ? 'IR' : 'DE'}`)
  const upload_id = await uploadText(t, `external_id,country\n${lines.join('\n')}\n`)
  return { matrix_key: policy.matrix_key, upload_id }
}
const startRunner = () => {
  const runner = w.runtime.createRunner(1)
  runners.push(runner)
  runner.start()
  return runner
}
/** A started batch whose first step is committed and whose second one waits for the lock. */
async function startAndHold() {
  await superuser.query(`select pg_advisory_lock(${GATE})`)
  const started = await startBatch(t, await buildRequest())
  startRunner()
  await waitUntil('the second step waits for the lock', async () => {
    const { rows } = await superuser.query(`select 1 from pg_locks where locktype = 'advisory' and objid = ${GATE}
      and not granted and database = (select oid from pg_database where datname = current_database())`)
    return rows.length > 0
  })
  return started
}
const releaseLock = () => superuser.query(`select pg_advisory_unlock(${GATE})`)
const listNumbers = async (batch_id: string): Promise<number[]> => {
  const text = 'select seq from app.batch_item where batch_id = $1 order by seq'
  return (await t.write((tx) => tx.query<{ seq: number }>(text, [batch_id]))).map(({ seq }) => seq)
}
const upTo = (last: number) => Array.from({ length: last }, (_, n) => n + 1)
const ended = (job_id: string) =>
  waitUntil('the job has ended', async () => {
    const { state } = await get(`/jobs/${job_id}`)
    return state !== 'queued' && state !== 'running' && state
  })

describe('a batch of several steps', () => {
  test('keeps its items when cancelled, and resumes after them with the same receipt', async () => {
    const { batch_id, job } = await startAndHold()
    expect((await get(`/batch-evaluations/${batch_id}`)).counts).toEqual({ total: ROWS, done: 2000, failed: 0 })
    expect((await post(`/batch-evaluations/${batch_id}/cancel`)).status).toBe(200)
    await releaseLock()
    expect(await ended(job.job_id)).toBe('cancelled')
    expect(await listNumbers(batch_id)).toEqual(upTo(4000))
    expect((await post(`/batch-evaluations/${batch_id}/retry-failed`)).json.code).toBe('transition_not_allowed')

    await publishList(t, policy.country_list, [
      { code: 'CH', score_bps: 1000 },
      { code: 'DE', score_bps: 9000 },
      { code: 'IR', score_bps: 9000 },
    ])
    const { receipt_id } = await get(`/batch-evaluations/${batch_id}`)
    const resumed = await post(`/batch-evaluations/${batch_id}/resume`)
    expect([resumed.status, await ended(resumed.json.job_id)]).toEqual([202, 'succeeded'])
    expect(await listNumbers(batch_id)).toEqual(upTo(ROWS))
    const batch = await get(`/batch-evaluations/${batch_id}`)
    expect(batch).toMatchObject({ state: 'succeeded', receipt_id, counts: { total: ROWS, done: ROWS, failed: 0 } })
    const { bands } = await get(`/batch-evaluations/${batch_id}/summary`)
    expect(bands).toEqual([
      { band: 'low', count: 4000 },
      { band: 'high', count: 1000 },
    ])
    await publishList(t, policy.country_list, countries)

    // The cancelled job can be retried, but another job owns the batch now.
    await post(`/jobs/${job.job_id}/retry`)
    expect(await ended(job.job_id)).toBe('failed')
    expect((await get(`/jobs/${job.job_id}`)).problem.code).toBe('conflict')
    expect(await listNumbers(batch_id)).toHaveLength(ROWS)
  })

  test('is finished by another worker without duplicates when the first one loses its lease', async () => {
    const { batch_id, job } = await startAndHold()
    // As the lease reaper does for a dead worker.
    await t.write((tx) =>
      tx.run(
        `update app.job set state = 'queued', lease_token = null, lease_until = null, run_at = now() where job_id = $1`,
        [job.job_id],
      ),
    )
    startRunner()
    await releaseLock()
    expect(await ended(job.job_id)).toBe('succeeded')
    expect(await listNumbers(batch_id)).toEqual(upTo(ROWS))
    expect((await get(`/batch-evaluations/${batch_id}`)).counts).toEqual({ total: ROWS, done: ROWS, failed: 0 })
    const events = (await get(`/audit/objects/jobs/${job.job_id}`)).items as { detail: Record<string, number> }[]
    const steps = events.map(({ detail }) => detail).filter(({ last_seq }) => last_seq !== undefined)
    expect(steps.map(({ first_seq, last_seq, items }) => [first_seq, last_seq, items]).sort()).toEqual([
      [1, 2000, 2000],
      [2001, 4000, 2000],
      [4001, 5000, 1000],
    ])
  })
})

test('says that a batch whose file was removed cannot go on', async () => {
  const { batch_id } = await startBatch(t, await buildRequest())
  expect((await post(`/batch-evaluations/${batch_id}/cancel`)).status).toBe(200)
  await t.write((tx) =>
    tx.run(
      'delete from app.upload where upload_id = (select upload_id from app.batch_evaluation where batch_id = $1)',
      [batch_id],
    ),
  )
  for (const action of ['resume', 'retry-failed']) {
    const { json } = await post(`/batch-evaluations/${batch_id}/${action}`)
    expect([json.code, json.detail]).toEqual([
      'transition_not_allowed',
      expect.stringContaining('an erasure removed it'),
    ])
  }
})

test('returns 409 when an active or succeeded batch is resumed, or an ended one cancelled', async () => {
  const items = [{ inputs: { country: 'DE' } }]
  const { batch_id, job } = await startBatch(t, { matrix_key: policy.matrix_key, items })
  const getCode = async (action: string) => (await post(`/batch-evaluations/${batch_id}/${action}`)).json.code
  expect([await getCode('resume'), await getCode('retry-failed')]).toEqual([
    'transition_not_allowed',
    'transition_not_allowed',
  ])
  await t.runToEnd(job)
  expect([await getCode('resume'), await getCode('cancel')]).toEqual([
    'transition_not_allowed',
    'transition_not_allowed',
  ])
})

test('retries failed items with the same receipt and current attributes', async () => {
  const subject = { subject_type: 'person', name: 'Ada', external_id: `later-${uuidv7().slice(-8)}`, attributes: {} }
  const { subject_id } = await t.make('POST /subjects', { body: subject })
  const items = [{ external_id: subject.external_id }, { inputs: { country: 'XX' } }, { inputs: { country: 'DE' } }]
  const batch_id = await runBatch(t, { matrix_key: policy.matrix_key, items })
  const before = await get(`/batch-evaluations/${batch_id}/items`)
  expect(before.items.map(({ state }: { state: string }) => state)).toEqual(['failed', 'failed', 'done'])
  expect((await get(`/subjects/${subject_id}/risk`)).source).toBe('none')

  await t.make(`PATCH /subjects/${subject_id}`, { body: { attributes: { country: 'CH' } } })
  await publishList(t, policy.country_list, [
    { code: 'CH', score_bps: 9000 },
    { code: 'DE', score_bps: 9000 },
  ])
  const again = await post(`/batch-evaluations/${batch_id}/retry-failed`)
  await t.runToEnd(again.json)
  const after = await get(`/batch-evaluations/${batch_id}/items`)
  expect(after.items.map(({ state, band }: Record<string, never>) => [state, band])).toEqual([
    ['done', 'low'],
    ['failed', null],
    ['done', 'low'],
  ])
  expect(after.items[2]).toEqual(before.items[2])
  expect(await get(`/batch-evaluations/${batch_id}`)).toMatchObject({
    state: 'succeeded',
    is_retry: true,
    counts: { total: 3, done: 2, failed: 1 },
  })
  expect((await get(`/subjects/${subject_id}/risk`)).rating).toMatchObject({ batch_id, band: 'low', score_bps: 1500 })
  await publishList(t, policy.country_list, countries)
})

test('compares two batches and attributes each difference', async () => {
  const one = { matrix_key: policy.matrix_key, items: ['a CH', 'b DE', 'c DE', 'd IR'].map(getItem) }
  const first = await runBatch(t, one)
  await publishList(t, policy.country_list, countries.with(0, { code: 'CH', score_bps: 8000 }))
  const second = await runBatch(t, { ...one, items: ['a CH', 'b IR', 'c DE', 'e DE'].map(getItem) })
  const compared = await get(`/batch-evaluations/${first}/compare/${second}`)
  expect(compared).toMatchObject({ common: 3, only_first: 1, only_second: 1, same: 1, different: 2 })
  expect(compared.migration).toEqual([
    { from: 'low', to: 'high', count: 2 },
    { from: 'low', to: 'low', count: 1 },
  ])
  expect(compared.hit_migration).toEqual([])
  expect(compared.versions).toMatchObject([{ family: 'list', key: policy.country_list }])
  const because = compared.items.map((item: Record<string, never>) => [item['external_id'], item['because']])
  // Items without a subject are in the order of their hashes.
  expect(because.sort()).toEqual([
    ['a', [`list ${policy.country_list}`]],
    ['b', ['inputs']],
  ])
  await publishList(t, policy.country_list, countries)
})
const getItem = (text: string) => {
  const [external_id, country] = text.split(' ')
  return { external_id, inputs: { country } }
}

/** A rule with one version per threshold. */
const hitsAt = (amount: number) => ({
  inputs: [{ name: 'amount', title: 'Amount', type: 'integer', minimum: 0, maximum: 1000 }],
  table: {
    hit_policy: 'first',
    columns: ['amount'],
    outputs: [],
    rows: [{ key: 'large', when: [`>= ${amount}`], then: [] }],
  },
  reason_code: 'LARGE',
  reason: 'The amount is large.',
})

test('compares two batches of a rule by hit and no hit', async () => {
  const rule_key = `compared-${uuidv7().slice(-8)}`
  const path = `/rules/${rule_key}`
  const inForce = async (version: number) => {
    await t.make(`POST ${path}/versions/draft/publish`, { body: {} })
    await t.make(`POST ${path}/activations`, { body: { version, reason: 'test' } })
  }
  const amounts = [50, 150, 250, 260, 'none']
  const order = { rule_key, items: amounts.map((amount, n) => ({ external_id: `x-${n}`, inputs: { amount } })) }
  await t.make('POST /rules', { body: { rule_key, title: 'Compared', definition: hitsAt(100) } })
  await inForce(1)
  const first = await runBatch(t, order)
  await t.make(`POST ${path}/versions`, { body: { definition: hitsAt(200) } })
  await inForce(2)
  const items = order.items.with(3, { external_id: 'x-3', inputs: { amount: 'none' } })
  const second = await runBatch(t, { ...order, items })
  const compared = await get(`/batch-evaluations/${first}/compare/${second}`)
  expect(compared).toMatchObject({ common: 5, same: 3, different: 2 })
  expect(compared.hit_migration).toEqual([
    { from: false, to: false, count: 1 },
    { from: null, to: null, count: 1 },
    { from: true, to: false, count: 1 },
    { from: true, to: null, count: 1 },
    { from: true, to: true, count: 1 },
  ])
  expect(compared.migration).toEqual([{ from: null, to: null, count: 5 }])
})

test('the database refuses to change an item, and an altered one is not explained', async () => {
  const items = [{ inputs: { country: 'DE' } }]
  const batch_id = await runBatch(t, { matrix_key: policy.matrix_key, items })
  const path = `/batch-evaluations/${batch_id}/items/1/explanation`
  expect((await get(path)).outcome.band).toBe('low')
  for (const text of [
    `update app.batch_item set band = 'high'`,
    'delete from app.batch_item',
    'update app.batch_evaluation set engine = 2',
    'update app.batch_evaluation set done = 0',
  ]) {
    await expect(t.write((tx) => tx.run(`${text} where batch_id = $1`, [batch_id]))).rejects.toThrow()
  }
  const behind = (change: string) =>
    superuser.query(`set session_replication_role = replica; update app.batch_item set ${change} where batch_id = '${batch_id}';
      set session_replication_role = origin`)
  for (const hash of ['a'.repeat(63), 'a'.repeat(65), 'A'.repeat(64), `${'a'.repeat(63)}g`, `${'a'.repeat(63)}\n`])
    await expect(behind(`external_id_hash = '${hash}'`)).rejects.toThrow('batch_item_external_id_hash_ck')
  await superuser.query('set session_replication_role = origin')
  for (const change of [`band = 'high'`, `band = 'low', content = ${flippedBit('content')}`]) {
    await behind(change)
    expect((await get(path)).code).toBe('content_corrupt')
  }
})
