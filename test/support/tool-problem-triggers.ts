/** Messages that provoke the problems of the tool protocol, taken out of the messages that carry them. */
import { ExampleTenant } from './example-tenant.ts'
import type { ProblemReply, ProblemTriggers } from './registry-problem-triggers.ts'
import type { TestApp } from './test-app.ts'

export function createToolTriggers(getApp: () => TestApp): ProblemTriggers {
  const send = async (t: ExampleTenant, message: object, headers: Record<string, string> = {}) =>
    getApp().call('POST /mcp', {
      token: await t.token(['analyst', 'policy_editor']),
      body: { jsonrpc: '2.0', id: 1, ...message },
      headers: { accept: 'application/json, text/event-stream', ...headers },
    })
  /** The problem that a tool answers. */
  const callTool = async (name: string, given: object, rules: object[] = []): Promise<ProblemReply> => {
    const t = await ExampleTenant.create(getApp())
    await t.make('PUT /mcp/tool-policy', { body: { rules } })
    return repeat(t, name, given)
  }
  const repeat = async (t: ExampleTenant, name: string, given: object): Promise<ProblemReply> => {
    const { json } = await send(t, { method: 'tools/call', params: { name, arguments: given } })
    return toReply(json.result.structuredContent)
  }
  return {
    origin_not_allowed: async () => {
      const t = await ExampleTenant.create(getApp())
      const { json } = await send(t, { method: 'tools/list' }, { origin: 'https://other.example' })
      return toReply(json.error.data)
    },
    tool_forbidden: () => callTool('search_lists', {}, [{ tool: 'search_lists', roles: [], decision: 'forbid' }]),
    tool_approval_required: () =>
      callTool('search_lists', {}, [{ tool: 'search_lists', roles: [], decision: 'person' }]),
    tool_confirmation_required: () =>
      callTool('propose_activation', { list_key: 'risk-bands', version: '1', reason: 'Reviewed' }),
    tool_declined: async () => {
      const t = await ExampleTenant.create(getApp())
      await t.make('PUT /mcp/tool-policy', { body: { rules: [{ tool: '*', roles: [], decision: 'person' }] } })
      const { body } = await repeat(t, 'search_lists', {})
      await t.make(`POST /mcp/approvals/${body['approval_id']}/deny`, {
        token: await t.token(['compliance_officer'], t.author),
        body: { note: 'The lists are searched in the console.' },
      })
      return repeat(t, 'search_lists', {})
    },
  }
}

const toReply = (body: Record<string, unknown>): ProblemReply => ({
  status: body['status'] as number,
  type: 'application/problem+json',
  retry_after: undefined,
  body,
})
