/** For tests of the tool protocol: its public client over real HTTP, the recorded calls of a tenant, and messages that must be refused. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Role } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { ExampleTenant, Person } from './example-tenant.ts'
import type { TestApp } from './test-app.ts'

export interface Connection {
  readonly roles: readonly Role[]
  readonly mode?: 'auto' | 'legacy'
  readonly principal?: Person
  /** What the person types when asked to confirm; null declines. */
  readonly answer?: (message: string) => string | null
}

export async function connectClient(
  url: string,
  token: string,
  { mode = 'auto', answer }: Pick<Connection, 'mode' | 'answer'> = {},
): Promise<Client> {
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
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/api/mcp`), { requestInit: { headers } }))
  return client
}

/** Members of results that tests read. */
export interface ToolValue extends Readonly<Record<string, unknown>> {
  readonly code?: string
  readonly cr_id?: string
  readonly approval_id?: string
  readonly next_cursor?: string | null
  readonly items: readonly Readonly<Record<string, unknown>>[]
}

/** The result of a call, or the problem it answered. */
export async function callTool(client: Client, name: string, given: Record<string, unknown> = {}) {
  const { isError, structuredContent } = await client.callTool({ name, arguments: given })
  return { isError: isError ?? false, value: structuredContent as ToolValue }
}

/** Events and rows of calls of a tenant, oldest first. */
export const listRecordedCalls = (w: TestApp, tenant: ExampleTenant) =>
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

/** Metadata that marks a message as one of the current protocol revision. */
export const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const deep: unknown = JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`)

/** Messages that are wrong in one way each. */
export const hostileMessages: readonly unknown[] = [
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
  { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta: MODERN_META } },
  { jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: {} },
  { jsonrpc: '2.0', result: {}, id: 7 },
]
