/** Calls of a real provider on the loopback: what is sent, stored, repeated and charged. */
import { describe, expect, test } from 'vitest'
import { uuidv7 } from '#kernel/uuid.ts'
import { type CountingProvider, createRegistryPayload, respondFromRegistry } from '#test/support/counting-provider.ts'
import {
  answer,
  calls,
  measureGrowth,
  owner,
  provider,
  scrape,
  setUpProviderCalls,
  t,
  w,
} from '#test/support/provider-call-suite.ts'

setUpProviderCalls()

describe('a call', () => {
  test('is answered, admitted by the contract, and shows neither input nor answer', async () => {
    const credential_id = await calls.connect()
    const { job, call, call_id } = await calls.run()
    expect(job).toMatchObject({ state: 'succeeded', result: { outcome: 'answered', result: 'found' } })
    expect(call).toMatchObject({
      state: 'answered',
      promise: 'free',
      mode: 'live',
      admission_id: expect.any(String),
      request: { method: 'GET', url: expect.stringContaining('{input.number}'), headers: ['accept'] },
      attempts_made: [
        { outcome: 'answered', http_status: 200, cost: '0.40 EUR', credential_id, credential_version: 1 },
      ],
      answer: { source: 'provider', result: 'found', media_type: expect.stringContaining('application/json') },
    })
    expect(JSON.stringify(call)).not.toContain('Example Trading')
    expect(JSON.stringify(call)).not.toContain('/companies/00000006')
    expect(provider.requests).toMatchObject([{ path: '/companies/00000006', headers: { 'x-api-key': 'k-1' } }])
    const content = await w.call(`GET /providers/calls/${call_id}/content`, { token: await t.token() })
    expect(JSON.parse(content.text).result.items[0].name).toBe('Example Trading Ltd')
    const log = await t.make(`GET /provider-credentials/${credential_id}/access-log`)
    expect(log.items).toMatchObject([{ purpose: 'call', call_id, version: 1 }])
    const usage = await t.make(`GET /providers/${calls.provider_key}/usage`)
    expect(usage.items).toEqual([
      { capability: 'company.lookup', sent: 1, answered: 1, failed: 0, refused: 0, unknown: 0, cost: '0.40 EUR' },
    ])
    const today = new Date().toISOString().slice(0, 10)
    expect(usage.days).toEqual([{ day: today, sent: 1, answered: 1, failed: 0, refused: 0, unknown: 0 }])
    expect((await t.make('GET /capabilities')).providers).toEqual(['prohibited-jurisdiction-check', calls.provider_key])
    expect(await t.make(`GET /providers/${calls.provider_key}/status`)).toMatchObject({
      breaker: 'closed',
      calls_today: 1,
      spend_this_month: '0.40',
      kind: 'http',
      credential_members: [{ name: 'api_key', secret: true, max_length: expect.any(Number) }],
      last_call_at: call.created_at,
      last_call_mode: 'live',
      last_test_call_at: null,
      gap: null,
    })
    for (const [query, found] of [
      ['state=answered', [call_id]],
      ['state=failed', []],
      [`from=${call.created_at}`, [call_id]],
      [`to=${call.created_at}`, []],
    ] as const) {
      const { items } = await t.make(`GET /providers/calls?${query}`)
      expect([query, items.map((item: { call_id: string }) => item.call_id)]).toEqual([query, found])
    }
  })

  test('whose payload breaks the contract is quarantined', async () => {
    await calls.connect()
    answer(() => ({ body: { meta: {}, result: { items: [{ number: 1 }] } } }))
    const before = await scrape()
    const { job, call } = await calls.run()
    expect(job).toMatchObject({ state: 'succeeded', result: { outcome: 'quarantined' } })
    expect(call.state).toBe('quarantined')
    const quarantined = await t.make(`GET /source-contracts/quarantine/${call.answer.payload_id}`)
    expect(quarantined.call_id).toBe(call.call_id)
    expect((await t.make('GET /providers/calls?state=quarantined')).items).toMatchObject([{ call_id: call.call_id }])
    expect((await t.make('GET /providers/calls?state=answered')).items).toEqual([])
    const counted = [
      'provider_calls_total{outcome="quarantined"}',
      'provider_calls_total{outcome="answered"}',
      'provider_attempt_duration_seconds_count{outcome="answered"}',
      'payload_admissions_total{result="quarantined"}',
    ]
    expect(await measureGrowth(before, counted)).toEqual([1, 0, 1, 1])
  })

  test('whose answer repeats the credential is quarantined, and shows it to nobody', async () => {
    const secret = 'CANARY-KEY-0123456789'
    const credential_id = await calls.connect()
    const versions = `POST /provider-credentials/${credential_id}/versions`
    await t.make(versions, { body: { members: { api_key: secret } } })
    await t.make(`${versions}/2/activations`, { body: { reason: 'Rotation' } })
    answer((request) => {
      const { body } = respondFromRegistry(request)
      Object.assign(body.result.items[0] as object, { [secret]: 1 })
      return { body, headers: { etag: `"${secret}"`, 'x-request-id': 'r-1' } }
    })
    const { call, call_id, job } = await calls.run()
    expect([call.state, job.result?.['outcome']]).toEqual(['quarantined', 'quarantined'])
    const { payload_id } = call.answer
    const shown = await t.make(`GET /source-contracts/quarantine/${payload_id}`)
    expect(shown).toMatchObject({ payload: null, has_content: true, violations: [{ code: 'credential_repeated' }] })
    const content = await w.call(`GET /providers/calls/${call_id}/content`, { token: await t.token() })
    expect([content.status, content.text.includes(secret)]).toEqual([409, false])
    const reprocess = await t.make(`POST /source-contracts/quarantine/${payload_id}/reprocess`, { body: {} })
    expect((await calls.ended(reprocess.job_id)).result).toMatchObject({ result: 'quarantined' })
    const widen = { action: 'widen', reason: 'Trial' }
    const resolve = `POST /source-contracts/quarantine/${payload_id}/resolve`
    expect((await w.call(resolve, { token: await t.token(), body: widen })).json.code).toBe('conflict')
    const { rows } = await owner.query(
      `select a.headers, jsonb_agg(m.notes || m.violations) as places from app.provider_answer a
         join app.payload_admission m using (tenant_id, payload_id) where a.call_id = $1 group by 1`,
      [call_id],
    )
    expect(rows[0].headers).toMatchObject({ etag: '[credential]', 'x-request-id': 'r-1' })
    expect(JSON.stringify(rows)).not.toContain(secret)
  })

  test('that is not found is an answer', async () => {
    await calls.connect()
    answer(() => ({ status: 404 }))
    const { job } = await calls.run()
    expect(job.result).toMatchObject({ outcome: 'answered', result: 'not_found', admission_id: null })
  })

  test('about a subject is encrypted under the key of the subject', async () => {
    await calls.connect()
    const { subject_id } = await t.make('POST /subjects', { body: { subject_type: 'company', name: 'Example Ltd' } })
    const { call } = await calls.run('00000006', { subject_id })
    expect(call).toMatchObject({ state: 'answered', subject_id })
    const { rows } = await owner.query('select owner_kind, owner_id from app.source_payload where payload_id = $1', [
      call.answer.payload_id,
    ])
    expect(rows).toEqual([{ owner_kind: 'subject', owner_id: subject_id }])
    const unknown = { capability: 'company.lookup', input: { number: '1' }, subject_id: uuidv7() }
    const refused = await w.call(`POST /providers/${calls.provider_key}/calls`, {
      token: await t.token(),
      body: unknown,
    })
    expect(refused.json.code).toBe('conflict')
  })

  test('shows what was asked to those who settle it, without the credential, until the subject is erased', async () => {
    await calls.connect()
    const { subject_id } = await t.make('POST /subjects', { body: { subject_type: 'company', name: 'Example Ltd' } })
    const { call_id } = await calls.run('00000006', { subject_id })
    const at = `GET /providers/calls/${call_id}/request`
    const shown = await t.make(at)
    expect(shown).toMatchObject({ call_id, capability: 'company.lookup', subject_id, input: { number: '00000006' } })
    expect(shown.request).toMatchObject({
      method: 'GET',
      url: expect.stringMatching(/\/companies\/00000006$/),
      body: null,
    })
    expect(shown.request.headers['x-api-key']).toBe('{{credential.api_key}}')
    expect((await t.make('GET /audit/events?limit=1')).items[0]).toMatchObject({ operation: 'getProviderCallRequest' })
    expect((await w.call(at, { token: await t.token(['auditor']) })).status).toBe(403)
    await t.write((tx) => w.kernel.encryption.destroyOwner(tx, { kind: 'subject', id: subject_id }))
    const erased = await w.call(at, { token: await t.token() })
    expect([erased.status, erased.json.code]).toEqual([410, 'erased'])
  })

  test('of an unknown provider, capability or input is refused before anything is stored', async () => {
    await calls.connect()
    const token = await t.token()
    const send = (key: string, body: object) => w.call(`POST /providers/${key}/calls`, { token, body })
    const lookup = { capability: 'company.lookup', input: { number: '1' } }
    const codes = [
      (await send('unheard-of', lookup)).json.code,
      (await send(calls.provider_key, { ...lookup, capability: 'company.order' })).json.code,
      (await send(calls.provider_key, { ...lookup, input: { number: 1 } })).json.errors[0].pointer,
      (await send(calls.provider_key, { ...lookup, input: {} })).json.errors[0].pointer,
    ]
    expect(codes).toEqual(['not_found', 'conflict', '#/input/number', '#/input/number'])
    const number = { type: 'string', maxLength: 10_000 }
    await calls.connect({
      input: { type: 'object', additionalProperties: false, required: ['number'], properties: { number } },
    })
    const long = await send(calls.provider_key, { ...lookup, input: { number: 'é'.repeat(2000) } })
    expect(long.json).toMatchObject({ status: 422, errors: [{ pointer: '#/input/number' }] })
    expect((await t.make('GET /providers/calls')).items).toEqual([])
  })

  test('never puts a value of the input outside its place', async () => {
    await calls.connect()
    for (const number of ['../x?b=c#d', 'a@b%2e%2e', "ä 'b"]) {
      const { job } = await calls.run(number)
      expect(job.state).toBe('succeeded')
      const { path } = provider.requests.at(-1) as { path: string }
      expect(path).toMatch(/^\/companies\/[^/?#]+$/)
      expect(decodeURIComponent(path.slice('/companies/'.length))).toBe(number)
    }
    const dots = await w.call(`POST /providers/${calls.provider_key}/calls`, {
      token: await t.token(),
      body: { capability: 'company.lookup', input: { number: '..' } },
    })
    expect(dots.json).toMatchObject({ status: 422, errors: [{ pointer: '#/input/number' }] })
  })
})

describe('an answer that is not what it should be', () => {
  const html = { headers: { 'content-type': 'text/html' }, body: '<html></html>' }
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const drifted = { ...createRegistryPayload('1'), result: { items: [{ number: 1, title: 'renamed' }] } }
  const cases: [string, ReturnType<CountingProvider['respond']>, object][] = [
    ['HTML', html, { state: 'failed', fault: 'media_type_unexpected' }],
    ['an empty body', { body: '' }, { state: 'failed', fault: 'body_empty' }],
    ['a redirect', { status: 302, headers: { location: 'http://169.254.169.254/' } }, { fault: 'redirect_refused' }],
    ['a status that nobody declared', { status: 418 }, { state: 'failed', fault: 'status_unexpected' }],
    ['more bytes than allowed', { body: 'x'.repeat(1_048_577) }, { state: 'failed', fault: 'too_large' }],
    ['invalid JSON', { body: '{"a":' }, { state: 'quarantined', fault: null }],
    ['a member twice', { body: '{"meta":1,"meta":2}' }, { state: 'quarantined', fault: null }],
    ['100,000 levels', { body: deep }, { state: 'quarantined', fault: null }],
    ['renamed members', { body: drifted }, { state: 'quarantined', fault: null }],
  ]
  test('has an exact word each, or is quarantined, and never fails the service', async () => {
    await calls.connect()
    for (const [name, reply, expected] of cases) {
      answer(() => reply)
      const { call, job } = await calls.run()
      expect.soft(call, name).toMatchObject(expected)
      if (call.state === 'failed') expect.soft(job.problem, name).toMatchObject({ code: 'provider_failed' })
      else expect.soft(job.state, name).toBe('succeeded')
    }
  })
})

test('a cost per answer is charged for answers only', async () => {
  await calls.connect(
    { cost: { amount: '0.40', currency: 'EUR', per: 'answered' } },
    { budget: { spend_per_month: { amount: '0.80', currency: 'EUR' } } },
  )
  answer(() => ({ status: 500 }))
  for (let n = 0; n < 3; n++) expect(await calls.test()).toMatchObject({ outcome: 'failed' })
  answer(() => ({ status: 404 }))
  const answered = await calls.test()
  answer(() => ({ status: 400 }))
  const refused = await calls.test()
  const costs = async (call_id: string) => (await calls.getCall(call_id)).attempts_made[0].cost
  expect(await Promise.all([answered, refused].map(({ call_id }) => costs(call_id)))).toEqual(['0.40 EUR', '0.00 EUR'])
  expect(await calls.getStatus()).toMatchObject({ calls_today: 5, spend_this_month: '0.40', currency: 'EUR' })
  const usage = await t.make(`GET /providers/${calls.provider_key}/usage`)
  expect(usage.items).toMatchObject([{ sent: 5, answered: 1, failed: 4, cost: '0.40 EUR' }])
})

describe('modes', () => {
  test('recorded repeats the stored answer without a request, and 409 where there is none', async () => {
    await calls.connect()
    await calls.run('00000006')
    const makeSubject = async (name: string) =>
      (await t.make('POST /subjects', { body: { subject_type: 'company', name } })).subject_id as string
    const [one, two] = [await makeSubject('First Ltd'), await makeSubject('Second Ltd')]
    await calls.run('00000008', { subject_id: one })
    const setMode = (environment: string) =>
      t.make(`PUT /providers/${calls.provider_key}/mode`, {
        body: { mode: 'recorded', environment, reason: 'Staging' },
      })
    await setMode('live')
    const repeated = await calls.start('00000006')
    expect(await calls.ended(repeated.job_id)).toMatchObject({ state: 'succeeded', result: { outcome: 'answered' } })
    expect(await calls.getCall(repeated.call_id)).toMatchObject({ mode: 'recorded', answer: { source: 'recorded' } })
    const other = await calls.start('00000007')
    expect(await calls.ended(other.job_id)).toMatchObject({ state: 'failed', problem: { code: 'not_recorded' } })
    const findOutcome = async (number: string, subject_id?: string) => {
      const { result, problem } = await calls.ended((await calls.start(number, { subject_id })).job_id)
      return result?.['outcome'] ?? problem?.['code']
    }
    const outcomes = [await findOutcome('00000008', one), await findOutcome('00000008', two)]
    expect([...outcomes, await findOutcome('00000008')]).toEqual(['answered', 'not_recorded', 'not_recorded'])
    await setMode('test')
    expect(await findOutcome('00000006')).toBe('not_recorded')
    expect(provider.requests).toHaveLength(2)
  })

  test('a live call that waits is not sent when the provider is no longer called live', async () => {
    await calls.connect()
    const { job_id } = await calls.start()
    await t.make(`PUT /providers/${calls.provider_key}/mode`, { body: { mode: 'fixtures', reason: 'Dispute' } })
    w.startRunner(1)
    expect(await calls.ended(job_id)).toMatchObject({ state: 'failed', problem: { code: 'conflict' } })
    expect(provider.requests).toEqual([])
  })

  test('builtin looks a key up in the list in force, without a credential', async () => {
    const provider_key = 'prohibited-jurisdiction-check'
    const { items } = await t.make('GET /reference-data/lists/prohibited-jurisdictions/entries?limit=1').catch(() => ({
      items: [],
    }))
    const key = items[0]?.key ?? 'KP'
    const body = { capability: 'registry.lookup', input: { key } }
    const found = await t.make(`POST /providers/${provider_key}/test`, { body })
    expect(found).toMatchObject({ outcome: 'answered', result: 'found' })
    const missing = { capability: 'registry.lookup', input: { key: 'ZZ' } }
    expect((await t.make(`POST /providers/${provider_key}/test`, { body: missing })).result).toBe('not_found')
  })
})
