/** The tool protocol from a client's side: the public client of the protocol, both eras, over real HTTP. */
import fs from 'node:fs'
import path from 'node:path'
import { type Client, ProtocolError } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Role } from '#kernel/auth/roles.ts'
import { optInTools, toolCallers } from '#kernel/auth/tool-policy.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ensureEvaluation } from '#modules/evaluations/fixtures.ts'
import { ensureList } from '#modules/reference-data/fixtures.ts'
import { projectRoot } from '#test/support/database.ts'
import { ensurePolicy } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { fixtures } from '#test/support/fixtures.ts'
import type { Example, Fixture } from '#test/support/operation-fixture.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import {
  type Connection,
  callTool as call,
  connectClient,
  hostileMessages,
  listRecordedCalls,
  MODERN_META,
} from '#test/support/tool-client.ts'
import { getCatalogue, type Tool } from './tools/catalogue.ts'

let w: TestApp
let t: ExampleTenant
let other: ExampleTenant
let url: string
beforeAll(async () => {
  w = await shareTestApp()
  ;[t, other] = [await ExampleTenant.create(w), await ExampleTenant.create(w)]
  url = await w.listen()
})
afterAll(() => w.close())

const clients: Client[] = []
afterAll(() => Promise.all(clients.map((client) => client.close())))

async function connect({
  tenant = t,
  ...connection
}: Connection & { readonly tenant?: ExampleTenant }): Promise<Client> {
  const token = await tenant.token(connection.roles, connection.principal ?? tenant.caller)
  const client = await connectClient(url, token, connection)
  clients.push(client)
  return client
}

const getExample = async (operation: string, role: Role): Promise<Example> => (fixtures[operation] as Fixture)(t, role)

describe('stories', () => {
  test.each(['auto', 'legacy'] as const)('a client that negotiates %s explains a decision', async (mode) => {
    const evaluation_id = await ensureEvaluation(t)
    const client = await connect({ roles: ['analyst'], mode })
    const { messages } = await client.getPrompt({ name: 'explain-decision', arguments: { evaluation_id } })
    expect(JSON.stringify(messages)).toContain(evaluation_id)
    await client.listTools()
    const found = await call(client, 'list_evaluations', { limit: 5 })
    expect(found.value.items[0]).toHaveProperty('evaluation_id')
    const { value } = await call(client, 'explain_evaluation', { evaluation_id })
    const { definition, lists, plugins } = await t.make(`GET /evaluations/${evaluation_id}`)
    expect(lists.length).toBeGreaterThan(0)
    expect(value).toMatchObject({ evaluation_id, definition, lists, plugins })
    // The prompt names the members that hold the versions.
    for (const member of ['definition', 'lists', 'plugins']) expect(JSON.stringify(messages)).toContain(`\`${member}\``)
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
    // The person sees all of what is proposed.
    expect(asked[0]).toContain('In force from: the moment it is approved\nReason: “Reviewed with the assistant”')
    expect((await t.make(`GET /reference-data/datasets/${params?.['list_key']}`)).active).toEqual(before)
    expect(await t.make(`GET /change-requests/${proposed.value.cr_id}`)).toMatchObject({
      ...{ created_by: t.author, via: 'mcp', client: 'Desk assistant 1.4' },
    })
    expect(proposed.value).not.toHaveProperty('existing')
    const again = await call(client, 'propose_activation', given)
    expect(again.value).toEqual({ ...proposed.value, existing: true })

    const declining = await connect({ roles: ['policy_editor'], answer: () => null })
    expect((await call(declining, 'propose_activation', given)).value.code).toBe('tool_declined')
    const plain = await connect({ roles: ['policy_editor'], mode: 'legacy' })
    expect((await call(plain, 'propose_activation', given)).value).toMatchObject({
      code: 'tool_confirmation_required',
      confirm: expected,
    })
    const { value } = await call(plain, 'propose_activation', { ...given, confirm: expected })
    // It said its name when it began, and not since.
    expect(value).toMatchObject({ state: 'open', via: 'mcp', client: 'Desk assistant 1.4' })
    const token = await t.token(['compliance_officer'], t.author)
    expect((await w.call(`POST /change-requests/${value.cr_id}/approve`, { token, body: {} })).status).toBe(200)
    const { items } = await t.make(`GET /audit/events?operation=activateDatasetVersion&limit=200`)
    expect(items.map(({ detail }: { detail: object }) => detail)).toContainEqual(
      expect.objectContaining({ executed: value.cr_id, proposed_via: 'mcp', proposed_with: 'Desk assistant 1.4' }),
    )
  })

  test.each([
    ['no id', undefined],
    ['an id of another form', 'abc'],
    ['an id whose name is not plain', `${uuidv7()}.${Buffer.from('a\u0000b').toString('base64url')}`],
  ])('a client of 2025 that sends %s is named by its user agent', async (_, id) => {
    const tenant = await ExampleTenant.create(w)
    const reply = await w.call('POST /mcp', {
      token: await tenant.token(['analyst']),
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search_lists', arguments: { limit: 1 } } },
      headers: {
        ...{ accept: 'application/json, text/event-stream', 'user-agent': 'plain/1' },
        ...(id !== undefined && { 'mcp-session-id': id }),
      },
    })
    expect(reply.status).toBe(200)
    expect((await listRecordedCalls(w, tenant)).calls.map(({ client }) => client)).toEqual(['plain/1'])
  })
})

/** The arguments of a tool from the example of its operation. */
async function buildArguments({ route, mark }: Tool): Promise<Record<string, unknown>> {
  const { params, query, body } = await getExample(route.id, 'analyst')
  const given: Record<string, unknown> = { ...params, ...query, ...(body as object | undefined) }
  if (mark.confirm) given['confirm'] = `${given['list_key']}@${given['version']}`
  return given
}

/** Turns on the tools that no tenant has by default. */
const turnOn = (tenant: ExampleTenant) =>
  tenant.make('PUT /mcp/tool-policy', {
    body: { rules: [...optInTools].map((tool) => ({ tool, roles: [], decision: 'allow' })) },
  })

test('every tool works for the roles of its operation and for no other', async () => {
  await turnOn(t)
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
  const { events, calls } = await listRecordedCalls(w, tenant)
  expect(events).toHaveLength(made.length + 1)
  expect(calls.map(({ tool, problem }) => [tool, problem])).toEqual([
    ...made.map(([name, , code]) => [name, code]),
    ['unknown-tool', 'not_found'],
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

  test('that are hostile are answered with a client error, or a result that is one', async () => {
    for (const message of hostileMessages) {
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
        params: { name: 'propose_activation', arguments: given, ...extra, _meta: { ...MODERN_META, ...capabilities } },
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

test('calls at the same time leave one event and one row each, refused ones included', async () => {
  const tenant = await ExampleTenant.create(w)
  const list_key = await ensureList(tenant)
  const client = await connect({ roles: ['analyst'], tenant, mode: 'legacy' })
  const keys = Array.from({ length: 12 }, (_, number) => (number % 3 === 0 ? `missing-${number}` : list_key))
  const results = await Promise.all(keys.map((key) => call(client, 'get_list', { list_key: key })))
  expect(results.map(({ isError }) => isError)).toEqual(keys.map((key) => key !== list_key))
  const { events, calls } = await listRecordedCalls(w, tenant)
  expect(calls.map(({ problem }) => problem).toSorted()).toEqual([
    ...Array.from({ length: 4 }, () => 'not_found'),
    ...Array.from({ length: 8 }, () => null),
  ])
  expect(calls.map(({ call_id }) => call_id).toSorted()).toEqual(events.map(({ event_id }) => event_id).toSorted())
})

test.each(['auto', 'legacy'] as const)(
  'progress of a job is reported to a caller (%s) that asks for it',
  async (mode) => {
    const job_id = await t.newEndedJob()
    const client = await connect({ roles: ['analyst'], mode })
    const seen: unknown[] = []
    const result = await client.callTool(
      { name: 'get_job', arguments: { job_id, wait_s: 3 } },
      { onprogress: (progress) => seen.push(progress) },
    )
    expect(result.structuredContent).toMatchObject({ job_id, state: 'cancelled' })
    expect(seen).toEqual([expect.objectContaining({ progress: expect.any(Number), message: 'The job is cancelled.' })])
  },
)

test('metadata, readiness and capabilities describe the tool protocol', async () => {
  const metadata = {
    resource: 'http://localhost/api/mcp',
    scopes_supported: [...toolCallers],
    bearer_methods_supported: ['header'],
    resource_name: 'Probity',
  }
  for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/api/mcp']) {
    for (const prefix of ['', '/api']) {
      const reply = await fetch(`${url}${prefix}${path}`)
      expect([reply.status, await reply.json()], `${prefix}${path}`).toEqual([200, expect.objectContaining(metadata)])
    }
  }
  const readCheck = async () => (await w.call('GET /health/ready')).json.checks.tool_protocol
  // The first check compiles all schemas, which may take longer than a caller waits.
  await vi.waitUntil(async () => (await readCheck()).status === 'ok', { timeout: 60_000 })
  const guide = fs.readFileSync(path.join(projectRoot, 'docs/mcp.md'), 'utf8')
  const missing = (await readCheck()).revisions.filter((revision: string) => !guide.includes(revision))
  expect(missing).toEqual([])
  expect(await readCheck()).toMatchObject({
    status: 'ok',
    tools: getCatalogue(w.kernel.routes).size,
    revisions: expect.arrayContaining(['2026-07-28', '2025-11-25']),
    // The address is stated, and only the built-in issuer, which has no sign-in, is configured.
    discovery: 'no_issuer',
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
