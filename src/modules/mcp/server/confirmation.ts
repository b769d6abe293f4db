/** Asks the person behind a client to confirm a proposal, or the client itself where it cannot ask. */
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { Problem } from '#kernel/problem.ts'
import { buildConfirmation, type ToolRequest } from '../tools/arguments.ts'
import type { Tool } from '../tools/catalogue.ts'
import { encodeRequestState, isValidRequestState, type StateBinding } from './request-state.ts'
import { recordRefusal, refuse, type ToolCall } from './tool-call.ts'

const INVALID_PARAMS = -32_602

/** Undefined where the call is confirmed. */
export async function askToConfirm(call: ToolCall, tool: Tool, { confirm }: ToolRequest) {
  const { session, ctx, given } = call
  const expected = buildConfirmation(tool.mark.confirm as string, given)
  if (confirm === expected) return undefined
  const binding: StateBinding = {
    tenant_id: session.actor.tenant_id,
    principal: session.actor.principal,
    tool: tool.mark.name,
    arguments_hash: call.arguments_hash,
  }
  const state = ctx.mcpReq.requestState<string>()
  if (state !== undefined) {
    if (!isValidRequestState(session.kernel.integrity.all('cursor'), state, binding)) {
      await recordRefusal(call, tool, 'tool_confirmation_required')
      throw new ProtocolError(INVALID_PARAMS, 'Invalid or expired requestState', { reason: 'invalid_request_state' })
    }
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'confirm')
    if (answer.kind === 'elicit' && answer.action !== 'accept') {
      return refuse(call, tool, new Problem('tool_forbidden', 'The person declined. Nothing was proposed.'))
    }
    if (acceptedContent(ctx.mcpReq.inputResponses, 'confirm')?.['confirm'] === expected) return undefined
  }
  const members = { confirm: expected }
  const detail = `Repeat the call with confirm set to "${expected}".`
  if (confirm !== undefined || !canAsk(ctx)) {
    return refuse(call, tool, new Problem('tool_confirmation_required', { detail, members }))
  }
  await recordRefusal(call, tool, 'tool_confirmation_required')
  return inputRequired({
    inputRequests: {
      confirm: inputRequired.elicit({
        message: `${tool.mark.title}: ${expected}. Somebody else then approves or rejects it. Type ${expected} to confirm.`,
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'string', title: 'Confirm', description: `Type ${expected}` } },
          required: ['confirm'],
        },
      }),
    },
    requestState: encodeRequestState(session.kernel.integrity.current('cursor'), binding),
  })
}

/** Whether the client says that it can show a form to a person. Older clients cannot be asked between two messages. */
function canAsk(ctx: ServerContext): boolean {
  const envelope = ctx.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] as { elicitation?: object } | undefined
  const { elicitation } = capabilities ?? {}
  return elicitation !== undefined && (Object.keys(elicitation).length === 0 || 'form' in elicitation)
}
