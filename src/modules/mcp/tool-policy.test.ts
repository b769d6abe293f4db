/** The tool policy of a tenant: what it forbids, and calls that wait for a person. */
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roles } from '#kernel/auth/roles.ts'
import { optInTools, toolCallers } from '#kernel/auth/tool-policy.ts'
import { ensurePolicy } from '#test/support/example-policy.ts'
import { ExampleTenant, type Person } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { type Connection, callTool as call, connectClient, listRecordedCalls } from '#test/support/tool-client.ts'

let w: TestApp
let url: string
beforeAll(async () => {
  w = await shareTestApp()
  url = await w.listen()
})
afterAll(() => w.close())

const clients: Client[] = []
afterAll(() => Promise.all(clients.map((client) => client.close())))

async function connect({ tenant, ...connection }: Connection & { readonly tenant: ExampleTenant }): Promise<Client> {
  const token = await tenant.token(connection.roles, connection.principal ?? tenant.caller)
  const client = await connectClient(url, token, connection)
  clients.push(client)
  return client
}

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

  test('turns on the tools of investigations, which show and change nothing that is restricted', async () => {
    const tenant = await ExampleTenant.create(w)
    const { subject_id } = await tenant.make('POST /subjects', { body: { subject_type: 'person', name: 'Ada' } })
    const opening = { subject_id, playbook_key: 'edd-person' }
    // Opened by the caller, who may see it.
    const hidden = await tenant.make('POST /investigations', { body: { ...opening, is_restricted: true } })
    const report = { template: 'subject-dossier', parameters: { subject_id }, formats: ['json'] }
    const { items } = await tenant.make('GET /investigations')
    const { restriction_id } = items[0]
    await tenant.make('POST /reports', { body: { ...report, restriction_id } })
    const listNames = async (one: Client) => (await one.listTools()).tools.map(({ name }) => name)
    const unaware = await connect({ roles: ['compliance_officer'], tenant })
    const before = await listNames(unaware)
    expect(before.filter((name) => optInTools.has(name))).toEqual([])
    expect(before).toEqual(expect.arrayContaining(['list_reports', 'request_report']))
    expect((await call(unaware, 'list_investigations')).value.code).toBe('tool_forbidden')
    const toDecisions = (decision: string) =>
      ['analyst', 'compliance_officer', 'service'].map((role) => ({ role, decision }))
    const listOpening = async () =>
      (await tenant.make('GET /mcp/tools')).items.find(({ tool }: { tool: string }) => tool === 'open_investigation')
    expect(await listOpening()).toMatchObject({ off_by_default: true, decisions: toDecisions('off') })
    await setRules(
      tenant,
      [...optInTools].map((tool) => ({ tool, roles: [], decision: 'allow' })),
    )
    const client = await connect({ roles: ['compliance_officer'], tenant })
    expect(await listOpening()).toMatchObject({ off_by_default: true, decisions: toDecisions('allow') })
    expect((await listNames(client)).filter((name) => optInTools.has(name))).toEqual([...optInTools])

    const busy = await connect({ roles, tenant })
    const { tools: offered, _meta } = await busy.listTools()
    const left_out = ['run_import_preview', 'start_batch']
    expect([offered.length, _meta?.['probity/callable_by_name']]).toEqual([24, left_out])
    const described = await busy.readResource({ uri: 'probity://tools/run_import_preview' })
    const [definition] = described.contents as { text: string }[]
    expect(JSON.parse(definition?.text ?? '')).toMatchObject({ name: 'run_import_preview', inputSchema: {} })
    const sample = { adapter_key: 'table-csv', type_key: 'country', text: 'code\nDE\n' }
    expect((await call(busy, 'run_import_preview', sample)).value.code).not.toBe('tool_forbidden')
    const { items: known } = await tenant.make('GET /mcp/tools', { token: await tenant.token(roles) })
    expect(known.flatMap((one: { tool: string; listed: boolean }) => (one.listed ? [] : [one.tool]))).toEqual(left_out)
    const auditor = await connect({ roles: ['auditor'], tenant })
    await expect(auditor.readResource({ uri: 'probity://tools/run_import_preview' })).rejects.toThrow()

    const opened = (await call(client, 'open_investigation', { ...opening, idempotency_key: 'a' })).value
    expect(opened).toMatchObject({ joined: false, job_id: expect.any(String) })
    expect((await call(client, 'open_investigation', { ...opening, idempotency_key: 'a' })).value).toEqual(opened)
    const { investigation_id } = opened
    expect((await call(client, 'get_job', { job_id: opened['job_id'] })).value).toMatchObject({
      kind: 'investigation.gather',
    })
    const text = 'The branch was asked.'
    expect((await call(client, 'add_investigation_note', { investigation_id, text })).isError).toBe(false)
    expect((await call(client, 'get_investigation', { investigation_id })).value).toMatchObject({
      counts: { notes: 1 },
      state: 'open',
    })
    const listed = (await call(client, 'list_investigations', { subject_id })).value.items
    expect(listed.map((each) => each['investigation_id'])).toEqual([investigation_id])
    for (const [name, given] of [
      ['get_investigation', {}],
      ['add_investigation_note', { text }],
    ] as const) {
      const refused = await call(client, name, { ...given, investigation_id: hidden.investigation_id })
      const random = await call(client, name, { ...given, investigation_id: '0190d7a0-5b1c-7c3e-9f2a-1b2c3d4e5f60' })
      expect([refused.value.code, refused.value['detail']]).toEqual(['not_found', random.value['detail']])
    }
    expect((await call(client, 'get_job', { job_id: hidden.job_id })).value.code).toBe('not_found')
    const is_restricted = true
    expect((await call(client, 'open_investigation', { ...opening, is_restricted })).value.code).toBe(
      'validation_failed',
    )
    const requested = (await call(client, 'request_report', report)).value
    expect(requested).toMatchObject({ job_id: expect.any(String), poll_after_s: expect.any(Number) })
    const reports = (await call(client, 'list_reports')).value.items
    expect(reports.map((each) => each['job_id'])).toEqual([requested['job_id']])
    const { events } = await listRecordedCalls(w, tenant)
    expect(events.filter(({ operation }) => operation === 'createInvestigationNote')).toHaveLength(3)
    expect(events.map(({ actor }) => actor)).toEqual(events.map(() => tenant.caller))
  })

  test('is proposed with what would hold for each role of a tool that is turned on', async () => {
    const tenant = await ExampleTenant.create(w)
    const rule = { tool: 'open_investigation', roles: ['analyst'], decision: 'allow' }
    const every = { tool: '*', roles: [], decision: 'allow' }
    await setRules(tenant, [every])
    await w.setApprovalRules(tenant.tenant_id, [{ action: 'tool-policy', role: 'compliance_officer', approvers: 1 }])
    const token = await tenant.token(['tenant_admin'])
    const { json } = await w.call('PUT /mcp/tool-policy', { token, body: { rules: [every, rule] } })
    expect(json.changes).toContainEqual({
      member: 'decisions',
      before: { open_investigation: { analyst: 'off' } },
      after: { open_investigation: { analyst: 'allow' } },
    })
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
    // Others that were sent at the same time get it too.
    expect((await call(client, 'evaluate_subject', given)).value).toEqual(result)
    const other = { matrix_key, inputs: { country: 'FR' } }
    const again = (await call(client, 'evaluate_subject', other)).value
    expect(again.approval_id).not.toBe(waiting.approval_id)
    expect((await decide('deny', tenant.author, again.approval_id)).json.state).toBe('denied')
    expect((await call(client, 'evaluate_subject', other)).value.code).toBe('tool_declined')
    const { events } = await listRecordedCalls(w, tenant)
    expect(
      events.filter(({ operation, detail }) => operation === 'createEvaluation' && !detail.includes('problem')),
    ).toEqual([
      expect.objectContaining({
        actor: tenant.caller,
        detail: expect.stringContaining(`"approved_by":"${tenant.author}"`),
      }),
      expect.objectContaining({ actor: tenant.caller }),
      expect.objectContaining({ actor: tenant.caller }),
    ])
  })
})
