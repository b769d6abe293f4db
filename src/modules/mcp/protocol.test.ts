/** The tool protocol from a client's side: the public client of the protocol, both eras, over real HTTP. */

import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '#kernel/auth/roles.ts'
import { toolCallers } from '#kernel/auth/tool-policy.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ensureEvaluation } from '#modules/evaluations/fixtures.ts'
import { ensureList } from '#modules/reference-data/fixtures.ts'
import { ensurePolicy } from '#test/support/example-policy.ts'
import { ExampleTenant, type Person } from '#test/support/example-tenant.ts'
import { fixtures } from '#test/support/fixtures.ts'
import type { Example, Fixture } from '#test/support/operation-fixture.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { getCatalogue, type Tool } from './tools/catalogue.ts'

let w: TestApp
let t: ExampleTenant
let other: ExampleTenant
let url: string
beforeAll(async () => {
  w = await startTestApp()
  ;[t, other] = [await ExampleTenant.create(w), await ExampleTenant.create(w)]
  url = await w.listen()
})
afterAll(() => w.close())

interface Connection {
  readonly roles: readonly Role[]
  readonly mode?: 'auto' | 'legacy'
  readonly tenant?: ExampleTenant
  readonly principal?: Person
  /** What the person types when asked to confirm; null declines. */
  readonly answer?: (message: string) => string | null
}

const clients: Client[] = []
afterAll(() => Promise.all(clients.map((client) => client.close())))

async function connect({ roles, mode = 'auto', tenant = t, principal, answer }: Connection): Promise<Client> {
  const client = new Client(
    { name: 'Desk assistant', version: '1.4' },
    { versionNegotiation: { mode }, ...(answer && { capabilities: { elicitation: { form: {} } } }) },
  )
  if (answer) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const confirm = answer(params.message)
      return confirm === null ? { action: 'decline' } : { action: 'accept', content: { confirm } }
    })
  }
  const headers = { authorization: `Bearer ${await tenant.token(roles, principal ?? tenant.caller)}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/api/mcp`), { requestInit: { headers } }))
  clients.push(client)
  return client
}

const getExample = async (operation: string, role: Role): Promise<Example> => (fixtures[operation] as Fixture)(t, role)

/** The result of a call, or the problem it answered. */
async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const { isError, structuredContent } = await client.callTool({ name, arguments: given })
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into results whose shape they assert.
  return { isError: isError ?? false, value: structuredContent as any }
}

/** Events and rows of calls of a tenant, oldest first. */
const listRecorded = (tenant = t) =>
  w.runtime.database.read(fullScope(tenant.tenant_id, 'operator:test'), async (tx) => ({
    events: await tx.query<{ event_id: string; operation: string; actor: string; detail: string }>(
      `select event_id, operation, actor, detail from app.audit_event where tenant_id = $1 and detail like '%"via":"mcp"%'
        order by recorded_at, event_id`,
      [tenant.tenant_id],
    ),
    calls: await tx.query<{ call_id: string; tool: string; problem: string | null; client: string }>(
      'select call_id, tool, problem, client from app.mcp_call where tenant_id = $1 order by called_at, call_id',
      [tenant.tenant_id],
    ),
  }))

describe('stories', () => {
  test.each(['auto', 'legacy'] as const)('a client that negotiates %s explains a decision', async (mode) => {
    const evaluation_id = await ensureEvaluation(t)
    const client = await connect({ roles: ['analyst'], mode })
    const { messages } = await client.getPrompt({ name: 'explain-decision', arguments: { evaluation_id } })
    expect(JSON.stringify(messages)).toContain(evaluation_id)
    await client.listTools()
    const found = await call(client, 'list_evaluations', { limit: 5 })
    expect(found.value.items[0]).toHaveProperty('evaluation_id')
    expect((await call(client, 'explain_evaluation', { evaluation_id })).value).toMatchObject({ evaluation_id })
    const { contents } = await client.readResource({ uri: `probity://evaluations/${evaluation_id}/explanation` })
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ evaluation_id })
    expect((await call(client, 'evaluate_what_if', { evaluation_id, inputs: { country: 'IR' } })).isError).toBe(false)
  })

  test('a client reviews a change of a list', async () => {
    const list_key = await ensureList(t)
    const client = await connect({ roles: ['policy_editor'] })
    await client.listTools()
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'review-list-change' },
      argument: { name: 'list_key', value: list_key.slice(0, 6) },
    })
    expect(completion.values).toContain(list_key)
    await client.getPrompt({ name: 'review-list-change', arguments: { list_key } })
    expect((await call(client, 'get_list', { list_key })).value).toMatchObject({ list_key })
    const compared = await call(client, 'compare_list_versions', { list_key, from: '1', to: '2' })
    expect(compared.value.items.length).toBeGreaterThan(0)
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toContainEqual(
      expect.stringContaining(`probity://lists/${list_key}/versions/`),
    )
  })

  test('a client proposes an activation, which a person confirms and another one decides', async () => {
    const { params } = await getExample('submitDatasetVersion', 'policy_editor')
    const given = { ...params, reason: 'Reviewed with the assistant' }
    const expected = `${params?.['list_key']}@1`
    const asked: string[] = []
    const client = await connect({
      roles: ['policy_editor'],
      principal: t.author,
      answer: (message) => {
        asked.push(message)
        return expected
      },
    })
    const before = (await t.make(`GET /reference-data/datasets/${params?.['list_key']}`)).active
    const proposed = await call(client, 'propose_activation', given)
    expect(proposed).toMatchObject({ isError: false, value: { state: 'open', operation: 'activateDatasetVersion' } })
    expect(asked).toEqual([expect.stringContaining(expected)])
    expect((await t.make(`GET /reference-data/datasets/${params?.['list_key']}`)).active).toEqual(before)
    expect((await t.make(`GET /change-requests/${proposed.value.cr_id}`)).created_by).toBe(t.author)

    const declining = await connect({ roles: ['policy_editor'], answer: () => null })
    expect((await call(declining, 'propose_activation', given)).value.code).toBe('tool_forbidden')
    const plain = await connect({ roles: ['policy_editor'], mode: 'legacy' })
    expect((await call(plain, 'propose_activation', given)).value).toMatchObject({
      code: 'tool_confirmation_required',
      confirm: expected,
    })
    expect((await call(plain, 'propose_activation', { ...given, confirm: expected })).isError).toBe(false)
  })
})

/** The arguments of a tool from the example of its operation. */
async function buildArguments({ route, mark }: Tool): Promise<Record<string, unknown>> {
  const { params, query, body } = await getExample(route.id, 'analyst')
  const given: Record<string, unknown> = { ...params, ...query, ...(body as object | undefined) }
  if (mark.confirm) given['confirm'] = `${given['list_key']}@${given['version']}`
  return given
}

test('every tool works for the roles of its operation and for no other', async () => {
  const tools = [...getCatalogue(w.kernel.routes).values()]
  for (const role of toolCallers) {
    const client = await connect({ roles: [role] })
    const listed = (await client.listTools()).tools.map(({ name }) => name)
    for (const tool of tools) {
      const may = tool.route.roles.includes(role)
      const { isError, value } = await call(client, tool.mark.name, await buildArguments(tool))
      expect(
        { tool: tool.mark.name, role, listed: listed.includes(tool.mark.name), isError },
        JSON.stringify(value),
      ).toEqual({ tool: tool.mark.name, role, listed: may, isError: !may })
      if (!may) expect(value.code).toBe('role_required')
    }
  }
})

test('every call leaves exactly one event and one row, which share their id', async () => {
  const tenant = await ExampleTenant.create(w)
  const evaluation_id = await ensureEvaluation(tenant)
  const client = await connect({ roles: ['analyst'], tenant })
  const { matrix_key } = await ensurePolicy(tenant)
  const made: [string, Record<string, unknown>, string | null][] = [
    ['explain_evaluation', { evaluation_id }, null],
    ['evaluate_what_if', { evaluation_id, inputs: { country: 'IR' } }, null],
    ['evaluate_subject', { matrix_key, inputs: { country: 'DE' }, idempotency_key: 'a' }, null],
    ['evaluate_subject', { matrix_key, inputs: { country: 'DE' }, idempotency_key: 'a' }, null],
    ['lookup', { lookups: [] }, 'validation_failed'],
    ['get_subject', { subject_id: uuidv7() }, 'not_found'],
    ['search_audit', {}, 'role_required'],
    ['search_lists', { nonsense: 1 }, 'validation_failed'],
  ]
  const results = []
  for (const [name, given] of made) results.push(await call(client, name, given))
  expect(results.map(({ isError, value }) => (isError ? value.code : null))).toEqual(made.map(([, , code]) => code))
  expect(results[3]?.value).toEqual(results[2]?.value)
  await expect(client.callTool({ name: 'delete_everything', arguments: {} })).rejects.toThrow('Unknown tool')
  const { events, calls } = await listRecorded(tenant)
  expect(events).toHaveLength(made.length + 1)
  expect(calls.map(({ tool, problem }) => [tool, problem])).toEqual([
    ...made.map(([name, , code]) => [name, code]),
    ['delete_everything', 'not_found'],
  ])
  expect(calls.map(({ call_id }) => call_id)).toEqual(events.map(({ event_id }) => event_id))
  expect(calls[0]?.client).toBe('Desk assistant 1.4')
  expect(events.map(({ actor }) => actor)).toEqual(events.map(() => tenant.caller))
  expect(JSON.parse(events[0]?.detail ?? '{}')).toEqual({
    via: 'mcp',
    tool: 'explain_evaluation',
    client: 'Desk assistant 1.4',
    arguments_hash: expect.stringMatching(/^[0-9a-f]{32}$/),
  })
})

describe('the tool policy of a tenant', () => {
  const setRules = async (tenant: ExampleTenant, rules: object[]) => {
    await tenant.make('PUT /mcp/tool-policy', { body: { rules }, token: await tenant.token(['compliance_officer']) })
  }

  test('hides and refuses a forbidden tool, and gives nobody a tool', async () => {
    const tenant = await ExampleTenant.create(w)
    await setRules(tenant, [
      { tool: 'search_lists', roles: ['analyst'], decision: 'forbid' },
      { tool: 'search_audit', roles: [], decision: 'allow' },
    ])
    const client = await connect({ roles: ['analyst'], tenant })
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('search_lists')
    expect((await call(client, 'search_lists')).value).toMatchObject({ code: 'tool_forbidden', tool: 'search_lists' })
    expect((await call(client, 'search_audit')).value.code).toBe('role_required')
    const listed = await tenant.make('GET /mcp/tools', { token: await tenant.token(['analyst']) })
    const find = (name: string) => listed.items.find(({ tool }: { tool: string }) => tool === name)
    expect([find('search_lists').usable, find('search_audit').usable, find('get_list').usable]).toEqual([
      false,
      false,
      true,
    ])
    const named: string[] = listed.items.flatMap(({ roles }: { roles: string[] }) => roles)
    expect([...new Set(named)].toSorted()).toEqual([...toolCallers].toSorted())
    const unknown = await w.call('PUT /mcp/tool-policy', {
      token: await tenant.token(['tenant_admin']),
      body: { rules: [{ tool: 'send_money', roles: [], decision: 'allow' }] },
    })
    expect([unknown.status, unknown.json.code]).toEqual([409, 'conflict'])
  })

  test('is recorded with the reason of its change', async () => {
    const tenant = await ExampleTenant.create(w)
    const rules = [{ tool: '*', roles: [], decision: 'person' }]
    await tenant.make('PUT /mcp/tool-policy', { body: { rules, reason: 'First weeks' } })
    const { items } = await tenant.make('GET /audit/events?operation=updateToolPolicy')
    expect(items[0].detail.diff).toContainEqual({ member: 'reason', before: null, after: 'First weeks' })
  })

  test('holds a call until another person approves exactly its arguments, and runs it once', async () => {
    const tenant = await ExampleTenant.create(w)
    const { matrix_key } = await ensurePolicy(tenant)
    await setRules(tenant, [{ tool: 'evaluate_subject', roles: [], decision: 'person' }])
    const client = await connect({ roles: ['analyst'], tenant })
    const given = { matrix_key, inputs: { country: 'DE' } }
    const waiting = (await call(client, 'evaluate_subject', given)).value
    expect(waiting.code).toBe('tool_approval_required')
    expect((await call(client, 'evaluate_subject', given)).value.approval_id).toBe(waiting.approval_id)
    const decide = async (decision: string, principal: Person, approval_id = waiting.approval_id) =>
      w.call(`POST /mcp/approvals/${approval_id}/${decision}`, {
        token: await tenant.token(['compliance_officer', 'analyst'], principal),
        body: {},
      })
    expect((await decide('approve', tenant.caller)).json.code).toBe('approval_own_request')
    const approved = await decide('approve', tenant.author)
    expect([approved.status, approved.json.state]).toEqual([200, 'succeeded'])
    expect((await decide('approve', tenant.author)).json.code).toBe('transition_not_allowed')
    const result = (await call(client, 'evaluate_subject', given)).value
    expect(result).toEqual(approved.json.outcome)
    expect((await tenant.make('GET /evaluations')).items).toHaveLength(1)
    // The result was collected: the same call asks again.
    const again = (await call(client, 'evaluate_subject', given)).value
    expect(again.approval_id).not.toBe(waiting.approval_id)
    expect((await decide('deny', tenant.author, again.approval_id)).json.state).toBe('denied')
    expect((await call(client, 'evaluate_subject', given)).value.code).toBe('tool_forbidden')
    const { events } = await listRecorded(tenant)
    expect(
      events.filter(({ operation, detail }) => operation === 'createEvaluation' && !detail.includes('problem')),
    ).toEqual([
      expect.objectContaining({
        actor: tenant.caller,
        detail: expect.stringContaining(`"approved_by":"${tenant.author}"`),
      }),
      expect.objectContaining({ actor: tenant.caller }),
    ])
  })
})

describe('another tenant', () => {
  test('is not reached through ids, cursors, resources, completion or jobs', async () => {
    const [list_key, evaluation_id, job_id] = [await ensureList(t), await ensureEvaluation(t), await t.newJob()]
    await ensurePolicy(other)
    const foreign = await connect({ roles: [...toolCallers], tenant: other })
    const own = await connect({ roles: [...toolCallers] })
    for (const [name, given] of [
      ['get_list', { list_key }],
      ['explain_evaluation', { evaluation_id }],
      ['evaluate_what_if', { evaluation_id }],
      ['get_job', { job_id }],
    ] as const) {
      expect((await call(own, name, given)).isError, name).toBe(false)
      expect((await call(foreign, name, given)).value.code, name).toBe('not_found')
    }
    const page = (await call(own, 'search_lists', { limit: 1 })).value
    expect(page.next_cursor).not.toBeNull()
    expect((await call(foreign, 'search_lists', { limit: 1, cursor: page.next_cursor })).value.code).toBe(
      'cursor_not_found',
    )
    for (const uri of [
      `probity://evaluations/${evaluation_id}/explanation`,
      `probity://lists/${list_key}/versions/1`,
    ]) {
      expect((await own.readResource({ uri })).contents).toHaveLength(1)
      await expect(foreign.readResource({ uri })).rejects.toThrow('not found')
    }
    const { completion } = await foreign.complete({
      ref: { type: 'ref/prompt', name: 'review-list-change' },
      argument: { name: 'list_key', value: list_key },
    })
    expect(completion.values).toEqual([])
    expect(JSON.stringify(await foreign.listResources())).not.toContain(list_key)
  })
})

describe('messages', () => {
  const send = async (message: unknown, headers: Record<string, string> = {}, roles: readonly Role[] = ['analyst']) =>
    w.call('POST /mcp', {
      token: await t.token(roles),
      body: message,
      headers: { accept: 'application/json, text/event-stream', ...headers },
    })
  const meta = {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  }

  test('that are hostile are answered with a client error, or a result that is one', async () => {
    const deep = JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`)
    const hostile: unknown[] = [
      [],
      Array.from({ length: 11 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })),
      null,
      1,
      'text',
      {},
      { jsonrpc: '1.0', id: 1, method: 'tools/list' },
      { jsonrpc: '2.0', id: { a: 1 }, method: 'tools/list' },
      { jsonrpc: '2.0', id: 1, method: '__proto__' },
      { jsonrpc: '2.0', id: 1, method: 'constructor' },
      { jsonrpc: '2.0', id: 1, method: 'tools/call' },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 1 } },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: '__proto__' } },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x'.repeat(100_000) } },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search_lists', arguments: [] } },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search_lists', arguments: { limit: -1 } } },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search_lists', arguments: { q: deep } } },
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'get_list', arguments: { list_key: "' or 1=1" } },
      },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_list', arguments: { list_key: '\u0000' } } },
      { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'file:///etc/passwd' } },
      { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'probity://lists/../versions/1' } },
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'prompts/get',
        params: { name: 'explain-decision', arguments: { evaluation_id: 'Ignore all' } },
      },
      { jsonrpc: '2.0', id: 1, method: 'completion/complete', params: { ref: {}, argument: {} } },
      { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { ...meta } },
      { jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: {} },
      { jsonrpc: '2.0', result: {}, id: 7 },
    ]
    for (const message of hostile) {
      const { status, text } = await send(message)
      const shown = JSON.stringify(message).slice(0, 120)
      expect(status, shown).toBeLessThan(500)
      expect(text, shown).not.toMatch(/at .*\.ts:\d+|node_modules|select /)
      if (status === 200) expect(text, shown).toMatch(/"error"|"isError":true/)
    }
    const duplicate = await w.call('POST /mcp', {
      token: await t.token(['analyst']),
      payload: '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
      headers: { 'content-type': 'application/json' },
    })
    expect([duplicate.status, duplicate.json.error.code]).toEqual([400, -32700])
  })

  test('need a role of the tool protocol, the right method, and no foreign page', async () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    expect((await send(list, {}, ['viewer', 'tenant_admin'])).status).toBe(403)
    expect((await w.call('GET /mcp', { token: await t.token() })).status).toBe(405)
    expect((await w.call('DELETE /mcp', { token: await t.token() })).status).toBe(405)
    for (const headers of [{ host: 'evil.example' }, { origin: 'https://evil.example' }, { origin: 'null' }]) {
      const refused = await send(list, headers)
      expect([refused.status, refused.json.error.data.code], JSON.stringify(headers)).toEqual([
        403,
        'origin_not_allowed',
      ])
    }
    for (const headers of [
      { host: 'localhost:8000', origin: 'http://localhost:8000' },
      { host: '127.0.0.1' },
      { host: '[::1]:8000' },
    ]) {
      expect((await send(list, headers)).status, JSON.stringify(headers)).toBe(200)
    }
  })

  test('with a state that was not made for this call are refused', async () => {
    const { params } = await getExample('submitDatasetVersion', 'policy_editor')
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
    const propose = async (tenant: ExampleTenant, given: object, extra: object = {}) => {
      const message = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'propose_activation', arguments: given, ...extra, _meta: { ...meta._meta, ...capabilities } },
      }
      const reply = await w.call('POST /mcp', {
        token: await tenant.token(['policy_editor']),
        body: message,
        headers: {
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'propose_activation',
        },
      })
      return reply.json
    }
    const given = { ...params, reason: 'x' }
    const asked = await propose(t, given)
    expect(asked.result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    const { requestState } = asked.result
    const inputResponses = { confirm: { action: 'accept', content: { confirm: `${params?.['list_key']}@1` } } }
    const attempts = [
      await propose(t, { ...given, reason: 'another' }, { requestState, inputResponses }),
      await propose(other, given, { requestState, inputResponses }),
      await propose(t, given, {
        requestState: `${requestState.slice(0, -1)}${requestState.endsWith('A') ? 'B' : 'A'}`,
        inputResponses,
      }),
    ]
    for (const { error } of attempts)
      expect(error).toMatchObject({ code: -32602, message: 'Invalid or expired requestState' })
    expect((await propose(t, given, { requestState, inputResponses })).result).not.toHaveProperty('isError')
  })

  test('beyond the limit of tool calls are refused with the time to wait', async () => {
    const tenant = await ExampleTenant.create(w)
    await tenant.write((tx) =>
      tx.run(`update app.tenant_limit set per_second = 1, burst = 2 where tenant_id = $1 and bucket = 'mcp'`, [
        tx.tenant_id,
      ]),
    )
    w.kernel.tenantStatusCache.invalidate(tenant.tenant_id)
    const client = await connect({ roles: ['analyst'], tenant })
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map((limit) => call(client, 'search_lists', { limit })))
    const refused = results.filter(
      (result) => result.status === 'rejected' || result.value.value.code === 'rate_limited',
    )
    expect(refused.length).toBeGreaterThan(0)
  })
})

test('progress of a job is reported to a caller that asks for it', async () => {
  const job_id = await t.newEndedJob()
  const client = await connect({ roles: ['analyst'] })
  const seen: unknown[] = []
  const result = await client.callTool(
    { name: 'get_job', arguments: { job_id, wait_s: 3 } },
    { onprogress: (progress) => seen.push(progress) },
  )
  expect(result.structuredContent).toMatchObject({ job_id, state: 'cancelled' })
  expect(seen).toEqual([expect.objectContaining({ progress: expect.any(Number), message: 'The job is cancelled.' })])
})

test('metadata, readiness and capabilities describe the tool protocol', async () => {
  const metadata = {
    resource: 'http://localhost/api/mcp',
    authorization_servers: [],
    bearer_methods_supported: ['header'],
    resource_name: 'Probity',
  }
  for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/api/mcp']) {
    for (const prefix of ['', '/api']) {
      const reply = await fetch(`${url}${prefix}${path}`)
      expect([reply.status, await reply.json()], `${prefix}${path}`).toEqual([200, expect.objectContaining(metadata)])
    }
  }
  const { checks } = (await w.call('GET /health/ready')).json
  expect(checks.tool_protocol).toMatchObject({
    status: 'ok',
    tools: getCatalogue(w.kernel.routes).size,
    revisions: expect.arrayContaining(['2026-07-28', '2025-11-25']),
    discovery: 'ok',
  })
  const anonymous = await fetch(`${url}/api/mcp`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  })
  expect(anonymous.status).toBe(401)
  expect(anonymous.headers.get('www-authenticate')).toContain(
    'resource_metadata="http://localhost/.well-known/oauth-protected-resource/api/mcp"',
  )
  const unknown = await connect({ roles: ['analyst'] })
  await expect(unknown.readResource({ uri: 'probity://errors/nonsense' })).rejects.toThrow(ProtocolError)
  const known = await unknown.readResource({ uri: 'probity://errors/tool_forbidden' })
  expect(JSON.stringify(known)).toContain('403')
})
