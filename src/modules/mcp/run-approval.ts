/** Runs a tool call that a person approved: exactly the stored arguments, in the name of who asked for it. */

import type { ServerContext } from '@modelcontextprotocol/server'
import { isPerson } from '#kernel/auth/principal.ts'
import { isRole } from '#kernel/auth/roles.ts'
import { decideTool, mayCallTool } from '#kernel/auth/tool-policy.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { toProblem } from '#kernel/http/problem-reply.ts'
import { assertFound, fail, Problem, type ProblemCode, problems } from '#kernel/problem.ts'
import type { Actor, RequestMetadata } from '#kernel/route.ts'
import { findPresentRoles, findRequester } from '#modules/access/index.ts'
import { type ApprovalRow, lockApproval, updateApprovalNotRun } from './queries.ts'
import { type SessionKernel, toProblemObject } from './server/session.ts'
import { callOperation, hashArguments, type ToolCall } from './server/tool-call.ts'
import { toToolRequest } from './tools/arguments.ts'
import { getCatalogue } from './tools/catalogue.ts'

/** The row, if this person may decide it. */
export async function lockDecidable(tx: Tx, approval_id: string): Promise<ApprovalRow> {
  const approval = assertFound(await lockApproval(tx, approval_id))
  if (!isPerson(tx.actor) || tx.actor === approval.requested_by) fail('approval_own_request')
  if (tx.actor === (await findRequester(tx, approval.requested_by))) {
    fail('approval_own_request', 'A key that you asked for made this call.')
  }
  return approval
}

/** What runs may take effect at any moment, and what took effect is not undone. */
export function assertDeniable({ state, running, ran_at }: ApprovalRow): void {
  if (state === 'approved' && ran_at !== null) {
    fail('transition_not_allowed', 'The call took effect; approving it again stores its outcome.')
  }
  if (running) fail('transition_not_allowed', 'The call is running.')
  if (state !== 'waiting' && state !== 'approved') fail('transition_not_allowed', `The call is ${state}.`)
}

/** Who asked, with the roles that still hold. */
export async function findRequestingActor(tx: Tx, approval: ApprovalRow): Promise<Actor> {
  const present = await findPresentRoles(tx, approval.requested_by)
  const held = approval.requested_roles.filter(isRole).filter((role) => present === undefined || present.includes(role))
  return {
    principal: approval.requested_by,
    tenant_id: tx.tenant_id,
    roles: held,
    name: null,
    token_id: `approval:${approval.approval_id}`,
    issuer: 'probity',
    issued_at_s: 0,
    expires_at_s: 0,
  }
}

interface ApprovedRun {
  readonly kernel: SessionKernel
  readonly approval: ApprovalRow
  readonly requester: Actor
  readonly request: RequestMetadata
  readonly approved_by: string
  /** Of the approval, in force or not. */
  readonly restriction_id: string | null
}

/** Fails where the call could not be made today: the tool or the role is gone, or the policy forbids it now. */
export async function assertRunnable({
  kernel,
  approval,
  requester,
}: Pick<ApprovedRun, 'kernel' | 'approval' | 'requester'>) {
  const tool = getCatalogue(kernel.routes).get(approval.tool)
  const status = await kernel.tenantStatusCache.get(requester.tenant_id)
  if (!tool || decideTool(status?.tool_rules ?? [], approval.tool, requester.roles) === 'forbid') {
    fail('tool_forbidden', { members: { tool: approval.tool } })
  }
  if (!mayCallTool(tool.route, requester.roles)) {
    fail('author_not_permitted', `${requester.principal} no longer has a role that may call ${approval.tool}.`)
  }
  const hash = hashArguments({ kernel, actor: requester }, approval.tool, approval.arguments)
  if (hash !== approval.arguments_hash) fail('content_corrupt')
  return tool
}

/** A plugin that cannot run is not the operation's own refusal: the same call may succeed once it can. */
const pluginFailures: readonly ProblemCode[] = ['plugin_invalid', 'plugin_failed']

const isServerFailure = (error: unknown): boolean =>
  !(error instanceof Problem) ||
  error.code === 'internal' ||
  'retryable' in problems[error.code] ||
  pluginFailures.includes(error.code)

/** Runs of this process that have not ended. */
const running = new Map<string, Promise<ApprovalRow>>()

/** A second approval of the same call, such as that of a double click, waits for the first and gets its answer. */
export function shareRun(approval_id: string, run: () => Promise<ApprovalRow>): Promise<ApprovalRow> {
  const known = running.get(approval_id)
  if (known) return known
  const started = run().finally(() => running.delete(approval_id))
  running.set(approval_id, started)
  return started
}

/** Undefined while another process runs it. */
export async function runApproval(
  run: ApprovedRun,
): Promise<{ readonly state: 'succeeded' | 'failed'; readonly outcome: unknown } | undefined> {
  const { kernel, approval, requester, request, approved_by, restriction_id } = run
  const tool = await assertRunnable(run)
  const session = { kernel, actor: requester, request, client: null }
  const call: ToolCall = {
    session,
    // The caller is not connected: nothing is sent to it.
    ctx: { mcpReq: {} } as ServerContext,
    name: approval.tool,
    given: approval.arguments,
    arguments_hash: approval.arguments_hash,
    client: approval.client,
    started_ms: performance.now(),
  }
  const { approval_id } = approval
  try {
    const parts = { ...toToolRequest(tool, approval.arguments), idempotency_key: `approval-${approval_id}` }
    const { body } = await callOperation(call, tool, parts, { approval_id, approved_by, restriction_id })
    return { state: 'succeeded', outcome: JSON.parse(body ?? '{}') }
  } catch (error) {
    if (error instanceof Problem && error.code === 'idempotency_in_progress') return undefined
    // The operation's own refusal is its outcome. Where the server or a plugin failed, the call stays approved: approving it again runs it.
    if (isServerFailure(error)) throw error
    return { state: 'failed', outcome: toProblemObject(error, session) }
  }
}

interface FailedRun {
  readonly kernel: Pick<SessionKernel, 'log'>
  readonly request: RequestMetadata
  write<T>(body: (tx: Tx) => Promise<T>): Promise<T>
}

/** Says why the run ended, so that the call can be run again or denied. If that cannot be stored, the run counts as ended after `running_until`. */
export async function keepApproved(
  { kernel, request, write }: FailedRun,
  { approval_id }: ApprovalRow,
  error: unknown,
): Promise<never> {
  await write((tx) => updateApprovalNotRun(tx, approval_id, toProblem(error).code)).catch((err) =>
    kernel.log.error(
      { err, request_id: request.id },
      'the end of a run of an approved tool call could not be recorded',
    ),
  )
  throw error
}
