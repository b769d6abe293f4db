/** Tools of the caller, the tenant's tool policy, calls that wait for a person, and the log of all calls. */
import { noteRestriction } from '#kernel/audit/restricted-object.ts'
import { getToolResource } from '#kernel/auth/protected-resource.ts'
import { everyone, type Role } from '#kernel/auth/roles.ts'
import {
  decideForRole,
  decideTool,
  isLooser,
  listFollowers,
  mayCallTool,
  optInTools,
  type RoleDecision,
  type ToolRule,
  toolCallers,
} from '#kernel/auth/tool-policy.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { protocolRoute, publicRoute, tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { findInheritedRule } from '#kernel/request/queries.ts'
import { assertRevision } from '#kernel/revision.ts'
import { aliasRoute } from '#kernel/route.ts'
import {
  type ApprovalRow,
  findApproval,
  findCall,
  findToolPolicy,
  listApprovals,
  listCalls,
  lockToolPolicy,
  type ToolPolicyRow,
  updateApprovalDecided,
  updateApprovalOutcome,
  updateApprovalRunning,
  upsertToolPolicy,
} from './queries.ts'
import {
  assertDeniable,
  assertRunnable,
  findRequestingActor,
  keepApproved,
  lockDecidable,
  runApproval,
  shareRun,
} from './run-approval.ts'
import {
  ApprovalDecision,
  ProtectedResource,
  ToolApproval,
  ToolApprovalPage,
  ToolApprovalParams,
  ToolApprovalQuery,
  ToolCallPage,
  ToolCallParams,
  ToolCallQuery,
  ToolCallView,
  ToolList,
  ToolPolicy,
  ToolPolicyChange,
} from './schema.ts'
import { addSessionId, readSessionName, toClientName } from './server/client-name.ts'
import { SESSION_CAPABILITIES } from './server/session.ts'
import { toolTransport } from './server/tool-server.ts'
import { getCatalogue, selectTools, type Tool, type ToolCatalogue } from './tools/catalogue.ts'

const approvers = ['compliance_officer'] as const
const readers = ['compliance_officer', 'auditor'] as const

/** A tenant that never set a policy; the first one has revision 2. */
const NO_POLICY = { rules: [], revision: 1, updated_at: null, updated_by: null }
const toPolicyView = (policy: ToolPolicyRow | undefined) =>
  policy ? { ...policy, rules: [...policy.rules] } : NO_POLICY

/** Who may use a tool, as far as the tool policy allows. */
const listRoles = ({ route }: Tool): Role[] => route.roles.filter((role) => mayCallTool(route, [role]))

type ToolDecisions = Record<string, Partial<Record<Role, RoleDecision>>>

/** What two policies say differently of the tools that they name, by tool and role: a rule alone does not say what holds without it. */
function compareDecisions(tools: ToolCatalogue, before: readonly ToolRule[], after: readonly ToolRule[]) {
  const sides: Record<'before' | 'after', ToolDecisions> = { before: {}, after: {} }
  const named = new Set([...before, ...after].map(({ tool }) => tool))
  for (const name of new Set([...named, ...listFollowers(named)])) {
    const tool = tools.get(name)
    for (const role of tool ? listRoles(tool) : []) {
      const old = decideForRole(before, name, role)
      const now = decideForRole(after, name, role)
      if (old === now) continue
      sides.before[name] = { ...sides.before[name], [role]: old }
      sides.after[name] = { ...sides.after[name], [role]: now }
    }
  }
  return sides
}

export const toolProtocol = protocolRoute('POST /mcp', {
  id: 'callTool',
  summary: 'Model Context Protocol: tools, resources and prompts for assistants',
  roles: toolCallers,
  uses: SESSION_CAPABILITIES,
}).handle(async ({ actor, message, headers, request, kernel }) => {
  const client = readSessionName(headers) ?? toClientName(headers['user-agent'])
  const reply = await toolTransport.handle(
    { message, headers, signal: request.signal },
    { kernel, actor, request, client },
  )
  return addSessionId(message, reply)
})

const protectedResource = publicRoute('GET /.well-known/oauth-protected-resource', {
  id: 'getProtectedResource',
  summary: 'RFC 9728 metadata: which issuers the tool protocol trusts',
  description:
    'Only where the operator states the public URL of the server, because clients compare it with the address they use.',
  also_at_root: true,
  uses: ['issuers', 'public_url'],
  reply: [200, ProtectedResource],
  problems: ['not_found'],
}).handle(async ({ kernel }) => {
  const issuers = kernel.issuers.filter((issuer) => !issuer.built_in).map(({ issuer }) => issuer)
  return {
    resource: getToolResource(kernel.public_url) ?? fail('not_found', 'PROBITY_PUBLIC_URL is not set.'),
    // RFC 9728 leaves out lists without an element.
    ...(issuers.length > 0 && { authorization_servers: issuers }),
    bearer_methods_supported: ['header'],
    scopes_supported: [...toolCallers],
    resource_name: 'Probity',
    resource_documentation: `${kernel.public_url}/api-docs`,
  }
})

export const metadataRoutes = [
  protectedResource,
  aliasRoute(protectedResource, 'GET /.well-known/oauth-protected-resource/api/mcp', 'getToolProtocolResource'),
]

export const mcpRoutes = [
  tenantRoute('GET /mcp/tools', {
    id: 'listTools',
    summary: 'The tools of the tool protocol, with what the caller may do with each',
    roles: everyone,
    tx: 'one',
    uses: ['routes'],
    reply: [200, ToolList],
  }).handle(async ({ tx, actor, kernel }) => {
    const { rules } = toPolicyView(await findToolPolicy(tx))
    const listed = new Set(selectTools(kernel.routes, rules, actor.roles).listed.map(({ mark }) => mark.name))
    return {
      items: [...getCatalogue(kernel.routes).values()].map((tool) => {
        const decision = decideTool(rules, tool.mark.name, actor.roles)
        const { name, title, description, effect } = tool.mark
        return {
          tool: name,
          title,
          description,
          effect,
          operation: tool.route.id,
          roles: listRoles(tool),
          decision,
          decisions: listRoles(tool).map((role) => ({ role, decision: decideForRole(rules, name, role) })),
          off_by_default: optInTools.has(name),
          usable: decision !== 'forbid' && mayCallTool(tool.route, actor.roles),
          listed: listed.has(name),
        }
      }),
    }
  }),

  tenantRoute('GET /mcp/tool-policy', {
    id: 'getToolPolicy',
    summary: 'Which tools assistants may call, and which calls wait for a person',
    roles: everyone,
    tx: 'one',
    reply: [200, ToolPolicy],
    revisioned: true,
  }).handle(async ({ tx }) => toPolicyView(await findToolPolicy(tx))),

  tenantRoute('PUT /mcp/tool-policy', {
    id: 'updateToolPolicy',
    summary: 'Change the tool policy',
    description:
      'A tool without a rule is allowed to the roles of its operation; tools of investigations are off until a rule names them. No rule ' +
      'gives anybody a tool whose operation their roles may not call. Takes effect in every process within five seconds. Where the approval policy does not name the action ' +
      '`tool-policy`, a change that lets anybody do more is approved like an activation, and one that only restricts takes effect at once.',
    roles: ['tenant_admin', 'compliance_officer'],
    tx: 'write',
    uses: ['routes', 'tenantStatusCache'],
    body: ToolPolicyChange,
    reply: [200, ToolPolicy],
    revisioned: true,
    governed: {
      action: 'tool-policy',
      has_impact: false,
      head: async (tx: Tx) => String((await findToolPolicy(tx))?.revision ?? 0),
      // A stricter policy must never wait for anybody.
      findDefaultRule: async (tx: Tx, { body }) => {
        const { rules } = toPolicyView(await findToolPolicy(tx))
        return isLooser(rules, (body as { rules: ToolRule[] }).rules) ? findInheritedRule(tx, 'activation') : undefined
      },
    },
    problems: ['conflict'],
  }).handle(async (input) => {
    const { tx, body, kernel, audit } = input
    const before = toPolicyView(await lockToolPolicy(tx))
    assertRevision(before.revision, input)
    const tools = getCatalogue(kernel.routes)
    const unknown = body.rules.find(({ tool }) => tool !== '*' && !tools.has(tool))
    if (unknown) fail('conflict', `There is no tool ${unknown.tool}. GET /api/mcp/tools lists those that exist.`)
    const changed = toPolicyView(await upsertToolPolicy(tx, body.rules))
    // There is nothing to lock before the first policy: another one may have been stored since.
    if (changed.revision !== before.revision + 1) fail('revision_stale')
    const diff = { rules: changed.rules, ...(body.reason && { reason: body.reason }) }
    audit.recordDiff({ rules: before.rules }, diff)
    const decisions = compareDecisions(tools, before.rules, changed.rules)
    audit.recordPreview({ rules: before.rules, decisions: decisions.before }, { ...diff, decisions: decisions.after })
    kernel.tenantStatusCache.invalidateOnCommit(tx)
    return changed
  }),

  tenantRoute('GET /mcp/approvals', {
    id: 'listToolApprovals',
    summary: 'Tool calls that wait or waited for a person, newest first',
    roles: approvers,
    tx: 'one',
    uses: ['cursors'],
    query: ToolApprovalQuery,
    reply: [200, ToolApprovalPage],
  }).handle(async (input) =>
    paginate(input, 'listToolApprovals', ['requested_at', 'approval_id'], (after, count) =>
      listApprovals(input.tx, input.query.state ?? null, after, count),
    ),
  ),

  tenantRoute('GET /mcp/approvals/:approval_id', {
    id: 'getToolApproval',
    summary: 'One tool call that waits or waited for a person, with its arguments',
    description: 'While what it names, or what its run worked on, is restricted, reading it is recorded.',
    roles: approvers,
    tx: 'read',
    params: ToolApprovalParams,
    reply: [200, ToolApproval],
    problems: ['not_found'],
  }).handle(async (input) => {
    const approval = assertFound(await findApproval(input.tx, input.params.approval_id))
    await noteRestriction(input, 'mcp_approval', approval.approval_id)
    return approval
  }),

  tenantRoute('POST /mcp/approvals/:approval_id/approve', {
    id: 'approveToolCall',
    summary: 'Approve a tool call; runs exactly its stored arguments, once',
    description:
      'Within 24 hours, by a person other than the one who made the call or requested its key. The operation runs in the name of the ' +
      'caller, who gets the outcome by repeating the call. Approvals at the same time run it once. Where the server failed to run it, ' +
      'or a plugin that it needs cannot run, the state stays `approved` with the reason in `run_problem`: within the 24 hours, approving ' +
      'it again runs it, and it can be denied. While what it names is restricted it is not run, since nothing restricted reaches an assistant.',
    roles: approvers,
    tx: 'self',
    uses: SESSION_CAPABILITIES,
    params: ToolApprovalParams,
    body: ApprovalDecision,
    reply: [200, ToolApproval],
    problems: [
      'not_found',
      'transition_not_allowed',
      'approval_own_request',
      'author_not_permitted',
      'tool_forbidden',
      'content_corrupt',
    ],
    executes: 'plugin',
    runs_plugins_of: ['matrix', 'provider'],
  }).handle(async ({ params, body, actor, kernel, request, audit, read, write, settle, findSettled }) => {
    const fingerprint = JSON.stringify([params, body])
    const settled = await findSettled<ApprovalRow>(fingerprint)
    if (settled) return settled
    const { known, requester, restriction_id } = await read(async (tx) => {
      const known = assertFound(await findApproval(tx, params.approval_id))
      const { restriction_id, is_in_force } = await noteRestriction({ tx, audit }, 'mcp_approval', known.approval_id)
      if (is_in_force)
        fail('transition_not_allowed', 'What the call is about is restricted: nothing of it reaches an assistant.')
      return { known, requester: await findRequestingActor(tx, known), restriction_id }
    })
    await assertRunnable({ kernel, approval: known, requester })
    const approval = await write(async (tx) => {
      const locked = await lockDecidable(tx, params.approval_id)
      // The run may have failed, or its process may have stopped: approving it again runs it.
      if (locked.state === 'approved') return locked
      if (locked.state !== 'waiting') fail('transition_not_allowed', `The call is ${locked.state}.`)
      return assertFound(
        await updateApprovalDecided(tx, locked.approval_id, { state: 'approved', note: body.note ?? null }),
      )
    })
    const approved_by = approval.decided_by ?? actor.principal
    return shareRun(approval.approval_id, async () => {
      const find = async (tx: Tx) => assertFound(await findApproval(tx, approval.approval_id))
      // Another process may have finished it since.
      if (!(await write((tx) => updateApprovalRunning(tx, approval.approval_id)))) return read(find)
      const outcome = await runApproval({ kernel, approval, requester, request, approved_by, restriction_id }).catch(
        (error) => keepApproved({ kernel, write, request }, approval, error),
      )
      if (!outcome) return read(find)
      return settle(fingerprint, async (tx) => {
        const ended = (await updateApprovalOutcome(tx, approval.approval_id, outcome)) ?? (await find(tx))
        // Its run may have shown what it is about.
        await noteRestriction({ tx, audit }, 'mcp_approval', approval.approval_id)
        return ended
      })
    })
  }),

  tenantRoute('POST /mcp/approvals/:approval_id/deny', {
    id: 'denyToolCall',
    summary: 'Deny a tool call that waits for a person, or that was approved but has not run',
    description: 'A call that is running, or that took effect, is not denied.',
    roles: approvers,
    tx: 'write',
    params: ToolApprovalParams,
    body: ApprovalDecision,
    reply: [200, ToolApproval],
    problems: ['not_found', 'transition_not_allowed', 'approval_own_request'],
  }).handle(async ({ tx, params, body, audit }) => {
    const approval = await lockDecidable(tx, params.approval_id)
    await noteRestriction({ tx, audit }, 'mcp_approval', approval.approval_id)
    assertDeniable(approval)
    return assertFound(
      await updateApprovalDecided(tx, approval.approval_id, { state: 'denied', note: body.note ?? null }),
    )
  }),

  tenantRoute('GET /mcp/calls', {
    id: 'listToolCalls',
    summary: 'Every tool call with its caller, program and outcome, newest first',
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: ToolCallQuery,
    reply: [200, ToolCallPage],
  }).handle(async (input) => {
    const { tool = null, principal = null, outcome = null } = input.query
    return paginate(input, 'listToolCalls', ['called_at', 'call_id'], (after, count) =>
      listCalls(input.tx, { tool, principal, outcome }, after, count),
    )
  }),

  tenantRoute('GET /mcp/calls/:call_id', {
    id: 'getToolCall',
    summary: 'One tool call; its id is that of its audit event',
    roles: readers,
    tx: 'read',
    params: ToolCallParams,
    reply: [200, ToolCallView],
    problems: ['not_found'],
  }).handle(async (input) => {
    const call = assertFound(await findCall(input.tx, input.params.call_id))
    await noteRestriction(input, 'mcp_call', call.call_id)
    return call
  }),
]
