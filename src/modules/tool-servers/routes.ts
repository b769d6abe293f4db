/** Tool servers of other parties: registered, asked which tools they offer, and pinned tool by tool. */
import { everyone } from '#kernel/auth/roles.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { type ApprovalRule, findInheritedRule } from '#kernel/request/queries.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { Route } from '#kernel/route.ts'
import { listReadiness } from '#modules/provider-credentials/index.ts'
import type { Auth } from '#provider/manifest.ts'
import { checkServerSettings } from '#provider/tools/check-server-settings.ts'
import { DISCOVER_TOOLS, expectServerCredential } from './jobs.ts'
import {
  countServers,
  findServer,
  findTool,
  hasPin,
  insertPin,
  insertServer,
  listServers,
  lockServer,
  removeServer,
  removeTools,
  type ServerSettings,
  updatePinned,
  updateServer,
  updateServerUnchecked,
} from './queries.ts'
import {
  NewToolServer,
  PinRequest,
  RemovalQuery,
  ServerParams,
  ServerQuery,
  ServerTool,
  ToolParams,
  ToolServer,
  ToolServerChange,
  ToolServerPage,
} from './schema.ts'
import { getServerItems, getServerView, toToolView } from './server-view.ts'
import { findUnusable } from './tool-state.ts'

const MAX_SERVERS = 100
const SERVERS_ACTION = 'tool-servers'
const PINS_ACTION = 'tool-pins'

const getServerHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const server = await findServer(tx, params['server_key'] as string)
  return server ? String(server.revision) : null
}

/** What a proposed pin is bound to: a definition that changes meanwhile makes the approval void. */
const getToolHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const tool = await findTool(tx, params['server_key'] as string, params['tool_name'] as string)
  return tool ? `${tool.offered_hash} ${tool.pin_no}` : null
}

/**
 * A definition that replaces a pinned one is approved by a second person, whatever the policy says; also after the URL changed or
 * the server was registered again, which removes the pin but not what it was pinned for.
 */
async function findPinRule(tx: Tx, params: unknown): Promise<ApprovalRule | undefined> {
  const { server_key, tool_name } = params as { server_key: string; tool_name: string }
  if (!(await hasPin(tx, server_key, tool_name))) return findInheritedRule(tx, 'activation')
  return { action: PINS_ACTION, approvers: 1, role: 'compliance_officer', require_impact: false }
}

/** 409 with every fault of the settings and its place. */
function expectSettings(settings: Pick<ServerSettings, 'url' | 'auth' | 'credential'>): void {
  const faults = checkServerSettings(settings as Parameters<typeof checkServerSettings>[0])
  const errors = faults.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return
  fail('conflict', {
    detail: 'The server cannot be reached as it is described.',
    errors: errors.map(({ pointer, message, code }) => ({
      in: 'body',
      pointer: `#${pointer}`,
      detail: message,
      keyword: code,
    })),
  })
}

/** 409 while a provider in force calls its tools. */
async function expectUnused(kernel: Parameters<typeof listReadiness>[0], tx: Tx, server_key: string): Promise<void> {
  const users = [...(await listReadiness(kernel, tx)).values()]
    .filter(({ provider: { manifest } }) => manifest['kind'] === 'mcp' && manifest['server_key'] === server_key)
    .map(({ provider }) => provider.provider_key)
  if (users.length === 0) return
  const detail = `Providers in force call its tools: ${users.join(', ')}. Put versions of them in force that do not name it.`
  fail('conflict', { detail, members: { providers: users } })
}

const NO_AUTH: Auth = { kind: 'none' }

export const serverRoutes: readonly Route[] = [
  tenantRoute('GET /mcp/servers', {
    id: 'listToolServers',
    summary: 'Tool servers of other parties, with the state of their tools',
    roles: everyone,
    tx: 'read',
    uses: ['cursors'],
    query: ServerQuery,
    reply: [200, ToolServerPage],
  }).handle(async (input) => {
    const { items, next_cursor } = await paginate(
      input,
      'listToolServers',
      ['created_at', 'server_key'],
      (after, count) => listServers(input.tx, after, count),
    )
    return { items: await getServerItems(input.tx, items), next_cursor }
  }),

  tenantRoute('POST /mcp/servers', {
    id: 'createToolServer',
    summary: 'Register a tool server',
    description:
      'Nothing is sent to it yet. Store its credential under credential_key, discover its tools, and pin those that providers may call.',
    roles: ['tenant_admin'],
    tx: 'write',
    body: NewToolServer,
    reply: [201, ToolServer],
    revisioned: true,
    location: ({ server_key }) => `/mcp/servers/${server_key}`,
    links: { getToolServer: { server_key: 'server_key' } },
    governed: { action: SERVERS_ACTION, head: async () => null },
    problems: ['duplicate', 'conflict'],
  }).handle(async ({ tx, body, audit }) => {
    const { server_key, title, url, description = null, auth = NO_AUTH, credential = null } = body
    expectSettings({ url, auth, credential })
    if ((await countServers(tx)) >= MAX_SERVERS) fail('conflict', `A tenant has at most ${MAX_SERVERS} tool servers.`)
    const settings = { server_key, title, description, url, auth, credential }
    const created = assertFound(await insertServer(tx, settings))
    audit.recordDiff(null, settings)
    return getServerView(tx, created)
  }),

  tenantRoute('GET /mcp/servers/:server_key', {
    id: 'getToolServer',
    summary: 'One tool server, with its tools',
    roles: everyone,
    tx: 'read',
    params: ServerParams,
    reply: [200, ToolServer],
    revisioned: true,
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => getServerView(tx, assertFound(await findServer(tx, params.server_key)))),

  tenantRoute('PATCH /mcp/servers/:server_key', {
    id: 'updateToolServer',
    summary: 'Change the settings of a tool server',
    description:
      'Another URL is another program: all pins are void, and its tools must be discovered and pinned again.',
    roles: ['tenant_admin'],
    tx: 'write',
    params: ServerParams,
    body: ToolServerChange,
    reply: [200, ToolServer],
    revisioned: true,
    governed: { action: SERVERS_ACTION, head: getServerHead },
    problems: ['not_found', 'conflict'],
  }).handle(async (input) => {
    const { tx, params, body, audit } = input
    const before = assertFound(await lockServer(tx, params.server_key))
    assertRevision(before.revision, input)
    const { title, description, url, auth, credential } = before
    const old = { server_key: before.server_key, title, description, url, auth, credential }
    const { reason, expected_revision: _expected, ...changes } = body
    const settings: ServerSettings = { ...old, ...changes }
    expectSettings(settings)
    if (settings.url !== url) {
      await removeTools(tx, before.server_key)
      await updateServerUnchecked(tx, before.server_key)
    } else if (canonicalJson(settings.auth) !== canonicalJson(auth)) {
      await updateServerUnchecked(tx, before.server_key)
    }
    const changed = assertFound(await updateServer(tx, settings))
    audit.recordDiff(old, { ...settings, reason })
    return getServerView(tx, changed)
  }),

  tenantRoute('DELETE /mcp/servers/:server_key', {
    id: 'deleteToolServer',
    summary: 'Remove a tool server that no provider in force calls',
    description: 'What was pinned stays recorded.',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['caches', 'forced_provider_mode'],
    params: ServerParams,
    query: RemovalQuery,
    reply: [204, null],
    governed: { action: SERVERS_ACTION, head: getServerHead },
    problems: ['not_found', 'conflict', 'content_corrupt'],
  }).handle(async ({ tx, params, query, kernel, audit }) => {
    const { server_key, title, url } = assertFound(await lockServer(tx, params.server_key))
    await expectUnused(kernel, tx, server_key)
    await removeServer(tx, server_key)
    audit.recordDiff({ server_key, title, url }, { reason: query.reason })
  }),

  tenantRoute('POST /mcp/servers/:server_key/discover', {
    id: 'discoverServerTools',
    summary: 'Ask the server which tools it offers, as a job',
    description:
      'Pinned tools that changed or vanished are in quarantine from then on. The same happens regularly, and before a call where the list is older than ten minutes.',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['caches', 'forced_provider_mode', 'jobs'],
    params: ServerParams,
    reply: [202, JobView],
    starts: DISCOVER_TOOLS,
    needs: 'provider',
    problems: ['not_found', 'conflict', 'content_corrupt'],
  }).handle(async ({ tx, params, kernel, audit }) => {
    const { server_key } = assertFound(await findServer(tx, params.server_key))
    if (kernel.forced_provider_mode) fail('conflict', 'No tool server is called in this installation.')
    await expectServerCredential(kernel, tx, server_key)
    const resource = `/api/mcp/servers/${server_key}` as const
    const job = await kernel.jobs.enqueue(tx, { kind: DISCOVER_TOOLS, payload: { server_key }, resource })
    audit.recordDiff(null, { server_key, job_id: job.job_id })
    return job
  }),

  tenantRoute('GET /mcp/servers/:server_key/tools/:tool_name', {
    id: 'getServerTool',
    summary: 'One tool: the definition that is pinned, the one that is offered, and how they differ',
    roles: everyone,
    tx: 'read',
    params: ToolParams,
    reply: [200, ServerTool],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => toToolView(assertFound(await findTool(tx, params.server_key, params.tool_name)))),

  tenantRoute('PUT /mcp/servers/:server_key/tools/:tool_name/pin', {
    id: 'pinServerTool',
    summary: 'Approve the definition of a tool, by its hash',
    description:
      'Providers may call the tool from then on, as long as the server offers exactly this. A tool that was pinned before, also at another URL, always needs the approval of another compliance officer.',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ToolParams,
    body: PinRequest,
    reply: [200, ServerTool],
    governed: {
      action: PINS_ACTION,
      head: getToolHead,
      findDefaultRule: (tx, { params }) => findPinRule(tx, params),
    },
    problems: ['not_found', 'conflict'],
  }).handle(async ({ tx, params, body, audit }) => {
    const { server_key, tool_name } = params
    const server = assertFound(await lockServer(tx, server_key))
    const tool = assertFound(await findTool(tx, server_key, tool_name))
    const { offered, offered_hash } = tool
    if (!offered) fail('conflict', 'The server does not offer this tool any more.')
    if (offered_hash !== body.definition_hash) {
      fail('conflict', { detail: 'The server offers another definition by now: review it.', members: { offered_hash } })
    }
    const reasons = findUnusable(offered)
    if (reasons.length > 0) {
      const detail = `The tool cannot be pinned: ${reasons[0]?.message}`
      fail('conflict', { detail, members: { reasons } })
    }
    const pinned = assertFound(await updatePinned(tx, { server_key, tool_name, definition_hash: body.definition_hash }))
    await insertPin(tx, pinned, { url: server.url, reason: body.reason })
    audit.recordDiff(tool.pinned, { ...pinned.pinned, reason: body.reason })
    return toToolView(pinned)
  }),
]
