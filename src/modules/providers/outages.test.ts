/** Calls that are not answered at once: outages, the circuit breaker, refusals, credentials, access tokens and budgets. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { respondFromRegistry } from '#test/support/counting-provider.ts'
import { waitUntil } from '#test/support/job-test-app.ts'
import {
  answer,
  calls,
  countSends,
  measureGrowth,
  owner,
  provider,
  scrape,
  setUpProviderCalls,
  t,
  w,
} from '#test/support/provider-call-suite.ts'

setUpProviderCalls()

describe('a provider that is down', () => {
  test('is asked again later, and the work does not fail', async () => {
    await calls.connect()
    let failures = 12
    answer((request) => (failures-- > 0 ? { status: 503 } : respondFromRegistry(request)))
    const { job_id, call_id } = await calls.start()
    w.startRunner(1)
    const waiting = await calls.waiting(job_id)
    expect(waiting).toMatchObject({ problem: { code: 'dependency_unavailable', fault: 'status_unexpected' } })
    const closeBreaker = setInterval(
      () => void owner.query(`update app.provider_state set open_until = null, failures = 0`),
      20,
    )
    const job = await calls.endWaits(job_id).finally(() => clearInterval(closeBreaker))
    expect(job).toMatchObject({ state: 'succeeded', attempts: 1, problem: null })
    expect((await calls.getCall(call_id)).attempts).toBe(13)
    expect(await countSends(call_id)).toBe(13)
    expect(provider.requests).toHaveLength(13)
  })

  test('says when to ask again, up to a day', async () => {
    await calls.connect()
    answer(() => ({ status: 429, headers: { 'retry-after': '7200' } }))
    const { job_id } = await calls.start()
    w.startRunner(1)
    const { run_at } = await calls.waiting(job_id)
    const wait_s = (Date.parse(run_at) - Date.now()) / 1000
    expect(wait_s).toBeGreaterThan(7000)
    expect(wait_s).toBeLessThanOrEqual(7200)
  })

  test('opens the breaker after five failures, and one call tries whether it is back', async () => {
    // The request that is held must not time out while the others are looked at.
    await calls.connect({ retry: { on: [], attempts: 1 }, timeout_ms: 60_000 })
    answer(() => ({ status: 503 }))
    const unopened = await scrape()
    const started = await Promise.all(Array.from({ length: 8 }, (_, n) => calls.start(String(n))))
    w.startRunner(4)
    const status = await waitUntil('the breaker is open', async () => {
      const now = await t.make(`GET /providers/${calls.provider_key}/status`)
      return now.breaker === 'open' && now
    })
    expect(status).toMatchObject({ last_fault: 'status_unexpected', open_until: expect.any(String) })
    await waitUntil('all wait', async () => {
      const jobs = await Promise.all(started.map(({ job_id }) => w.look(t.tenant_id, job_id)))
      return jobs.every(({ deferred_since, state }) => state === 'queued' && deferred_since !== null)
    })
    const [openings = 0] = await measureGrowth(unopened, ['provider_breaker_openings_total'])
    expect(openings).toBeGreaterThan(0)
    const before = provider.requests.length
    expect(before).toBeGreaterThanOrEqual(5)
    expect(before).toBeLessThanOrEqual(8)
    let release: () => void = () => {}
    const after = new Promise<void>((resolve) => {
      release = resolve
    })
    answer((request) => ({ ...respondFromRegistry(request), after }))
    await owner.query(`update app.provider_state set open_until = now() - interval '1 s' where provider_key = $1`, [
      calls.provider_key,
    ])
    await owner.query(`update app.job set run_at = now() where tenant_id = $1 and state = 'queued'`, [t.tenant_id])
    await waitUntil('one is sent', () => provider.requests.length > before)
    await waitUntil('the others wait again', async () => {
      const jobs = await Promise.all(started.map(({ job_id }) => w.look(t.tenant_id, job_id)))
      return jobs.filter(({ state }) => state === 'queued').length === 7
    })
    expect(provider.requests.length).toBe(before + 1)
    release()
    for (const { job_id } of started) expect((await calls.endWaits(job_id)).state).toBe('succeeded')
  })
})

describe('a provider that is slow', () => {
  test('is waited for as long as its capability says', async () => {
    await calls.connect({ timeout_ms: 60_000 })
    // Longer than anybody else may take to begin an answer.
    answer((request) => ({ ...respondFromRegistry(request), after: sleep(7000) }))
    const { job, call } = await calls.run()
    expect(job).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(call).toMatchObject({ attempts: 1, attempts_made: [{ outcome: 'answered' }] })
  })

  test('is not asked more often than declared when it answers too late', async () => {
    await calls.connect({
      timeout_ms: 1000,
      retry: { on: ['timeout'], attempts: 2, base_ms: 1 },
      cost: { amount: '0.40', currency: 'EUR' },
    })
    let release: () => void = () => {}
    const after = new Promise<void>((resolve) => {
      release = resolve
    })
    answer((request) => ({ ...respondFromRegistry(request), after }))
    const { job_id, call_id } = await calls.start()
    w.startRunner(1)
    const job = await calls.endWaits(job_id).finally(() => release())
    expect(job).toMatchObject({ state: 'failed', problem: { code: 'provider_failed', fault: 'timeout' } })
    expect(provider.requests).toHaveLength(2)
    expect(await calls.getCall(call_id)).toMatchObject({ state: 'failed' })
    expect(await countSends(call_id)).toBe(2)
    expect(await calls.getStatus()).toMatchObject({ calls_today: 2, spend_this_month: '0.80', currency: 'EUR' })
  })
})

describe('a refusal', () => {
  test('rejects the credential: the call fails, and the next one answers 424', async () => {
    await calls.connect()
    answer(() => ({ status: 401 }))
    const before = await scrape()
    const { job, call } = await calls.run()
    expect(await measureGrowth(before, ['provider_calls_total{outcome="refused"}'])).toEqual([1])
    expect(job).toMatchObject({ state: 'failed', attempts: 1, problem: { code: 'provider_refused' } })
    expect(call.state).toBe('refused')
    const body = { capability: 'company.lookup', input: { number: '1' } }
    const next = await w.call(`POST /providers/${calls.provider_key}/calls`, { token: await t.token(), body })
    expect([next.status, next.json.missing[0].reason]).toEqual([424, 'rejected'])
  })

  test('is a result of a test, and a staged version can be verified before it is used', async () => {
    const credential_id = await calls.connect()
    answer((request) => (request.headers['x-api-key'] === 'k-2' ? respondFromRegistry(request) : { status: 403 }))
    await t.make(`POST /provider-credentials/${credential_id}/versions`, { body: { members: { api_key: 'k-2' } } })
    const verified = await t.make(`POST /provider-credentials/${credential_id}/verify`, { body: { version: 2 } })
    expect(verified.outcome).toBe('answered')
    expect((await t.make(`POST /providers/${calls.provider_key}/test`, { body: {} })).outcome).toBe('refused')
    const { items } = await t.make(`GET /provider-credentials/${credential_id}/versions`)
    expect(items).toMatchObject([
      { version: 2, last_verified_at: expect.any(String), rejected_at: null },
      { version: 1, last_verified_at: null, rejected_at: expect.any(String) },
    ])
    const readVerified = async () => (await t.make(`GET /provider-credentials/${credential_id}`)).active_verified_at
    expect(await readVerified()).toBeNull()
    await t.make(`POST /provider-credentials/${credential_id}/versions/2/activations`, { body: { reason: 'Verified' } })
    expect(await readVerified()).toEqual(items[0].last_verified_at)
  })
})

describe('a credential that goes away between 202 and the call', () => {
  test('holds the call back without an attempt until it is there again', async () => {
    const credential_id = await calls.connect()
    const { job_id, call_id } = await calls.start()
    await t.make(`POST /provider-credentials/${credential_id}/disable`, { body: { reason: 'leak' } })
    w.startRunner(1)
    expect(await calls.waiting(job_id)).toMatchObject({
      problem: { code: 'provider_credential_missing', status: 424, missing: [{ reason: 'disabled' }] },
    })
    expect(provider.requests).toEqual([])
    expect(await countSends(call_id)).toBe(0)
    await t.make(`POST /provider-credentials/${credential_id}/enable`, { body: { reason: 'settled' } })
    expect(await calls.endWaits(job_id)).toMatchObject({ state: 'succeeded' })
    expect(await countSends(call_id)).toBe(1)
  })
})

describe('an access token', () => {
  const connect = () => {
    const auth = { kind: 'oauth2_client_credentials', token_url: `http://127.0.0.1:${provider.port}/token` }
    return calls.connect({}, { auth, credential: undefined }, { client_id: 'c', client_secret: 's' })
  }
  const countTokenRequests = () => provider.requests.filter(({ path }) => path === '/token').length

  test('is fetched once and used by later calls', async () => {
    await connect()
    const token = { body: { access_token: 't-1', token_type: 'Bearer', expires_in: 3600 } }
    answer((request) => (request.path === '/token' ? token : respondFromRegistry(request)))
    const before = await scrape()
    for (const number of ['1', '2']) expect((await calls.run(number)).call.state).toBe('answered')
    expect(provider.requests.at(-1)?.headers.authorization).toBe('Bearer t-1')
    expect([countTokenRequests(), ...(await measureGrowth(before, [issued, rejected]))]).toEqual([1, 1, 0])
  })

  test('that is refused rejects the credential', async () => {
    await connect()
    answer(() => ({ status: 401, body: { error: 'invalid_client' } }))
    const before = await scrape()
    expect((await calls.run()).call).toMatchObject({ state: 'refused', fault: 'token_refused' })
    expect([countTokenRequests(), ...(await measureGrowth(before, [issued, rejected]))]).toEqual([1, 0, 1])
    expect((await calls.getStatus()).gap).toBe('rejected')
  })

  test('that cannot be had says why in a test of the connection', async () => {
    await connect()
    const test = async () => (await t.make(`POST /providers/${calls.provider_key}/test`, { body: {} })).fault
    answer(() => ({ status: 503 }))
    expect(await test()).toBe('token_endpoint_failed')
    answer(() => ({ body: { token_type: 'Bearer' } }))
    expect(await test()).toBe('token_response_invalid')
    const auth = { kind: 'oauth2_client_credentials', token_url: 'http://127.0.0.1:1/token' }
    await calls.connect({}, { auth, credential: undefined }, { client_id: 'c', client_secret: 's' })
    expect(await test()).toMatch(/^token_(connect_failed|egress_refused)$/)
  })

  const [issued, rejected] = ['issued', 'rejected'].map(
    (outcome) => `provider_token_requests_total{outcome="${outcome}"}`,
  ) as [string, string]
})

describe('the budget', () => {
  test('of ten calls is never exceeded by forty concurrent ones', async () => {
    await calls.connect({}, { budget: { calls_per_day: 10, on_reached: 'refuse' } })
    const before = await scrape()
    const started = await Promise.all(Array.from({ length: 40 }, (_, n) => calls.start(String(n))))
    w.startRunner(4)
    w.startRunner(4)
    const jobs = await Promise.all(started.map(({ job_id }) => calls.ended(job_id)))
    expect(provider.requests).toHaveLength(10)
    expect(jobs.filter(({ state }) => state === 'succeeded')).toHaveLength(10)
    expect(jobs.find(({ state }) => state === 'failed')?.problem).toMatchObject({
      code: 'budget_reached',
      budget: 'calls_per_day',
      resets_at: expect.any(String),
    })
    const shares = [0.5, 0.9, 1].map((le) => `provider_budget_used_ratio_bucket{le="${le}",budget="calls_per_day"}`)
    const counted = ['provider_sends_held_total{reason="budget"}', ...shares]
    expect(await measureGrowth(before, counted)).toEqual([30, 5, 9, 10])
  })
})
