/** Calls a tool: policy, confirmation, then the operation itself through `kernel.call`. */
import { ProtocolError, type ServerContext } from '@modelcontextprotocol/server'
import { decideTool, mayCallTool } from '#kernel/auth/tool-policy.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { toolCallMetric, toolDurationMetric } from '../metrics.ts'
import { type Arguments, type ToolRequest, toToolRequest } from '../tools/arguments.ts'
import { getCatalogue, type Tool } from '../tools/catalogue.ts'
import { requestApproval } from './approvals.ts'
import { askToConfirm } from './confirmation.ts'
import { followJob } from './job-progress.ts'
import { getClientName, type Session } from './session.ts'
import {
  callOperation,
  hashArguments,
  recordRefusal,
  refuse,
  type ToolCall,
  toErrorResult,
  toResult,
} from './tool-call.ts'

const INVALID_PARAMS = -32_602

export async function callTool(
  session: Session,
  ctx: ServerContext,
  { name, arguments: given = {} }: { name: string; arguments?: Arguments | undefined },
) {
  const call: ToolCall = {
    session,
    ctx,
    name,
    given,
    arguments_hash: hashArguments(session, name, given),
    client: getClientName(session, ctx),
    started_ms: performance.now(),
  }
  const tool = getCatalogue(session.kernel.routes).get(name)
  if (!tool) {
    await recordRefusal(call, undefined, 'not_found')
    throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${name.slice(0, 100)}`)
  }
  try {
    const result = await runTool(call, tool)
    session.kernel.metrics.increment(toolCallMetric, { outcome: 'isError' in result ? 'refused' : 'succeeded' })
    return result
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    session.kernel.metrics.increment(toolCallMetric, { outcome: error.status < 500 ? 'refused' : 'failed' })
    return toErrorResult(call, tool, error)
  } finally {
    const duration_s = (performance.now() - call.started_ms) / 1000
    session.kernel.metrics.observe(toolDurationMetric, { effect: tool.mark.effect }, duration_s)
  }
}

async function runTool(call: ToolCall, tool: Tool) {
  const { session, given } = call
  const { kernel, actor } = session
  const status = (await kernel.tenantStatusCache.get(actor.tenant_id)) ?? fail('token_invalid')
  const decision = mayCallTool(tool.route, actor.roles)
    ? decideTool(status.tool_rules, tool.mark.name, actor.roles)
    : 'allow'
  if (decision === 'forbid') {
    return refuse(call, tool, new Problem('tool_forbidden', { members: { tool: tool.mark.name } }))
  }
  let request: ToolRequest
  try {
    request = toToolRequest(tool, given)
    if (decision === 'person') kernel.limits.takeToolCall(actor.tenant_id, actor.principal, status)
  } catch (error) {
    return refuse(call, tool, error as Problem)
  }
  if (decision === 'person') return requestApproval(call, tool)
  const question = tool.mark.confirm ? await askToConfirm(call, tool, request) : undefined
  if (question) return question
  const response = await followJob(call, tool, request, () => callOperation(call, tool, request))
  return toResult(tool, response)
}
