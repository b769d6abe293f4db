/** Answers in several pages: each is stored and paid for once, links stay where the manifest allows, and a part is never an answer. */
import { beforeEach, describe, expect, test } from 'vitest'
import { createRegistryPayload, type ProviderReply } from '#test/support/counting-provider.ts'
import { startCountingListeners } from '#test/support/listeners.ts'
import { answer, calls, owner, provider, setUpProviderCalls, t, w } from '#test/support/provider-call-suite.ts'

/** What page 1, 2, … answer. */
let pages: ((url: URL) => ProviderReply)[]

setUpProviderCalls()
beforeEach(() => {
  pages = [1, 2, 3].map((page_no) => () => createPage(page_no, page_no < 3 ? `?page=${page_no + 1}` : null))
  answer(({ path }) => {
    const url = new URL(path, 'http://provider')
    return (pages[Number(url.searchParams.get('page') ?? 1) - 1] as (typeof pages)[number])(url)
  })
})

const createPage = (page_no: number, next: unknown): ProviderReply => ({
  body: { ...createRegistryPayload(`c${page_no}`), links: { next } },
})

const PAGED = { pages: { next: '/links/next', max: 3 }, contract_key: 'paged-registry' }

/** The seeded contract, with its records in each page. */
async function createPagedContract() {
  const { definition } = await t.make('GET /source-contracts/company-registry/versions/1?origin=shared')
  const { provenance, examples, counter_examples: _, ...contract } = definition
  const inFirst = (pointer: string) => `/0${pointer}`
  const paged = {
    ...contract,
    records_at: `/*${contract.records_at}`,
    provenance: { ...provenance, source: inFirst(provenance.source), as_of: inFirst(provenance.as_of) },
    examples: examples.map((example: { payload: unknown }) => ({ ...example, payload: [example.payload] })),
  }
  const at = '/source-contracts/paged-registry'
  await t.make('POST /source-contracts', {
    body: { contract_key: 'paged-registry', title: 'Registry in pages', definition: paged },
  })
  await t.make(`POST ${at}/versions/draft/publish`, { body: {} })
  await t.make(`POST ${at}/activations`, { body: { version: 1, reason: 'Reviewed' } })
}

const connect = async (capability: object = {}, change: object = {}) => {
  await createPagedContract()
  return calls.connect({ ...PAGED, ...capability }, change)
}
const countPages = async (call_id: string): Promise<number> =>
  (await owner.query('select 1 from app.provider_page where call_id = $1', [call_id])).rows.length
const paths = () => provider.requests.map(({ path }) => path)
const FIRST = '/companies/00000006'
const [SECOND, THIRD] = [`${FIRST}?page=2`, `${FIRST}?page=3`]

describe('an answer in pages', () => {
  test('is one payload of all of them, and each is an attempt with its cost', async () => {
    await connect()
    const { job, call, call_id } = await calls.run()
    expect(job).toMatchObject({ state: 'succeeded', result: { outcome: 'answered', result: 'found' } })
    expect(paths()).toEqual([FIRST, SECOND, THIRD])
    expect(new Set(provider.requests.map(({ headers }) => headers['x-api-key']))).toEqual(new Set(['k-1']))
    expect(call.attempts_made).toMatchObject(
      [1, 2, 3].map((page_no) => ({ attempt_no: page_no, page_no, outcome: 'answered', cost: '0.40 EUR' })),
    )
    const content = await w.call(`GET /providers/calls/${call_id}/content`, { token: await t.token() })
    const numbers = JSON.parse(content.text).map(
      (page: ReturnType<typeof createRegistryPayload>) => page.result.items[0]?.number,
    )
    expect(numbers).toEqual(['c1', 'c2', 'c3'])
    const { rows } = await owner.query('select record_count from app.payload_admission where admission_id = $1', [
      call.admission_id,
    ])
    expect(rows).toEqual([{ record_count: 3 }])
    expect(await countPages(call_id)).toBe(0)
    expect(await calls.getStatus()).toMatchObject({ calls_today: 3, spend_this_month: '1.20' })
  })

  test('goes on after the last stored page when a worker died between two pages', async () => {
    await connect({ retry: { on: ['reset'], attempts: 3, base_ms: 60_000, max_ms: 60_000 } })
    const last = pages[2] as (typeof pages)[number]
    pages[2] = () => ({ reset: true })
    const { job_id, call_id } = await calls.start()
    w.startRunner(1)
    await calls.waiting(job_id)
    expect(await countPages(call_id)).toBe(2)
    const { rows } = await owner.query('select content from app.provider_page where call_id = $1', [call_id])
    for (const { content } of rows) expect(content.includes('Example Trading')).toBe(false)
    // As a worker leaves it that died after it had sent for the third page.
    await owner.query(`set app.restoring = 'on'`)
    await owner.query(
      `update app.provider_attempt set outcome = null, ended_at = null, fault = null, sent_at = now() - interval '1 min',
              deadline_at = now() - interval '1 s' where call_id = $1 and page_no = 3`,
      [call_id],
    )
    await owner.query('reset app.restoring')
    pages[2] = last
    expect((await calls.endWaits(job_id)).state).toBe('succeeded')
    expect(paths()).toEqual([FIRST, SECOND, THIRD, THIRD])
    const { attempts_made } = await calls.getCall(call_id)
    expect(attempts_made.map(({ page_no, outcome }: Record<string, unknown>) => [page_no, outcome])).toEqual([
      [1, 'answered'],
      [2, 'answered'],
      [3, 'unknown'],
      [3, 'answered'],
    ])
  })

  test('that promises once has an unknown outcome when one page has, and no page is sent for again', async () => {
    await connect({ safe: false })
    pages[1] = () => ({ reset: true })
    const { job, call, call_id } = await calls.run()
    expect(job.problem).toMatchObject({ code: 'outcome_unknown', page_no: 2 })
    expect(call.state).toBe('outcome_unknown')
    await t.make(`POST /jobs/${job.job_id}/retry`)
    expect(await calls.ended(job.job_id)).toMatchObject({ problem: { code: 'outcome_unknown' } })
    expect(paths()).toEqual([FIRST, SECOND])
    const body = { result: 'not_found', media_type: 'application/json', content: '[]', reason: 'Seen in the portal' }
    const { job_id } = await t.make(`POST /providers/calls/${call_id}/answer`, { body })
    expect(await calls.ended(job_id)).toMatchObject({ state: 'succeeded' })
    expect(await countPages(call_id)).toBe(0)
  })

  test('that is keyed has a key for each page, which stays when the page is repeated', async () => {
    await connect({ safe: false, idempotency_header: 'idempotency-key' })
    const second = pages[1] as (typeof pages)[number]
    let failures = 1
    pages[1] = (url) => (failures-- > 0 ? { status: 503 } : second(url))
    const { job_id } = await calls.start()
    w.startRunner(1)
    expect((await calls.endWaits(job_id)).state).toBe('succeeded')
    const keys = provider.requests.map(({ headers }) => headers['idempotency-key'])
    expect(paths()).toEqual([FIRST, SECOND, SECOND, THIRD])
    expect(keys[1]).toBe(keys[2])
    expect(new Set(keys).size).toBe(3)
  })

  test('waits where the budget ends between two pages, and goes on there', async () => {
    await connect({}, { budget: { calls_per_day: 2, on_reached: 'refuse' } })
    const { job } = await calls.run()
    expect(job).toMatchObject({ state: 'failed', problem: { code: 'budget_reached' } })
    await owner.query(`update app.provider_state set day = day - 1 where tenant_id = $1`, [t.tenant_id])
    await t.make(`POST /jobs/${job.job_id}/retry`)
    expect((await calls.ended(job.job_id)).state).toBe('succeeded')
    expect(paths()).toEqual([FIRST, SECOND, THIRD])
  })

  test('whose stored pages were removed fails, and is not put together from the rest', async () => {
    await connect({}, { budget: { calls_per_day: 2, on_reached: 'refuse' } })
    const { job, call_id } = await calls.run()
    const { removeOldProviderPages } = await import('#modules/tenant/queries.ts')
    expect(await t.write((tx) => removeOldProviderPages(tx, 1, 1000))).toEqual([])
    expect(await t.write((tx) => removeOldProviderPages(tx, 0, 1000))).toEqual([{ restriction_id: null, removed: 2 }])
    await owner.query(`update app.provider_state set day = day - 1 where tenant_id = $1`, [t.tenant_id])
    await t.make(`POST /jobs/${job.job_id}/retry`)
    expect((await calls.ended(job.job_id)).problem).toMatchObject({ code: 'provider_failed', fault: 'pages_removed' })
    expect(await calls.getCall(call_id)).toMatchObject({ state: 'failed', fault: 'pages_removed' })
    expect(paths()).toEqual([FIRST, SECOND])
    expect(await calls.getStatus()).toMatchObject({ spend_this_month: '0.80' })
  })
})

describe('a page that cannot be part of the answer', () => {
  test('fails the call with a word for each cause, naming the page, and nothing is connected to', async () => {
    await createPagedContract()
    await calls.connect(PAGED)
    const listeners = await startCountingListeners()
    const second = pages[1] as (typeof pages)[number]
    const link = (next: unknown) => () => createPage(2, next)
    const causes: [string, (typeof pages)[number]][] = [
      ['page_link_refused', link('https://elsewhere.example/steal')],
      ['page_link_refused', link(`http://127.1.1.1:${provider.port}/steal`)],
      ['page_link_refused', link(`https://127.0.0.1:${provider.port}/other-scheme`)],
      ['page_link_refused', link(`http://[::1]:${listeners.port}/`)],
      ['egress_refused', link(`http://127.0.0.1:${listeners.port}/`)],
      ['page_link_invalid', link(7)],
      ['page_link_invalid', link('http://user:password@127.0.0.1/')],
      ['page_link_repeated', link('?page=2')],
      ['page_link_repeated', link(FIRST)],
      ['page_invalid', () => ({ body: '{"a":1},{"b":2}' })],
      ['page_not_found', () => ({ status: 404 })],
      ['media_type_unexpected', () => ({ ...createPage(2, null), headers: { 'content-type': 'text/html' } })],
    ]
    const found: unknown[] = []
    for (const [, page] of causes) {
      pages[1] = page
      const { job, call } = await calls.run()
      const { code, fault, page_no } = job.problem as Record<string, unknown>
      found.push([code, fault, page_no, call.state, call.answer])
    }
    const atPage = (fault: string) => (fault === 'egress_refused' ? 3 : 2)
    expect(found).toEqual(causes.map(([fault]) => ['provider_failed', fault, atPage(fault), 'failed', null]))
    expect(listeners.connections).toEqual([])
    await listeners.close()
    pages[1] = second
    pages[2] = () => createPage(3, '?page=4')
    expect((await calls.run()).job.problem).toMatchObject({ fault: 'too_many_pages', page_no: 3 })
    expect(new Set(paths())).toEqual(new Set([FIRST, SECOND, THIRD]))
  })

  test('fails the call when all together are too large', async () => {
    await createPagedContract()
    await calls.connect({ ...PAGED, response: { max_bytes: 8 * 1024 * 1024 } })
    const fill = 'x'.repeat(3 * 1024 * 1024)
    pages = [1, 2, 3].map((page_no) => () => ({ body: { fill, links: { next: `?page=${page_no + 1}` } } }))
    expect((await calls.run()).job.problem).toMatchObject({ fault: 'pages_too_large', page_no: 3 })
  })
})

test('a fixture is the only page of its answer', async () => {
  const fixture = { when: { number: '00000006' }, status: 200, body: createRegistryPayload('c1') }
  await connect({}, { fixtures: [fixture] })
  await t.make(`PUT /providers/${calls.provider_key}/mode`, { body: { mode: 'fixtures', reason: 'Training' } })
  const { call, call_id } = await calls.run()
  expect(call).toMatchObject({ state: 'answered', answer: { source: 'fixture' } })
  const content = await w.call(`GET /providers/calls/${call_id}/content`, { token: await t.token() })
  expect(JSON.parse(content.text)).toHaveLength(1)
})

test('the database refuses a page that was not sent for, is out of order, or would be sent for again', async () => {
  await connect({ retry: { on: ['reset'], attempts: 3, base_ms: 60_000, max_ms: 60_000 } })
  pages[1] = () => ({ reset: true })
  const { job_id, call_id } = await calls.start()
  w.startRunner(1)
  await calls.waiting(job_id)
  const write = (sql: string) => t.write((tx) => tx.run(sql, [t.tenant_id, call_id]))
  const page = (page_no: number, attempt_no: number) =>
    write(`insert into app.provider_page (tenant_id, call_id, page_no, attempt_no, token, content)
           select tenant_id, call_id, ${page_no}, attempt_no, token, '' from app.provider_attempt
            where tenant_id = $1 and call_id = $2 and attempt_no = ${attempt_no}`)
  const attempt = (page_no: number) =>
    write(`insert into app.provider_attempt (tenant_id, call_id, attempt_no, token, promise, provider_key, page_no)
           values ($1, $2, 3, gen_random_uuid(), 'free', 'x', ${page_no})`)
  await expect(page(3, 2)).rejects.toThrow(/sent for it/)
  await expect(attempt(1)).rejects.toThrow(/never sent for again/)
  await attempt(3)
  await expect(page(3, 3)).rejects.toThrow(/sent for it/)
  await write(
    `update app.provider_attempt set sent_at = now(), deadline_at = now() where tenant_id = $1 and call_id = $2 and attempt_no = 3`,
  )
  await expect(page(3, 3)).rejects.toThrow(/one after another/)
  await expect(
    write('update app.provider_attempt set page_no = 2 where tenant_id = $1 and call_id = $2 and attempt_no = 3'),
  ).rejects.toThrow(/never changes/)
  await expect(
    write(`update app.provider_page set content = '' where tenant_id = $1 and call_id = $2`),
  ).rejects.toThrow()
})
