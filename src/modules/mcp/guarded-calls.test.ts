/** What keeps a tool call safe: the policy on everything that reads, what is recorded, confirmations and approvals. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Role } from '#kernel/auth/roles.ts'
import { tryLockIdempotencyKey } from '#kernel/request/queries.ts'
import { ensureEvaluation } from '#modules/evaluations/fixtures.ts'
import { ensureList } from '#modules/reference-data/fixtures.ts'
import { ensurePolicy } from '#test/support/example-policy.ts'
import { ExampleTenant, type Person } from '#test/support/example-tenant.ts'
import { fixtures } from '#test/support/fixtures.ts'
import type { Fixture } from '#test/support/operation-fixture.ts'
import { createPluginMatrix } from '#test/support/plugin-matrix.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { resourceKinds } from './server/resources.ts'
import { getCatalogue } from './tools/catalogue.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await startTestApp()
})
beforeEach(async () => {
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

interface Answer {
  readonly result?: {
    readonly isError?: boolean
    readonly structuredContent?: Readonly<Record<string, unknown>>
    readonly requestState?: string
    readonly [member: string]: unknown
  }
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: Readonly<Record<string, unknown>>
  }
}

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'Desk\u202eassistant', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
}

interface Sending {
  readonly roles?: readonly Role[]
  readonly headers?: Readonly<Record<string, string>>
}

async function send(method: string, params: object, { roles = ['analyst'], headers = {} }: Sending = {}) {
  const { json } = await w.call('POST /mcp', {
    token: await t.token(roles),
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: { accept: 'application/json, text/event-stream', ...headers },
  })
  return json as Answer
}

const call = async (name: string, given: unknown = {}, roles: readonly Role[] = ['analyst']) => {
  const answer = await send('tools/call', { name, arguments: given }, { roles })
  return answer.result?.structuredContent ?? { error: answer.error }
}

const read = (uri: string) => send('resources/read', { uri })

const setRules = (rules: object[]) => t.make('PUT /mcp/tool-policy', { body: { rules } })
const everyTool = (decision: string) => setRules([{ tool: '*', roles: [], decision }])

/** Rows of the call log, oldest first, each with the event of the same id. */
const listRecorded = () =>
  t.write((tx) =>
    tx.query<{ tool: string; operation: string | null; problem: string | null; client: string; detail: string }>(
      `select c.tool, c.operation, c.problem, c.client, e.detail from app.mcp_call c
         join app.audit_event e on e.tenant_id = c.tenant_id and e.event_id = c.call_id
        where c.tenant_id = $1 order by c.called_at, c.call_id`,
      [t.tenant_id],
    ),
  )
const listProblems = async () => (await listRecorded()).map(({ tool, problem }) => [tool, problem])

describe('the tool policy', () => {
  test('names tools that exist for every resource', () => {
    const tools = getCatalogue(w.kernel.routes)
    expect(resourceKinds.flatMap((kind) => kind.tools.filter((tool) => !tools.has(tool)))).toEqual([])
  })

  test.each([
    ['forbid', undefined],
    ['person', expect.stringContaining('Call the tool')],
  ])(
    'that says %s to every tool keeps resources, lists of them, completion and prompts back',
    async (decision, detail) => {
      const [evaluation_id, list_key] = [await ensureEvaluation(t), await ensureList(t)]
      const uris = [
        [`probity://evaluations/${evaluation_id}/explanation`, 'explain_evaluation', 'getEvaluationExplanation'],
        [`probity://lists/${list_key}/versions/1`, 'get_list', 'getDatasetVersion'],
        ['probity://matrices/any', 'get_matrix', 'getRiskMatrix'],
      ] as const
      const completion = {
        ref: { type: 'ref/prompt', name: 'review-list-change' },
        argument: { name: 'list_key', value: list_key },
      }
      const prompt = { name: 'explain-decision', arguments: { evaluation_id } }
      expect((await read(uris[0][0])).error).toBeUndefined()
      expect((await send('resources/list', {})).result?.['resources']).not.toEqual([])
      expect((await send('completion/complete', completion)).result?.['completion']).toMatchObject({
        values: [list_key],
      })
      const before = (await listRecorded()).length
      await everyTool(decision)
      for (const [uri, tool] of uris) {
        expect((await read(uri)).error, uri).toMatchObject({
          code: -32602,
          data: { code: 'tool_forbidden', tool, ...(detail && { detail }) },
        })
      }
      expect((await send('resources/list', {})).result?.['resources']).toEqual([])
      expect((await send('resources/templates/list', {})).result?.['resourceTemplates']).toMatchObject([
        { name: 'tool' },
        { name: 'error' },
      ])
      expect((await send('completion/complete', completion)).result?.['completion']).toMatchObject({ values: [] })
      // A prompt only names tools, and those may be called where a person approves each call.
      const prompts = decision === 'person' ? 2 : 0
      expect((await send('prompts/list', {})).result?.['prompts']).toHaveLength(prompts)
      expect((await send('prompts/get', prompt)).error?.data?.['code']).toBe(prompts ? undefined : 'tool_forbidden')
      expect((await read('probity://errors/tool_forbidden')).error).toBeUndefined()
      const recorded = (await listRecorded()).slice(before)
      expect(recorded.map(({ tool, operation, problem }) => [tool, operation, problem])).toEqual(
        uris.map(([, tool, operation]) => [tool, operation, 'tool_forbidden']),
      )
    },
  )

  test('of one tool keeps only its data back', async () => {
    const list_key = await ensureList(t)
    await setRules([{ tool: 'list_entries', roles: [], decision: 'forbid' }])
    expect((await read(`probity://lists/${list_key}/versions/1`)).error?.data).toMatchObject({ tool: 'list_entries' })
    const resources = JSON.stringify((await send('resources/list', {})).result?.['resources'])
    expect(resources).not.toContain('probity://lists/')
    expect((await call('get_list', { list_key }))['list_key']).toBe(list_key)
  })

  test('of explanations holds for what-if questions too, which answer with the stored inputs', async () => {
    const evaluation_id = await ensureEvaluation(t)
    const ask = async () => (await call('evaluate_what_if', { evaluation_id, inputs: {} }))['code']
    await setRules([{ tool: 'explain_evaluation', roles: [], decision: 'forbid' }])
    expect(await ask()).toBe('tool_forbidden')
    await setRules([{ tool: 'explain_evaluation', roles: [], decision: 'person' }])
    expect(await ask()).toBe('tool_approval_required')
    await setRules([{ tool: 'evaluate_what_if', roles: [], decision: 'forbid' }])
    expect(await ask()).toBe('tool_forbidden')
    expect((await call('explain_evaluation', { evaluation_id }))['code']).toBeUndefined()
  })

  test('is loosened by two people where activations need two, and made stricter by one', async () => {
    await t.setApprovalRules([{ action: 'activation', approvers: 1, role: 'compliance_officer' }])
    const put = async (rules: object[]) =>
      (await w.call('PUT /mcp/tool-policy', { token: await t.token(['compliance_officer']), body: { rules } })).status
    expect(await put([{ tool: '*', roles: [], decision: 'person' }])).toBe(200)
    expect(await put([{ tool: '*', roles: [], decision: 'forbid' }])).toBe(200)
    expect(await put([])).toBe(202)
    expect((await call('search_lists'))['code']).toBe('tool_forbidden')
  })

  test('has another ETag after its first change, also when two changes arrive at once', async () => {
    const token = await t.token(['compliance_officer'])
    const get = () => w.call('GET /mcp/tool-policy', { token })
    const put = (decision: string, etag: string) =>
      w.call('PUT /mcp/tool-policy', {
        token,
        body: { rules: [{ tool: '*', roles: [], decision }] },
        headers: { 'if-match': etag },
      })
    const none = (await get()).headers['etag'] as string
    const statuses = (await Promise.all([put('forbid', none), put('allow', none)])).map(({ status }) => status)
    expect(statuses.toSorted()[0]).toBe(200)
    expect([409, 412]).toContain(statuses.toSorted()[1])
    const first = (await get()).headers['etag'] as string
    expect(first).not.toBe(none)
    expect((await put('person', none)).status).toBe(412)
    expect((await put('person', first)).status).toBe(200)
  })
})

describe('what is recorded', () => {
  test('are reads without a tool, with their URI or method', async () => {
    const evaluation_id = await ensureEvaluation(t)
    const uri = `probity://evaluations/${evaluation_id}/explanation`
    await read(uri)
    await call('explain_evaluation', { evaluation_id })
    await read('file:///etc/passwd')
    await send('resources/list', {})
    const recorded = (await listRecorded()).map(({ tool, problem, detail }) => [tool, problem, JSON.parse(detail)])
    expect(recorded).toEqual([
      ['explain_evaluation', null, expect.objectContaining({ via: 'mcp', resource: uri })],
      ['explain_evaluation', null, expect.not.objectContaining({ resource: expect.anything() })],
      ['resources/read', 'not_found', expect.objectContaining({ problem: 'not_found' })],
      ['search_lists', null, expect.objectContaining({ resource: 'resources/list' })],
      ['get_matrix', null, expect.objectContaining({ resource: 'resources/list' })],
    ])
    // The same data under the same arguments.
    expect(recorded[0]?.[2].arguments_hash).toBe(recorded[1]?.[2].arguments_hash)
  })

  test('are calls whose parameters cannot be read; the answer says so without the text of the library', async () => {
    for (const given of [[1], null, 'text']) {
      const { error } = await send('tools/call', { name: 'search_lists', arguments: given })
      expect(error, JSON.stringify(given)).toMatchObject({
        code: -32602,
        message: 'Invalid params',
        data: { code: 'malformed_request' },
      })
    }
    expect((await send('tools/call', { arguments: {} })).error?.message).toBe('Invalid params')
    expect((await send('resources/read', {})).error).toMatchObject({ code: -32602, message: 'Invalid params' })
    expect(await listProblems()).toEqual([
      ...[1, 2, 3].map(() => ['search_lists', 'malformed_request']),
      ['tools/call', 'malformed_request'],
      ['resources/read', 'malformed_request'],
    ])
  })

  test('are names that no tool has, without their text: a record is never erased', async () => {
    const unknown_name = 'look up Zyxwvut Qponmlk'
    expect((await call(unknown_name))['error']).toMatchObject({
      code: -32602,
      message: `Unknown tool: ${unknown_name}`,
    })
    await send('tools/call', { name: unknown_name, arguments: 'text' })
    expect(await listProblems()).toEqual([
      ['unknown-tool', 'not_found'],
      ['unknown-tool', 'malformed_request'],
    ])
    expect(JSON.stringify(await listRecorded())).not.toContain('Zyxwvut')
  })

  test('are resources that exist; of one that does not, the kind: a key may be any text', async () => {
    await read('probity://matrices/zyxwvut-qponmlk')
    await read('probity://lists/zyxwvut-qponmlk/versions/1')
    await everyTool('forbid')
    await read('probity://matrices/zyxwvut-qponmlk')
    const recorded = await listRecorded()
    expect(recorded.map(({ problem, detail }) => [problem, JSON.parse(detail).resource])).toEqual([
      ['not_found', 'probity://matrices/{matrix_key}'],
      ['not_found', 'probity://lists/{list_key}/versions/{version}'],
      ['tool_forbidden', 'probity://matrices/{matrix_key}'],
    ])
    expect(JSON.stringify(recorded)).not.toContain('zyxwvut')
  })

  test('are names that no table can hold, and names that would be shown as others', async () => {
    const unknown = await send('tools/call', { name: 'a\u0000b\u202ec', arguments: {} })
    expect(unknown.error).toMatchObject({ code: -32602, message: 'Unknown tool: a\\u{0}b\\u{202e}c' })
    expect(await listProblems()).toEqual([['unknown-tool', 'not_found']])
    await send(
      'tools/call',
      { name: 'search_lists', arguments: {}, _meta: MODERN },
      { headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'search_lists' } },
    )
    expect((await listRecorded()).at(-1)?.client).toBe('Desk\ufffdassistant 1')
  })

  test('are calls that fail in a way nobody expected, and nothing of the cause is sent', async () => {
    await setRules([{ tool: 'search_lists', roles: [], decision: 'person' }])
    const owner = new pg.Client(w.clone.postgres)
    await owner.connect()
    const rename = (from: string, to: string) => owner.query(`alter table app.${from} rename to ${to}`)
    await rename('mcp_approval', 'mcp_approval_gone')
    try {
      const answer = await call('search_lists', {})
      expect(answer).toMatchObject({ code: 'internal', status: 500 })
      expect(JSON.stringify(answer)).not.toMatch(/mcp_approval|relation/)
    } finally {
      await rename('mcp_approval_gone', 'mcp_approval')
      await owner.end()
    }
    expect(await listProblems()).toEqual([['search_lists', 'internal']])
  })
})

describe('arguments that can never be valid', () => {
  test('are refused before a person is asked to approve them', async () => {
    await everyTool('person')
    expect((await call('search_lists', { limit: 'abc' }))['code']).toBe('validation_failed')
    expect((await call('get_list', { list_key: 'a\u0000b' }))['code']).toBe('validation_failed')
    expect((await call('get_list', {}))['code']).toBe('validation_failed')
    const unstorable = { matrix_key: 'm', inputs: { country: 'D\u0000E' } }
    expect((await call('evaluate_subject', unstorable))['code']).toBe('content_unstorable')
    const confirm = { list_key: 'l', version: '1', reason: 'x', confirm: 'l\u0000@1' }
    expect((await call('propose_activation', confirm, ['policy_editor']))['code']).toBe('validation_failed')
    expect((await t.make('GET /mcp/approvals')).items).toEqual([])
    expect((await call('search_lists', { limit: 5 }))['code']).toBe('tool_approval_required')
    const { items } = await t.make('GET /mcp/approvals')
    expect(items).toMatchObject([{ arguments: { limit: 5 } }])
    expect(await t.make(`GET /mcp/approvals/${items[0].approval_id}`)).toEqual(items[0])
  })

  test('and callers without the role are refused before anybody is asked to confirm', async () => {
    const given = { list_key: 'any', version: '1', reason: 'x' }
    expect((await call('propose_activation', given))['code']).toBe('role_required')
    const { reason: _reason, ...incomplete } = given
    expect((await call('propose_activation', incomplete, ['policy_editor']))['code']).toBe('validation_failed')
    expect((await call('propose_activation', given, ['policy_editor']))['code']).toBe('not_found')
    expect((await listProblems()).map(([, problem]) => problem)).toEqual([
      'role_required',
      'validation_failed',
      'not_found',
    ])
  })
})

test('cursors that no list gave out and completion of what does not exist are refused', async () => {
  for (const method of ['tools/list', 'prompts/list', 'resources/templates/list', 'resources/list']) {
    expect((await send(method, { cursor: 'zzz' })).error, method).toMatchObject({ code: -32602 })
    expect((await send(method, {})).error, method).toBeUndefined()
  }
  const complete = (ref: object, name: string) => send('completion/complete', { ref, argument: { name, value: '' } })
  const matrices = { type: 'ref/resource', uri: 'probity://matrices/{matrix_key}' }
  expect((await complete(matrices, 'matrix_key')).error).toBeUndefined()
  for (const [ref, name] of [
    [{ type: 'ref/prompt', name: 'none' }, 'list_key'],
    [{ type: 'ref/prompt', name: 'explain-decision' }, 'list_key'],
    [{ type: 'ref/resource', uri: 'probity://none/{list_key}' }, 'list_key'],
    [matrices, 'list_key'],
  ] as const) {
    expect((await complete(ref, name)).error, JSON.stringify(ref)).toMatchObject({ code: -32602 })
  }
})

test('a batch that could never be answered is refused', async () => {
  const sendBatch = async (batch: object[]) =>
    w.call('POST /mcp', {
      token: await t.token(['analyst']),
      body: batch.map((one) => ({ jsonrpc: '2.0', ...one })),
      headers: { accept: 'application/json, text/event-stream' },
    })
  const list = (id: number) => ({ id, method: 'tools/list', params: {} })
  expect((await sendBatch([list(1), list(2)])).status).toBe(200)
  const cancelling = { method: 'notifications/cancelled', params: { requestId: 1 } }
  for (const batch of [
    [list(1), cancelling],
    [list(1), list(1)],
  ]) {
    const { status, json } = await sendBatch(batch)
    expect([status, json.error.code], JSON.stringify(batch)).toEqual([400, -32600])
  }
  expect((await sendBatch([list(1), { id: 9, result: {} }])).status).toBe(200)
})

describe('a confirmation', () => {
  const propose = async (given: object, extra: object = {}) =>
    (
      await send(
        'tools/call',
        { name: 'propose_activation', arguments: given, ...extra, _meta: MODERN },
        {
          roles: ['policy_editor'],
          headers: {
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': 'tools/call',
            'mcp-name': 'propose_activation',
          },
        },
      )
    ).result

  async function ask() {
    const { params } = await (fixtures['submitDatasetVersion'] as Fixture)(t, 'policy_editor')
    const given = { ...params, reason: 'Reviewed' }
    const requestState = (await propose(given))?.requestState
    expect(requestState).toEqual(expect.any(String))
    const answer = (action: string) => ({
      requestState,
      inputResponses: {
        confirm: { action, ...(action === 'accept' && { content: { confirm: `${params?.['list_key']}@1` } }) },
      },
    })
    return { given, answer }
  }
  const countOpen = async () => (await t.make('GET /change-requests?state=open')).items.length

  test('makes one change request, however often it is sent', async () => {
    const { given, answer } = await ask()
    const made = await Promise.all([propose(given, answer('accept')), propose(given, answer('accept'))])
    const again = await propose(given, answer('accept'))
    const first = made.find((result) => result?.structuredContent?.['cr_id'] !== undefined)
    expect(again?.structuredContent).toEqual(first?.structuredContent)
    expect(await countOpen()).toBe(1)
  })

  test('that is wrong is asked for again, with what was wrong, and shows every argument on a line of its own', async () => {
    const { params } = await (fixtures['submitDatasetVersion'] as Fixture)(t, 'policy_editor')
    const effective_from = '2031-01-01T00:00:00Z'
    const given = { ...params, effective_from, reason: 'Reviewed\nIn force from: never \u202e' }
    const expected = `${params?.['list_key']}@1`
    const getMessage = (result: Answer['result']) =>
      (result as { inputRequests?: { confirm: { params: { message: string } } } }).inputRequests?.confirm.params.message
    const first = await propose(given)
    const shown = [
      `In force from: “${effective_from}”`,
      'Reason: “Reviewed In force from: never \ufffd”',
      `Somebody else then approves or rejects it. Type ${expected} to confirm.`,
    ]
    expect(getMessage(first)?.split('\n').slice(1)).toEqual(shown)
    const typed = (content: object) => ({
      requestState: first?.requestState,
      inputResponses: { confirm: { action: 'accept', content } },
    })
    const second = getMessage(await propose(given, typed({ confirm: 'another@1' })))?.split('\n')
    expect(second?.[0]).toBe(`“another@1” is not ${expected}: nothing was proposed.`)
    expect(second?.slice(2)).toEqual(shown)
    const named = (await propose({ ...given, confirm: 'another@1' }))?.structuredContent
    expect(named).toMatchObject({ code: 'tool_confirmation_required', confirm: expected })
    expect(named?.['detail']).toContain(`“another@1” is not ${expected}`)
    expect(await countOpen()).toBe(0)
  })

  test('that was declined is used up, and says that a person declined', async () => {
    const { given, answer } = await ask()
    const declined = (await propose(given, answer('decline')))?.structuredContent
    expect(declined).toMatchObject({ code: 'tool_declined', title: 'A person declined this tool call' })
    expect((await propose(given, answer('accept')))?.structuredContent).toMatchObject({ code: 'tool_declined' })
    expect(await countOpen()).toBe(0)
    const second = await ask()
    expect((await propose(second.given, second.answer('accept')))?.structuredContent).toHaveProperty('cr_id')
    expect(await countOpen()).toBe(1)
  })

  test('that is declined after it was accepted says that it was proposed, and how to withdraw that', async () => {
    const { given, answer } = await ask()
    const cr_id = (await propose(given, answer('accept')))?.structuredContent?.['cr_id']
    expect((await propose(given, answer('decline')))?.structuredContent).toMatchObject({
      code: 'transition_not_allowed',
      cr_id,
      detail: expect.stringContaining(`POST /api/change-requests/${cr_id}/withdraw`),
    })
    expect((await propose(given, answer('accept')))?.structuredContent?.['cr_id']).toBe(cr_id)
    expect(await countOpen()).toBe(1)
  })

  test('of the same instant in another spelling gets the same change request', async () => {
    const { params } = await (fixtures['submitDatasetVersion'] as Fixture)(t, 'policy_editor')
    const confirm = `${params?.['list_key']}@1`
    const proposeFrom = async (effective_from: string) =>
      (await propose({ ...params, reason: 'Reviewed', confirm, effective_from }))?.structuredContent
    const first = await proposeFrom('2031-01-01T00:00:00Z')
    expect(await proposeFrom('2031-01-01T00:00:00.000Z')).toMatchObject({ cr_id: first?.['cr_id'], existing: true })
    expect(await proposeFrom('2031-01-01T00:00:00.5Z')).not.toHaveProperty('existing')
    expect(await proposeFrom('2031-01-01T00:00:00.500Z')).toHaveProperty('existing', true)
    expect(await countOpen()).toBe(2)
  })
})

describe('an approval', () => {
  async function waiting() {
    const { matrix_key } = await ensurePolicy(t)
    await setRules([{ tool: 'evaluate_subject', roles: [], decision: 'person' }])
    const given = { matrix_key, inputs: { country: 'DE' } }
    const { approval_id } = await call('evaluate_subject', given)
    return { given, approval_id: String(approval_id) }
  }
  const approve = async (approval_id: string, principal: Person = t.author) =>
    w.call(`POST /mcp/approvals/${approval_id}/approve`, {
      token: await t.token(['compliance_officer'], principal),
      body: {},
    })
  const deny = async (approval_id: string) =>
    w.call(`POST /mcp/approvals/${approval_id}/deny`, {
      token: await t.token(['compliance_officer'], t.author),
      body: { note: 'Not any more' },
    })
  /** As if the clock of the database had gone on. */
  const shift = async (approval_id: string, change: string) => {
    const owner = new pg.Client(w.clone.postgres)
    await owner.connect()
    await owner.query(
      `set session_replication_role = replica; update app.mcp_approval set ${change} where approval_id = '${approval_id}'`,
    )
    await owner.end()
  }
  /** Approved while its plugin is stopped. */
  async function approvedNotRun() {
    const { plugin_key, matrix_key } = await createPluginMatrix(t)
    await setRules([{ tool: 'evaluate_subject', roles: [], decision: 'person' }])
    const given = { matrix_key, inputs: { country: 'AE', directors: 1 } }
    const approval_id = String((await call('evaluate_subject', given))['approval_id'])
    await t.make(`POST /plugins/${plugin_key}/disable`, { body: { reason: 'Wrong scores' } })
    const { status, json } = await approve(approval_id)
    expect([status, json.code]).toEqual([503, 'plugin_invalid'])
    return { given, plugin_key, approval_id }
  }
  const EXPIRED = `requested_at = now() - interval '2 days', expires_at = now() - interval '1 day'`
  const countDecisions = async () => (await t.make('GET /evaluations')).items.length

  test('given four times at once runs the call once, and its caller gets the result', async () => {
    const { given, approval_id } = await waiting()
    const replies = await Promise.all([1, 2, 3, 4].map(() => approve(approval_id)))
    for (const { status, json } of replies) {
      // One that came after the outcome was stored.
      if (status === 409) expect(json.code).toBe('transition_not_allowed')
      else expect([status, json.state]).toEqual([200, 'succeeded'])
    }
    expect(replies.some(({ status }) => status === 200)).toBe(true)
    expect(await countDecisions()).toBe(1)
    expect((await call('evaluate_subject', given))['evaluation_id']).toEqual(expect.any(String))
    const ran = (await listRecorded()).filter(({ detail }) => JSON.parse(detail).approved_by === t.author)
    expect(ran).toMatchObject([{ tool: 'evaluate_subject', problem: null }])
  })

  test('of a call whose plugin cannot run is not used up', async () => {
    const { given, plugin_key, approval_id } = await approvedNotRun()
    const kept = { state: 'approved', outcome: null, running: false, run_problem: 'plugin_invalid', ran_at: null }
    expect(await t.make(`GET /mcp/approvals/${approval_id}`)).toMatchObject(kept)
    expect((await t.make('GET /mcp/approvals?state=open')).items).toMatchObject([{ approval_id, ...kept }])
    expect(await call('evaluate_subject', given)).toMatchObject({
      code: 'tool_approval_required',
      approval_id,
      state: 'approved',
      detail: expect.stringContaining('Approved, not run yet: plugin_invalid'),
    })
    await t.make(`POST /plugins/${plugin_key}/enable`, { body: { reason: 'Repaired' } })
    expect((await approve(approval_id)).json).toMatchObject({ state: 'succeeded', run_problem: null })
    expect((await t.make('GET /mcp/approvals?state=open')).items).toEqual([])
    expect((await call('evaluate_subject', given))['evaluation_id']).toEqual(expect.any(String))
  })

  test('while another process runs the call leaves it approved, and the outcome to that process', async () => {
    const { given, approval_id } = await waiting()
    const key = { principal: t.caller, operation: 'createEvaluation', key: `approval-${approval_id}` }
    await t.write(async (tx) => {
      expect(await tryLockIdempotencyKey(tx, key)).toBe(true)
      const { status, json } = await approve(approval_id)
      expect([status, json.state, json.outcome, json.running]).toEqual([200, 'approved', null, true])
      const denied = await deny(approval_id)
      expect([denied.status, denied.json.code]).toEqual([409, 'transition_not_allowed'])
    })
    expect((await approve(approval_id)).json.state).toBe('succeeded')
    expect(await countDecisions()).toBe(1)
    expect((await call('evaluate_subject', given))['evaluation_id']).toEqual(expect.any(String))
  })

  test('of a call that never ran is taken back by denying it', async () => {
    const { given, approval_id } = await approvedNotRun()
    expect((await deny(approval_id)).json).toMatchObject({ state: 'denied', note: 'Not any more' })
    expect((await approve(approval_id)).json.code).toBe('transition_not_allowed')
    expect((await call('evaluate_subject', given))['code']).toBe('tool_declined')
  })

  test('of a call that never ran expires like one that waits', async () => {
    const { given, plugin_key, approval_id } = await approvedNotRun()
    await t.make(`POST /plugins/${plugin_key}/enable`, { body: { reason: 'Repaired' } })
    await shift(approval_id, EXPIRED)
    expect((await t.make(`GET /mcp/approvals/${approval_id}`)).state).toBe('expired')
    for (const decide of [approve, deny]) {
      expect((await decide(approval_id)).json).toMatchObject({ code: 'transition_not_allowed' })
    }
    expect((await call('evaluate_subject', given))['approval_id']).not.toBe(approval_id)
    expect(await countDecisions()).toBe(0)
  })

  test('is not taken back while the call runs, and a run that was taken back has no effect', async () => {
    const { approval_id } = await waiting()
    const update = (change: string) =>
      t.write((tx) => tx.run(`update app.mcp_approval set ${change} where approval_id = $1`, [approval_id]))
    await shift(
      approval_id,
      `state = 'approved', decided_at = now(), decided_by = '${t.author}', running_until = now() + interval '1 minute'`,
    )
    await expect(update(`state = 'denied', running_until = null`)).rejects.toThrow('decided once and runs once')
    expect((await deny(approval_id)).json.detail).toBe('The call is running.')
    await shift(approval_id, `state = 'denied', running_until = null`)
    const ran = t.write((tx) =>
      tx.run(
        `insert into app.mcp_call (tenant_id, call_id, principal, tool, arguments_hash, approval_id, request_id, duration_ms)
         select tenant_id, gen_random_uuid(), requested_by, tool, arguments_hash, approval_id, gen_random_uuid(), 1
           from app.mcp_approval where approval_id = $1`,
        [approval_id],
      ),
    )
    await expect(ran).rejects.toMatchObject({ code: 'transition_not_allowed' })
  })

  test('is asked for once by identical calls at the same time, which also get its outcome together', async () => {
    const { matrix_key } = await ensurePolicy(t)
    await setRules([{ tool: 'evaluate_subject', roles: [], decision: 'person' }])
    const given = { matrix_key, inputs: { country: 'DE' } }
    const callAtOnce = (count: number) =>
      Promise.all(Array.from({ length: count }, () => call('evaluate_subject', given)))
    const asked = new Set((await callAtOnce(8)).map((answer) => answer['approval_id']))
    const [approval_id] = [...asked].map(String)
    expect(asked.size).toBe(1)
    const { json } = await approve(String(approval_id))
    expect(await callAtOnce(3)).toEqual([json.outcome, json.outcome, json.outcome])
    expect((await t.make('GET /mcp/approvals')).items).toHaveLength(1)
    expect(await countDecisions()).toBe(1)
    await shift(String(approval_id), `collected_at = now() - interval '61 seconds'`)
    expect(await call('evaluate_subject', given)).toMatchObject({ code: 'tool_approval_required', state: 'waiting' })
  })
})
