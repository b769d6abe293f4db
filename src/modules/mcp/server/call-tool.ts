/** Calls a tool: role, policy, arguments, confirmation, then the operation itself through `kernel.call`. */
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { decideTool } from '#kernel/auth/tool-policy.ts'
import { assertRole } from '#kernel/http/authentication.ts'
import { assertValidInputs } from '#kernel/http/request-inputs.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { toolCallMetric, toolDurationMetric } from '../metrics.ts'
import { type Arguments, type ToolRequest, toToolRequest } from '../tools/arguments.ts'
import { getCatalogue, type Tool } from '../tools/catalogue.ts'
import { requestApproval } from './approvals.ts'
import { askToConfirm } from './confirmation.ts'
import { followJob } from './job-progress.ts'
import { INVALID_PARAMS, reportProblem, type Session, toAnsweredName } from './session.ts'
import {
  callOperation,
  createCall,
  recordRefusal,
  refuse,
  type ToolCall,
  toErrorResult,
  toResult,
} from './tool-call.ts'

type Answer = CallToolResult | InputRequiredResult

export async function callTool(
  session: Session,
  ctx: ServerContext,
  { name, arguments: given = {} }: { name: string; arguments?: Arguments | undefined },
): Promise<Answer> {
  const call = createCall(session, ctx, { name, given })
  const tool = getCatalogue(session.kernel.routes).get(name)
  if (!tool) {
    await recordRefusal(call, undefined, 'not_found')
    throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${toAnsweredName(name)}`)
  }
  const { metrics } = session.kernel
  try {
    const result = await runTool(call, tool)
    metrics.increment(toolCallMetric, { outcome: 'isError' in result ? 'refused' : 'succeeded' })
    return result
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const problem = reportProblem(error, session, tool.route.id)
    metrics.increment(toolCallMetric, { outcome: problem.status < 500 ? 'refused' : 'failed' })
    return toErrorResult(call, tool, problem)
  } finally {
    const duration_s = (performance.now() - call.started_ms) / 1000
    metrics.observe(toolDurationMetric, { effect: tool.mark.effect }, duration_s)
  }
}

async function runTool(call: ToolCall, tool: Tool): Promise<Answer> {
  const prepared = await prepare(call, tool).catch((error) => recordFailure(call, tool, error))
  if ('answer' in prepared) return prepared.answer
  const { request } = prepared
  const response = await followJob(call, tool, request, () => callOperation(call, tool, request))
  return toResult(tool, response)
}

/** The request of the operation, unless a refusal, a question or an approval answers the call before. */
async function prepare(call: ToolCall, tool: Tool): Promise<{ answer: Answer } | { request: ToolRequest }> {
  const { session, given } = call
  const { kernel, actor } = session
  const status = (await kernel.tenantStatusCache.get(actor.tenant_id)) ?? fail('token_invalid')
  let request: ToolRequest
  let decision: ReturnType<typeof decideTool>
  try {
    assertRole(tool.route, actor)
    decision = decideTool(status.tool_rules, tool.mark.name, actor.roles)
    if (decision === 'forbid') fail('tool_forbidden', { members: { tool: tool.mark.name } })
    request = toToolRequest(tool, given)
    const { params, query, body } = request
    // Nobody is asked about arguments that do not fit the schema. Whether what they name exists, and whether the operation accepts it, is
    // found out when it runs: most operations have no check without an effect. A copy, since defaults are filled in.
    if (decision === 'person' || tool.mark.confirm) {
      assertValidInputs(tool.route, structuredClone({ params, query, body }))
    }
    if (decision === 'person') kernel.limits.takeToolCall(actor.tenant_id, actor.principal, status)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { answer: await refuse(call, tool, error) }
  }
  if (decision === 'person') return { answer: await requestApproval(call, tool) }
  return tool.mark.confirm ? askToConfirm(call, tool, request) : { request }
}

/** The database may be what failed: then the log of the process is all that is left of the call. */
async function recordFailure(call: ToolCall, tool: Tool, error: unknown): Promise<never> {
  if (!(error instanceof ProtocolError)) {
    const problem = reportProblem(error, call.session, tool.route.id)
    await recordRefusal(call, tool, problem.code).catch((err) =>
      call.session.kernel.log.error({ err, request_id: call.session.request.id }, 'a tool call could not be recorded'),
    )
    throw problem
  }
  throw error
}
