/** Providers whose requests a plugin makes: a real TLS server, the sandbox, and everything that keeps a request from being sent. */
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { defaultEgressSettings } from '#kernel/egress/settings.ts'
import { defaultPluginPolicy } from '#kernel/plugin-policy.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { createCertificate } from '#test/support/certificates.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'

const HOST = '127.0.0.1'
let w: JobTestApp
let t: ExampleTenant
let listener: https.Server
let port: number
let isRunning = false
const requests: { method: string; path: string; headers: Record<string, unknown> }[] = []
let respond: (path: string) => { status?: number; body: unknown; text?: string } = () => ({ body: {} })

beforeAll(async () => {
  const { cert, key } = createCertificate({ common_name: HOST, names: [HOST], is_authority: true })
  listener = https.createServer({ cert, key }, (request, response) => {
    requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers })
    const { status = 200, body, text = JSON.stringify(body) } = respond(request.url ?? '')
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(text)
  })
  await new Promise<void>((resolve) => listener.listen(0, HOST, resolve))
  port = (listener.address() as AddressInfo).port
  const egress = {
    ...defaultEgressSettings,
    private_hosts: [{ name: HOST, port, ca: cert }],
    exempt: { address: HOST, port },
  }
  w = await startJobTestApp({ egress, plugin_policy: { ...defaultPluginPolicy, hosts: [HOST] } })
})
beforeEach(async () => {
  t = await ExampleTenant.create(w)
  requests.length = 0
  isRunning = false
  respond = (path) => ({ body: { companyNumber: path.split('/').at(-1)?.split('?')[0], land: 'GB' } })
})
afterEach(() => w.clear())
afterAll(async () => {
  await w.close()
  listener.closeAllConnections()
  await new Promise((resolve) => listener.close(resolve))
})

/** Makes requests as the configuration says, so that one plugin shows every fault. */
const SOURCE = `
export function request(input, config) {
  if (config.throws === 'request') throw new Error('no request')
  return { method: 'GET', url: config.base + '/companies/' + encodeURIComponent(input.number), query: { v: '2' }, headers: { accept: 'application/json', 'x-extra': config.extra || 'none' } }
}
export function parse(response, config) {
  if (config.throws === 'parse') throw new Error('cannot read it')
  const { companyNumber, land } = response.body
  return { meta: { source: 'plugin', updated_at: config.updated_at || '2026-01-10T08:00:00Z' }, result: { items: [{ number: companyNumber, name: 'Example Trading Ltd', address: { country: land } }] } }
}
`
const PAYLOAD = (number: string) => ({
  meta: { source: 'plugin', updated_at: '2026-01-10T08:00:00Z' },
  result: { items: [{ number, name: 'Example Trading Ltd', address: { country: 'GB' } }] },
})
const createExample = (number: string) => ({
  name: `company ${number}`,
  input: { number },
  config: { base: `https://${HOST}` },
  request: {
    method: 'GET',
    url: `https://${HOST}/companies/${number}`,
    query: { v: '2' },
    headers: { accept: 'application/json', 'x-extra': 'none' },
  },
  response: { status: 200, headers: {}, body: { companyNumber: number, land: 'GB' } },
  output: PAYLOAD(number),
})

async function createPlugin(): Promise<string> {
  const plugin_key = `registry-${uuidv7().slice(-12)}`
  const manifest = {
    plugin_key,
    version: '1.0.0',
    kind: 'provider',
    api: 1,
    entry: 'plugin.js',
    title: 'Registry',
    inputs: { type: 'object', required: ['number'], properties: { number: { type: 'string', maxLength: 20 } } },
    config_schema: { type: 'object', properties: { base: { type: 'string' } } },
    contract_key: 'company-registry',
    permissions: { hosts: [HOST] },
    examples: ['100', '200', '300'].map(createExample),
  }
  await t.make('POST /plugins', { body: { plugin_key, package: { manifest, files: { 'plugin.js': SOURCE } } } })
  await t.make(`PUT /plugins/${plugin_key}/grants`, { body: { lists: [], hosts: [HOST], reason: 'Reviewed' } })
  await configure(plugin_key, {})
  await t.make(`POST /plugins/${plugin_key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
  return plugin_key
}

const configure = (plugin_key: string, change: object) =>
  t.make(`PUT /plugins/${plugin_key}/configuration`, {
    body: {
      configuration: { base: `https://${HOST}:${port}`, updated_at: new Date().toISOString(), ...change },
      reason: 'Set up',
    },
  })

const createManifest = (plugin_key: string, capability: object = {}) => ({
  kind: 'plugin',
  title: 'Registry by plugin',
  plugin_key,
  capabilities: {
    'company.lookup': {
      contract_key: 'company-registry',
      input: {
        type: 'object',
        additionalProperties: false,
        required: ['number'],
        properties: { number: { type: 'string', minLength: 1, maxLength: 40 } },
      },
      safe: true,
      timeout_ms: 2000,
      ...capability,
    },
  },
  auth: { kind: 'header', name: 'x-api-key', value: '{credential.api_key}' },
  credential: { members: [{ name: 'api_key', secret: true, max: 200 }] },
  hosts: [HOST],
  test: { capability: 'company.lookup', input: { number: '00000006' } },
  fixtures: [{ when: { number: '1' }, body: { companyNumber: '1', land: 'GB' } }],
})

async function connect(plugin_key: string, capability: object = {}): Promise<string> {
  const provider_key = `plug-${uuidv7().slice(-12)}`
  const definition = createManifest(plugin_key, capability)
  await t.make('POST /providers', { body: { provider_key, title: 'Registry', definition } })
  await t.make(`POST /providers/${provider_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /providers/${provider_key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
  return provider_key
}

async function storeCredential(provider_key: string): Promise<void> {
  const { credential_id } = await t.make('POST /provider-credentials', { body: { provider_key, label: 'Main' } })
  const versions = `POST /provider-credentials/${credential_id}/versions`
  await t.make(versions, { body: { members: { api_key: 'secret-of-registry' } } })
  await t.make(`${versions}/1/activations`, { body: { reason: 'First' } })
}

const send = async (at: string, body?: object) => w.call(at, { token: await t.token(), ...(body && { body }) })
const start = (provider_key: string, number = '00000006') =>
  send(`POST /providers/${provider_key}/calls`, { capability: 'company.lookup', input: { number } })

async function run(provider_key: string, number?: string) {
  const started = await start(provider_key, number)
  expect([started.status, started.json.code]).toEqual([202, undefined])
  return finish(started.json)
}

async function finish({ job_id, resource }: { job_id: string; resource: string }) {
  if (!isRunning) w.startRunner(2)
  isRunning = true
  const job = await w.ended(t.tenant_id, job_id)
  return { job, call: await t.make(`GET ${resource.replace('/api', '')}`) }
}

describe('a provider of kind plugin', () => {
  test('sends what the plugin makes, with the credential, and judges what the plugin reads', async () => {
    const plugin_key = await createPlugin()
    const provider_key = await connect(plugin_key)
    expect((await start('no-such-provider')).status).toBe(404)
    expect((await start(provider_key)).json).toMatchObject({ status: 424, missing: [{ provider_key }] })
    await storeCredential(provider_key)
    const { job, call } = await run(provider_key)
    expect([job.state, job.problem]).toEqual(['succeeded', null])
    expect(requests).toMatchObject([
      {
        method: 'GET',
        path: '/companies/00000006?v=2',
        headers: { 'x-api-key': 'secret-of-registry', accept: 'application/json' },
      },
    ])
    expect(call).toMatchObject({
      state: 'answered',
      attempts_made: [{ outcome: 'answered', http_status: 200 }],
      answer: { made_by: { kind: 'plugin', plugin_key, version: 1, response_payload_id: expect.any(String) } },
    })
    const content = await send(`GET /providers/calls/${call.call_id}/content`)
    expect(JSON.parse(content.text).result.items[0].number).toBe('00000006')
    expect((await t.make(`GET /plugins/${plugin_key}/dependents`)).items).toMatchObject([
      { kind: 'provider', key: provider_key, version: 1, operations: expect.arrayContaining(['callProvider']) },
    ])
    expect((await t.make(`GET /plugins/${plugin_key}/invocations`)).items).toMatchObject([{ failed: 0 }])
  })

  test('leaves runs for a restricted case out of what others see of the plugin', async () => {
    const plugin_key = await createPlugin()
    const provider_key = await connect(plugin_key)
    await storeCredential(provider_key)
    const input = { number: { fact: 'number' } }
    const step = {
      key: 'registry',
      kind: 'provider',
      with: { provider: provider_key, capability: 'company.lookup', input },
      required: true,
    }
    const definition = {
      ...{ title: 'Registry', subject_types: ['company'], steps: [step], outcomes: ['INV_NO_SUSPICION'] },
      facts: [{ name: 'number', title: 'Number', type: 'string' }],
    }
    await t.make('POST /playbooks', { body: { playbook_key: 'registry', title: 'Registry', definition } })
    await t.make('POST /playbooks/registry/versions/draft/publish', { body: {} })
    await t.make('POST /playbooks/registry/activations', { body: { version: 1, reason: 'Reviewed' } })
    const { subject_id } = await t.make('POST /subjects', {
      body: { subject_type: 'company', name: 'Example Ltd', attributes: { number: '00000006' } },
    })
    const [member, outsider] = [
      await w.person(t.tenant_id, ['compliance_officer', 'analyst']),
      await w.person(t.tenant_id, ['compliance_officer', 'auditor', 'policy_editor']),
    ]
    const openCase = async (is_restricted: boolean) => {
      const body = { subject_id, playbook_key: 'registry', is_restricted }
      const { json } = await w.call('POST /investigations', { token: member.token, body })
      if (!isRunning) w.startRunner(2)
      isRunning = true
      await w.ended(t.tenant_id, json.job_id)
      return json.investigation_id as string
    }
    const list = async ({ token }: { token: string }) =>
      (await w.call(`GET /plugins/${plugin_key}/invocations`, { token })).json
    const before = await list(outsider)
    await openCase(true)
    expect((await list(member)).items).toMatchObject([
      { cause: { kind: 'provider_call' }, restriction_id: expect.any(String) },
    ])
    expect((await list(member)).last_30_days.invocations).toBe(1)
    expect(await list(outsider)).toEqual(before)
    // One that is restricted afterwards takes its runs along.
    const investigation_id = await openCase(false)
    expect((await list(outsider)).items).toMatchObject([{ restriction_id: null }])
    const body = { is_restricted: true, people: [], reason: 'Suspicion' }
    const at = `PUT /investigations/${investigation_id}/access`
    expect((await w.call(at, { token: member.token, body })).status).toBe(200)
    expect(await list(outsider)).toEqual(before)
  })

  test('answers 503 after 404, 409 and 424 while the plugin may not run, and sends nothing', async () => {
    const plugin_key = await createPlugin()
    const provider_key = await connect(plugin_key)
    await t.make(`POST /plugins/${plugin_key}/disable`, { body: { reason: 'Looks wrong' } })
    expect((await start(provider_key)).status).toBe(424)
    await storeCredential(provider_key)
    const refused = await start(provider_key)
    expect([refused.status, refused.json]).toMatchObject([
      503,
      { code: 'plugin_invalid', plugin_key, retryable: false },
    ])
    expect(refused.headers['retry-after']).toBeUndefined()
    const unknown = { capability: 'no.such', input: {} }
    expect((await send(`POST /providers/${provider_key}/calls`, unknown)).status).toBe(409)
    expect((await send(`POST /providers/${provider_key}/test`, {})).json.code).toBe('plugin_invalid')
    expect((await t.make('GET /providers/calls')).items).toEqual([])
    await t.make(`POST /plugins/${plugin_key}/enable`, { body: { reason: 'Reviewed' } })
    // It turns invalid between the start of the call and the request.
    const started = await start(provider_key)
    await t.make(`POST /plugins/${plugin_key}/disable`, { body: { reason: 'Again' } })
    const { job, call } = await finish(started.json)
    expect([job.state, job.problem]).toMatchObject(['failed', { code: 'plugin_invalid', plugin_key }])
    expect(call).toMatchObject({
      state: 'failed',
      attempts_made: [{ outcome: 'not_sent', sent_at: null, fault: 'plugin_invalid' }],
    })
    expect(requests).toEqual([])
  })

  test('refuses an input that the plugin does not take, although the provider does', async () => {
    const plugin_key = await createPlugin()
    const provider_key = await connect(plugin_key)
    await storeCredential(provider_key)
    const refused = await start(provider_key, '1'.repeat(21))
    expect([refused.status, refused.json.code, refused.json.errors?.[0].pointer]).toEqual([
      ...[409, 'conflict', '#/input/number'],
    ])
    expect((await t.make('GET /providers/calls')).items).toEqual([])
  })

  test('says in its status why calls are refused', async () => {
    const plugin_key = await createPlugin()
    const provider_key = await connect(plugin_key)
    const refused = async () => (await t.make(`GET /providers/${provider_key}/status`)).refused
    expect(await refused()).toEqual([])
    await t.make(`POST /plugins/${plugin_key}/disable`, { body: { reason: 'Looks wrong' } })
    expect(await refused()).toEqual([
      { capability: expect.any(String), code: 'disabled', message: 'The plugin is disabled: Looks wrong', tool: null },
    ])
  })

  test('keeps a case from being opened as long as no other provider can be asked', async () => {
    const plugin_key = await createPlugin()
    await storeCredential(await connect(plugin_key))
    await t.make(`POST /plugins/${plugin_key}/disable`, { body: { reason: 'Looks wrong' } })
    const input = { number: { value: '00000006' } }
    const step = { key: 'registry', kind: 'provider', with: { capability: 'company.lookup', input }, required: true }
    const definition = {
      ...{ title: 'Registry', subject_types: ['company'], steps: [step], outcomes: ['INV_NO_SUSPICION'] },
    }
    await t.make('POST /playbooks', { body: { playbook_key: 'registry', title: 'Registry', definition } })
    await t.make('POST /playbooks/registry/versions/draft/publish', { body: {} })
    await t.make('POST /playbooks/registry/activations', { body: { version: 1, reason: 'Reviewed' } })
    const { subject_id } = await t.make('POST /subjects', { body: { subject_type: 'company', name: 'Example Ltd' } })
    const open = () => send('POST /investigations', { subject_id, playbook_key: 'registry' })
    const listDependents = async () =>
      (await t.make(`GET /plugins/${plugin_key}/dependents`)).items.map(({ kind }: { kind: string }) => kind)
    const refused = await open()
    expect([refused.status, refused.json]).toMatchObject([503, { code: 'plugin_invalid', plugin_key }])
    expect(await listDependents()).toEqual(['provider', 'playbook'])
    const other = await connect(await createPlugin())
    await storeCredential(other)
    expect(await listDependents()).toEqual(['provider'])
    const opened = await open()
    expect(opened.status).toBe(202)
    await finish({ job_id: opened.json.job_id, resource: `/api/investigations/${opened.json.investigation_id}` })
    expect((await t.make('GET /providers/calls')).items).toMatchObject([{ provider_key: other, state: 'answered' }])
  })

  test('sends nothing where the plugin throws, names another host or asks for a credential that there is none of', async () => {
    const plugin_key = await createPlugin()
    const provider_key = await connect(plugin_key)
    await storeCredential(provider_key)
    for (const [change, reason, detail] of [
      [{ throws: 'request' }, 'threw', 'no request'],
      [{ base: 'https://169.254.169.254' }, 'output_invalid', '169.254.169.254'],
      [{ base: `https://user@${HOST}` }, 'output_invalid', 'credentials'],
      [{ extra: '{credential.other}' }, 'output_invalid', 'placeholder'],
      [{ extra: '{input.number}' }, 'output_invalid', 'placeholder'],
    ] as const) {
      await configure(plugin_key, change)
      const { job, call } = await run(provider_key)
      expect([change, job.problem]).toMatchObject([change, { code: 'plugin_failed', reason }])
      expect(job.problem?.['detail']).toContain(detail)
      expect([change, call.state, call.attempts_made[0].outcome]).toEqual([change, 'failed', 'not_sent'])
    }
    expect(requests).toEqual([])
    expect((await send(`POST /providers/${provider_key}/test`, {})).json.code).toBe('plugin_failed')
    // A credential of its own is filled in, and the plugin has never seen it.
    await configure(plugin_key, { extra: 'key {credential.api_key}' })
    expect((await run(provider_key)).call.state).toBe('answered')
    expect(requests).toMatchObject([{ headers: { 'x-extra': 'key secret-of-registry' } }])
  })

  test('keeps the response where the plugin cannot read it, and asks a person where it may be asked once only', async () => {
    const plugin_key = await createPlugin()
    const free = await connect(plugin_key)
    await storeCredential(free)
    await configure(plugin_key, { throws: 'parse' })
    const failed = await run(free)
    expect(failed.job.problem).toMatchObject({ code: 'plugin_failed', reason: 'threw' })
    expect([failed.call.state, requests.length]).toEqual(['failed', 1])
    const { rows } = {
      rows: await t.write((tx) =>
        tx.query<{ source_kind: string }>('select source_kind from app.source_payload where tenant_id = $1', [
          t.tenant_id,
        ]),
      ),
    }
    expect(rows).toEqual([{ source_kind: 'provider_response' }])
    const once = await connect(plugin_key, { safe: false })
    await storeCredential(once)
    expect((await run(once)).call).toMatchObject({ state: 'outcome_unknown', attempts: 1 })
    expect((await t.make(`GET /plugins/${plugin_key}/invocations`)).items[0]).toMatchObject({ failed: 1 })
  })

  test.each([
    ['a name twice', '{"companyNumber":"1","companyNumber":"00000006","land":"GB"}', '/companyNumber'],
    ['a number that would be rounded', '{"companyNumber":"00000006","land":"GB","id":12345678901234567890}', '/id'],
  ])('quarantines JSON with %s, which the plugin would read as something else', async (_name, text, pointer) => {
    const plugin_key = await createPlugin()
    const provider_key = await connect(plugin_key)
    await storeCredential(provider_key)
    respond = () => ({ body: null, text })
    const { job, call } = await run(provider_key)
    expect([job.state, call.state]).toEqual(['succeeded', 'quarantined'])
    const { items } = await t.make('GET /source-contracts/quarantine')
    expect(items).toMatchObject([{ contract_key: 'company-registry', violations: [{ keyword: 'json', pointer }] }])
    expect((await t.make(`GET /plugins/${plugin_key}/invocations`)).items).toEqual([])
  })

  test('rehearses with fixtures, which the plugin reads too', async () => {
    const plugin_key = await createPlugin()
    const provider_key = await connect(plugin_key)
    await t.make(`PUT /providers/${provider_key}/mode`, { body: { mode: 'fixtures', reason: 'Rehearsal' } })
    const { call } = await run(provider_key, '1')
    expect(call).toMatchObject({ state: 'answered', answer: { source: 'fixture', made_by: { plugin_key } } })
    expect(requests).toEqual([])
    await t.make(`POST /plugins/${plugin_key}/disable`, { body: { reason: 'Looks wrong' } })
    expect((await start(provider_key, '1')).status).toBe(503)
  })

  test('cannot be published before a version of the plugin is in force', async () => {
    const provider_key = `plug-${uuidv7().slice(-12)}`
    const definition = createManifest('no-such-plugin')
    await t.make('POST /providers', { body: { provider_key, title: 'Registry', definition } })
    const { findings } = await t.make(`GET /providers/${provider_key}/versions/draft`)
    expect(findings).toMatchObject([{ code: 'plugin_not_in_force', pointer: '/plugin_key' }])
  })
})
