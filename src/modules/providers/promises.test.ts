/** What a call promises, free, keyed or once: kept by the program and by the database. */
import { describe, expect, test } from 'vitest'
import { createRegistryPayload, respondFromRegistry } from '#test/support/counting-provider.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { answer, calls, owner, provider, setUpProviderCalls, t, w } from '#test/support/provider-call-suite.ts'
import { ProviderCalls } from '#test/support/provider-calls.ts'

setUpProviderCalls()

describe('promises', () => {
  const once = { safe: false }
  const interrupt = async (call_id: string) => {
    await owner.query(`set app.restoring = 'on'`)
    await owner.query(
      `update app.provider_attempt set outcome = null, ended_at = null, is_final = false, sent_at = now() - interval '1 min',
              deadline_at = now() - interval '1 s', fault = null where call_id = $1`,
      [call_id],
    )
    await owner.query('reset app.restoring')
  }

  test('once: a request that may have arrived is never sent again; a person repeats it as a new call', async () => {
    await calls.connect(once)
    answer(() => ({ reset: true }))
    const { job, call, call_id } = await calls.run()
    expect(job).toMatchObject({ state: 'failed', problem: { code: 'outcome_unknown', call_id } })
    expect(call).toMatchObject({ state: 'outcome_unknown', promise: 'once', attempts: 1 })
    await t.make(`POST /jobs/${job.job_id}/retry`)
    expect(await calls.ended(job.job_id)).toMatchObject({ state: 'failed', problem: { code: 'outcome_unknown' } })
    expect(provider.requests).toHaveLength(1)
    answer()
    const repeated = await t.make(`POST /providers/calls/${call_id}/repeat`, { body: { reason: 'Nothing arrived' } })
    expect(await calls.ended(repeated.job_id)).toMatchObject({ state: 'succeeded' })
    const second = repeated.resource.split('/').at(-1)
    expect(await calls.getCall(second)).toMatchObject({ state: 'answered', repeats_call_id: call_id })
    expect(await calls.getCall(call_id)).toMatchObject({ state: 'outcome_unknown', repeated_by_call_id: second })
    const again = await w.call(`POST /providers/calls/${call_id}/repeat`, {
      token: await t.token(),
      body: { reason: 'again' },
    })
    expect(again.json.code).toBe('transition_not_allowed')
    expect(provider.requests).toHaveLength(2)
  })

  test.each([
    [504, 'application/json', 'outcome_unknown'],
    [202, 'application/json', 'outcome_unknown'],
    [200, 'text/html', 'outcome_unknown'],
    [429, 'application/json', 'failed'],
    [422, 'application/json', 'failed'],
  ])('once: after %i %s the outcome is %s', async (status, media_type, state) => {
    await calls.connect(once)
    answer(() => ({ status, headers: { 'content-type': media_type } }))
    expect((await calls.run()).call).toMatchObject({ state, attempts: 1 })
  })

  test('once: of answers by hand and repetitions at the same time one is accepted', async () => {
    await calls.connect(once)
    answer(() => ({ reset: true }))
    const { call_id } = await calls.run()
    answer()
    const reason = 'Seen on the invoice'
    const by_hand = { result: 'not_found', media_type: 'application/json', content: '{}', reason }
    const token = await t.token()
    const replies = await Promise.all(
      [0, 1, 2].flatMap(() => [
        w.call(`POST /providers/calls/${call_id}/answer`, { token, body: by_hand }),
        w.call(`POST /providers/calls/${call_id}/repeat`, { token, body: { reason } }),
      ]),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409, 409, 409])
  })

  test('once: a person enters the answer, which the contract judges', async () => {
    await calls.connect(once)
    answer(() => ({ reset: true }))
    const { call_id } = await calls.run()
    const content = JSON.stringify(createRegistryPayload('1'))
    const body = { result: 'found', media_type: 'application/json', content, reason: 'Seen in the portal' }
    const wrong = await w.call(`POST /providers/calls/${call_id}/answer`, {
      token: await t.token(),
      body: { ...body, content: '{"order":"77"}' },
    })
    expect([wrong.status, wrong.json.code]).toEqual([422, 'validation_failed'])
    expect((await calls.getCall(call_id)).state).toBe('outcome_unknown')
    const { job_id } = await t.make(`POST /providers/calls/${call_id}/answer`, { body })
    expect(await calls.ended(job_id)).toMatchObject({ state: 'succeeded', result: { outcome: 'answered' } })
    expect(await calls.getCall(call_id)).toMatchObject({
      state: 'answered',
      answer: { source: 'person', reason: 'Seen in the portal', answered_by: t.caller },
    })
    expect(provider.requests).toHaveLength(1)
  })

  test('once: an answer that the contract refuses is kept in quarantine where a person says that it came so', async () => {
    await calls.connect(once)
    answer(() => ({ reset: true }))
    const { call_id } = await calls.run()
    const entered = { result: 'found', media_type: 'application/json', content: '{"order":"77"}', is_unusable: true }
    const body = { ...entered, reason: 'Seen in the portal' }
    const { job_id } = await t.make(`POST /providers/calls/${call_id}/answer`, { body })
    expect(await calls.ended(job_id)).toMatchObject({ result: { outcome: 'quarantined' } })
    expect(await calls.getCall(call_id)).toMatchObject({ state: 'quarantined', answer: { source: 'person' } })
  })

  test('once: a request that may not leave the service costs nothing', async () => {
    await calls.connect({
      ...once,
      request: { method: 'POST', url: 'http://127.0.0.1:1/orders/{input.number}', body: null },
    })
    const { job_id, call_id } = await calls.start()
    w.startRunner(1)
    expect(await calls.ended(job_id)).toMatchObject({
      state: 'failed',
      problem: { code: 'provider_failed', detail: expect.stringMatching(/^Nothing was sent.*PROBITY_EGRESS_PRIVATE/) },
    })
    expect(await calls.getCall(call_id)).toMatchObject({
      attempts_made: [{ outcome: 'not_sent', fault: 'egress_refused', sent_at: null, cost: null }],
    })
    expect(await t.make(`GET /providers/${calls.provider_key}/status`)).toMatchObject({
      calls_today: 0,
      spend_this_month: '0.00',
    })
  })

  test('keyed: repeated under the same idempotency key', async () => {
    await calls.connect({ safe: false, idempotency_header: 'Idempotency-Key' })
    let failures = 2
    answer((request) => (failures-- > 0 ? { reset: true } : respondFromRegistry(request)))
    const { job_id } = await calls.start()
    w.startRunner(1)
    expect((await calls.endWaits(job_id)).state).toBe('succeeded')
    const keys = provider.requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
  })

  test('a successor waits for the deadline of a dead worker, then repeats what may be repeated', async () => {
    await calls.connect()
    const { call_id, job } = await calls.run()
    expect(job.state).toBe('succeeded')
    // As a worker leaves it that died after the request was sent: no answer, no outcome.
    await owner.query('begin')
    await owner.query(`set local app.actor = 'operator:test'; set local session_replication_role = replica`)
    await owner.query('delete from app.provider_answer where call_id = $1', [call_id])
    await owner.query('commit')
    await interrupt(call_id)
    const again = await w.enqueue(t.tenant_id, 'provider-call', { call_id })
    expect(await calls.ended(again)).toMatchObject({ state: 'succeeded' })
    expect(await calls.getCall(call_id)).toMatchObject({
      state: 'answered',
      attempts_made: [{ outcome: 'unknown', fault: 'interrupted' }, { outcome: 'answered' }],
    })
  })

  test('the database refuses what would break them', async () => {
    await calls.connect()
    const { call_id } = await calls.run()
    const at = [t.tenant_id, call_id]
    const write = (sql: string) => t.write((tx) => tx.run(sql, at))
    const attempt = `insert into app.provider_attempt (tenant_id, call_id, attempt_no, token, promise, provider_key)
                     values ($1, $2, 2, gen_random_uuid(), 'free', 'x')`
    await expect(write(attempt)).rejects.toThrow(/never sent again/)
    await expect(
      write(`update app.provider_attempt set sent_at = null, deadline_at = null where tenant_id = $1 and call_id = $2`),
    ).rejects.toThrow(/stays recorded/)
    await expect(
      write(`update app.provider_attempt set outcome = 'failed' where tenant_id = $1 and call_id = $2`),
    ).rejects.toThrow(/stays recorded/)
    await expect(write('delete from app.provider_attempt where tenant_id = $1 and call_id = $2')).rejects.toThrow()
    await expect(write('delete from app.provider_answer where tenant_id = $1 and call_id = $2')).rejects.toThrow()
    await calls.connect(once)
    answer(() => ({ reset: true }))
    const second = await calls.run()
    const sentTwice = t.write(async (tx) => {
      await tx.run(
        `insert into app.provider_attempt (tenant_id, call_id, attempt_no, token, promise, provider_key)
         values ($1, $2, 2, gen_random_uuid(), 'once', 'x')`,
        [t.tenant_id, second.call_id],
      )
      await tx.run(
        `update app.provider_attempt set sent_at = now(), deadline_at = now() where tenant_id = $1 and call_id = $2 and attempt_no = 2`,
        [t.tenant_id, second.call_id],
      )
    })
    await expect(sentTwice).rejects.toThrow()
  })

  test('the database refuses attempts and pages that refer to rows of another tenant', async () => {
    const theirs = await calls.connect()
    const { call_id } = await calls.start()
    const other = await ExampleTenant.create(w)
    const own = new ProviderCalls(w, provider, other)
    await own.connect()
    const { call_id: own_call_id } = await own.start()
    const insertAttempt = (id: string, credential_id: string | null) =>
      other.write((tx) =>
        tx.run(
          `insert into app.provider_attempt (tenant_id, call_id, attempt_no, token, promise, provider_key, credential_id, credential_version)
           values ($1, $2, 1, gen_random_uuid(), 'free', 'x', $3, $4)`,
          [tx.tenant_id, id, credential_id, credential_id && 1],
        ),
      )
    await expect(insertAttempt(call_id, null)).rejects.toThrow(/a row of provider_attempt belongs to does not exist/)
    await expect(insertAttempt(own_call_id, theirs)).rejects.toThrow(/provider_attempt_credential_fkey/)
    const otherPromise = `insert into app.provider_attempt (tenant_id, call_id, attempt_no, token, promise, provider_key)
                          values ($1, $2, 1, gen_random_uuid(), 'once', 'x')`
    await expect(other.write((tx) => tx.run(otherPromise, [tx.tenant_id, own_call_id]))).rejects.toThrow(/call_fkey/)
    // As a restored backup writes it: no trigger is in the way of the key.
    await owner.query(`set app.actor = 'operator:test'; set app.restoring = 'on'`)
    const page = owner.query(
      `insert into app.provider_page (tenant_id, call_id, page_no, attempt_no, token, content)
       values ($1, $2, 1, 1, gen_random_uuid(), '')`,
      [other.tenant_id, call_id],
    )
    await expect(page).rejects.toThrow(/provider_page_attempt_fkey/)
    await owner.query('reset app.restoring')
  })
})
