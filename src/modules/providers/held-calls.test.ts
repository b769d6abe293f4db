/** Calls whose credential, provider or caller changes while they wait, and tests that are retried or interrupted. */
import { describe, expect, test } from 'vitest'
import { createRegistryPayload, respondFromRegistry } from '#test/support/counting-provider.ts'
import { waitUntil } from '#test/support/job-test-app.ts'
import { calls, owner, provider, setUpProviderCalls, t, w } from '#test/support/provider-call-suite.ts'

setUpProviderCalls()

const send = async (at: string, body: unknown, key?: string) =>
  w.call(at, { token: await t.token(), body, ...(key !== undefined && { headers: { 'idempotency-key': key } }) })
/** Without triggers: rows of the ledger are never changed otherwise. */
const asOwner = async (text: string, values: readonly unknown[]) => {
  await owner.query('set session_replication_role = replica')
  await owner.query(text, [...values])
  await owner.query('reset session_replication_role')
}
/** A promise, and the function that fulfils it. */
function createGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
const received = (count: number) =>
  waitUntil(`${count} requests are received`, async () => provider.requests.length >= count)

async function replaceVersion(change: object): Promise<void> {
  const at = `/providers/${calls.provider_key}`
  const definition = provider.createManifest({}, change)
  await t.make(`POST ${at}/versions`, { body: { definition } })
  await t.make(`POST ${at}/versions/draft/publish`, { body: {} })
  await t.make(`POST ${at}/activations`, { body: { version: 2, reason: 'Moved' } })
}

describe('a call that waits while its provider changes', () => {
  const startWaiting = async () => {
    await calls.connect()
    provider.respond = () => ({ status: 503, headers: { 'retry-after': '60' } })
    const { job_id, call_id } = await calls.start()
    w.startRunner(1)
    await calls.waiting(job_id)
    provider.respond = respondFromRegistry
    return { job_id, call_id }
  }

  test('does not send the present credential where the version in force would not', async () => {
    const { job_id, call_id } = await startWaiting()
    await replaceVersion({ auth: { kind: 'header', name: 'x-other-key', value: '{credential.api_key}' } })
    expect(await calls.endWaits(job_id)).toMatchObject({
      problem: { code: 'provider_failed', fault: 'provider_changed' },
    })
    expect(provider.requests).toHaveLength(1)
    expect(await calls.getCall(call_id)).toMatchObject({ state: 'failed', fault: 'provider_changed' })
  })

  test('goes on where hosts and authentication are the same', async () => {
    const { job_id } = await startWaiting()
    await replaceVersion({ title: 'Company registry, second edition' })
    expect(await calls.endWaits(job_id)).toMatchObject({ state: 'succeeded' })
  })
})

describe('an access token that is being fetched', () => {
  const connectWithTokens = async () => {
    const token_url = `http://127.0.0.1:${provider.port}/token`
    const auth = { kind: 'oauth2_client_credentials', token_url }
    const credential = {
      members: [
        { name: 'client_id', secret: false, max: 100 },
        { name: 'client_secret', secret: true, max: 100 },
      ],
    }
    const gate = createGate()
    provider.respond = ({ path }) =>
      path === '/token'
        ? { body: { access_token: 'at-1', token_type: 'bearer', expires_in: 600 }, after: gate.opened }
        : { body: createRegistryPayload('00000006') }
    const credential_id = await calls.connect({}, { auth, credential }, { client_id: 'us', client_secret: 'hush' })
    return { credential_id, gate }
  }

  test('is not used when its credential was disabled meanwhile', async () => {
    const { credential_id, gate } = await connectWithTokens()
    const { job_id } = await calls.start()
    w.startRunner(1)
    await received(1)
    await t.make(`POST /provider-credentials/${credential_id}/disable`, { body: { reason: 'leak' } })
    gate.open()
    expect(await calls.waiting(job_id)).toMatchObject({ problem: { code: 'provider_credential_missing' } })
    expect(provider.requests.map(({ path }) => path)).toEqual(['/token'])
  })

  test('lets a test answer 424 when its credential was destroyed meanwhile', async () => {
    const { credential_id, gate } = await connectWithTokens()
    const tested = send(`POST /providers/${calls.provider_key}/test`, {})
    await received(1)
    await t.make(`DELETE /provider-credentials/${credential_id}?reason=leak`)
    gate.open()
    expect((await tested).json).toMatchObject({ status: 424, code: 'provider_credential_missing' })
  })
})

describe('a test of a provider', () => {
  test('is sent once however often it is retried with its key', async () => {
    await calls.connect({ safe: false })
    const gate = createGate()
    provider.respond = () => ({ body: createRegistryPayload('00000006'), after: gate.opened })
    const at = `POST /providers/${calls.provider_key}/test`
    const first = send(at, {}, 'k')
    await received(1)
    const early = await Promise.all([send(at, {}, 'k'), send(at, {}, 'k')])
    expect(early.map(({ json }) => json.code)).toEqual(['idempotency_in_progress', 'idempotency_in_progress'])
    const other = await send(at, { capability: 'company.lookup', input: { number: '7' } }, 'k')
    expect(other.json.code).toBe('idempotency_key_reused')
    gate.open()
    const { json, status } = await first
    expect([status, json.outcome]).toEqual([200, 'answered'])
    const late = await send(at, {}, 'k')
    expect([late.json, late.headers['idempotency-replayed']]).toEqual([json, 'true'])
    expect(provider.requests).toHaveLength(1)
  })

  test('that failed or was held back leaves no call that waits', async () => {
    await calls.connect({}, { budget: { calls_per_day: 1, on_reached: 'refuse' } })
    const at = `POST /providers/${calls.provider_key}/test`
    provider.respond = () => ({ status: 503 })
    expect((await send(at, {})).json).toMatchObject({ outcome: 'failed' })
    expect((await send(at, {})).json).toMatchObject({ status: 409, code: 'budget_reached' })
    const { items } = await t.make(`GET /providers/calls?provider_key=${calls.provider_key}`)
    expect(items.map(({ state }: { state: string }) => state)).toEqual(['failed', 'failed'])
    expect(provider.requests).toHaveLength(1)
  })

  test('that was interrupted waits for a person after its deadline', async () => {
    await calls.connect({ safe: false })
    const { call_id } = await t.make(`POST /providers/${calls.provider_key}/test`, { body: {} })
    await asOwner('delete from app.provider_answer where call_id = $1', [call_id])
    await asOwner(
      `update app.provider_attempt set outcome = null, ended_at = null, is_final = false, http_status = null, duration_ms = null,
              sent_at = now() - interval '1 hour', deadline_at = now() - interval '50 minutes' where call_id = $1`,
      [call_id],
    )
    await asOwner(`update app.provider_call set created_at = now() - interval '1 hour' where call_id = $1`, [call_id])
    expect(await calls.getCall(call_id)).toMatchObject({ state: 'outcome_unknown' })
    const { items } = await t.make('GET /providers/calls?state=outcome_unknown')
    expect(items).toMatchObject([{ call_id }])
    const body = { reason: 'The invoice shows that nothing was asked.' }
    expect((await send(`POST /providers/calls/${call_id}/repeat`, body)).status).toBe(202)
  })
})

test('a call whose job was cancelled is over', async () => {
  await calls.connect()
  const { job_id, call_id } = await calls.start()
  await t.make(`POST /jobs/${job_id}/cancel`)
  await asOwner(`update app.provider_call set created_at = now() - interval '1 hour' where call_id = $1`, [call_id])
  expect(await calls.getCall(call_id)).toMatchObject({ state: 'failed', attempts: 0 })
})

test('an unknown capability and an input that does not fit are refused before 424', async () => {
  const credential_id = await calls.connect()
  await t.make(`POST /provider-credentials/${credential_id}/disable`, { body: { reason: 'leak' } })
  const at = `POST /providers/${calls.provider_key}/calls`
  const codes: unknown[] = []
  for (const [capability, number] of [
    ['company.unknown', '1'],
    ['company.lookup', ''],
    ['company.lookup', '1'],
  ]) {
    codes.push((await send(at, { capability, input: { number } })).json.code)
  }
  expect(codes).toEqual(['conflict', 'validation_failed', 'provider_credential_missing'])
  const { detail } = (await send(at, { capability: 'company.lookup', input: {} })).json
  expect(detail).toBe('The input does not fit company.lookup: number is required.')
})

test('a version that the provider rejects is replaced by the one before during the overlap', async () => {
  const credential_id = await calls.connect()
  const versions = `POST /provider-credentials/${credential_id}/versions`
  await t.make(versions, { body: { members: { api_key: 'k-2' } } })
  await t.make(`${versions}/2/activations`, { body: { reason: 'Rotation', overlap_s: 3600 } })
  provider.respond = ({ headers, path }) =>
    headers['x-api-key'] === 'k-1' ? { body: createRegistryPayload(path.split('/').at(-1) ?? '') } : { status: 401 }
  const { job_id, call_id } = await calls.start()
  w.startRunner(1)
  expect(await calls.endWaits(job_id)).toMatchObject({ state: 'succeeded' })
  expect(provider.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['k-2', 'k-1'])
  expect(await calls.getCall(call_id)).toMatchObject({
    state: 'answered',
    attempts_made: [{ fault: 'credential_rejected' }, { outcome: 'answered' }],
  })
})

test('values with white space around them or line breaks are refused, keys in several lines are not', async () => {
  const credential_id = await calls.connect()
  const at = `POST /provider-credentials/${credential_id}/versions`
  for (const api_key of [' k', 'k\n', 'a\nb', 'k\u00a0']) {
    const { status, json } = await send(at, { members: { api_key } })
    expect([status, json.errors[0].pointer]).toEqual([422, '#/members/api_key'])
    expect(JSON.stringify(json)).not.toContain(JSON.stringify(api_key).slice(1, -1))
  }
  const pem = '-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n'
  expect((await send(at, { members: { api_key: pem } })).status).toBe(201)
})

test('an approved activation is recorded under its credential', async () => {
  const credential_id = await calls.connect()
  const versions = `POST /provider-credentials/${credential_id}/versions`
  await t.make(versions, { body: { members: { api_key: 'k-2' } } })
  await w.setApprovalRules(t.tenant_id, [{ action: 'credentials', approvers: 1, role: 'compliance_officer' }])
  const proposed = await send(`${versions}/2/activations`, { reason: 'Rotation' })
  expect(proposed.status).toBe(202)
  const token = await t.token(['compliance_officer'], t.author)
  const { cr_id } = proposed.json
  expect((await w.call(`POST /change-requests/${cr_id}/approve`, { token, body: {} })).status).toBe(200)
  const { rows } = await owner.query(
    `select object_id, actor from app.audit_event where tenant_id = $1 and operation = 'activateCredentialVersion' order by event_id`,
    [t.tenant_id],
  )
  expect(rows.map(({ object_id }) => object_id)).toEqual([credential_id, credential_id, credential_id])
})

test('a retired version is not verified', async () => {
  const credential_id = await calls.connect()
  const versions = `POST /provider-credentials/${credential_id}/versions`
  await t.make(versions, { body: { members: { api_key: 'k-2' } } })
  await t.make(`${versions}/2/activations`, { body: { reason: 'Rotation', overlap_s: 0 } })
  const verify = `POST /provider-credentials/${credential_id}/verify`
  expect((await send(verify, { version: 1 })).json.code).toBe('transition_not_allowed')
  expect((await send(verify, { version: 9 })).status).toBe(404)
  expect((await send(verify, { version: 2 })).json.outcome).toBe('answered')
  expect(provider.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['k-2'])
})
