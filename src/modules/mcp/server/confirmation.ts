/** Asks the person behind a client to confirm a proposal, or the client itself where it cannot ask. */
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { fail, Problem } from '#kernel/problem.ts'
import { findStoredResponse, insertStoredResponse, tryLockIdempotencyKey } from '#kernel/request/queries.ts'
import { type Arguments, buildConfirmation, type ToolRequest } from '../tools/arguments.ts'
import type { Tool } from '../tools/catalogue.ts'
import { encodeRequestState, isValidRequestState, type StateBinding } from './request-state.ts'
import { INVALID_PARAMS, toScope } from './session.ts'
import { chargeRefusal, recordCall, recordRefusal, refuse, type ToolCall, toErrorResult } from './tool-call.ts'

/** The request of a confirmed call, or what answers the call until somebody confirmed it. */
export async function askToConfirm(call: ToolCall, tool: Tool, request: ToolRequest) {
  const { session, ctx, given } = call
  const { confirm } = request
  const expected = buildConfirmation(tool.mark.confirm as string, given)
  if (confirm === expected) return { request }
  let wrong = confirm
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
    const isDeclined = answer.kind === 'elicit' && answer.action !== 'accept'
    if (isDeclined || (await isDeclinedState(call, tool, state))) return { answer: await decline(call, tool, state) }
    const typed = acceptedContent(ctx.mcpReq.inputResponses, 'confirm')?.['confirm']
    if (typed === expected) {
      // One answer of a person is one proposal, however often the client sends it.
      return { request: { ...request, idempotency_key: request.idempotency_key ?? toStateKey(state) } }
    }
    wrong = typeof typed === 'string' ? typed : ''
  }
  await assertExists(call, tool, request)
  return { answer: await ask(call, tool, { expected, binding, wrong, isRepeated: confirm !== undefined }) }
}

async function assertExists({ session }: ToolCall, { mark }: Tool, { params }: ToolRequest): Promise<void> {
  if (mark.confirm_reads === undefined) return
  const inputs = { params, query: {}, body: undefined }
  await session.kernel.call(mark.confirm_reads, session.actor, inputs, { via: 'mcp', request: session.request })
}

const toStateKey = (state: string): string => `confirm-${state}`
const DECLINED = 'declined'

const toStateScope = ({ session }: ToolCall, tool: Tool, state: string) => ({
  principal: session.actor.principal,
  operation: tool.route.id,
  key: toStateKey(state),
})

async function isDeclinedState(call: ToolCall, tool: Tool, state: string): Promise<boolean> {
  const stored = await call.session.kernel.transactions.read(toScope(call.session), (tx) =>
    findStoredResponse(tx, toStateScope(call, tool, state)),
  )
  return stored?.fingerprint === DECLINED
}

/** Uses the state up: it takes the place of the answer that an accepted one would have. One that was accepted before stays accepted. */
async function decline(call: ToolCall, tool: Tool, state: string) {
  const scope = toStateScope(call, tool, state)
  chargeRefusal(call.session)
  const problem = await call.session.kernel.transactions.write(toScope(call.session), async (tx) => {
    if (!(await tryLockIdempotencyKey(tx, scope))) fail('idempotency_in_progress', { retry_after_s: 1 })
    const stored = await findStoredResponse(tx, scope)
    const isProposed = stored !== undefined && stored.fingerprint !== DECLINED
    const answer = isProposed
      ? toProposedProblem(stored)
      : new Problem('tool_declined', 'The person declined. Nothing was proposed; call again to ask again.')
    if (!stored) {
      await insertStoredResponse(tx, scope, {
        fingerprint: DECLINED,
        status: answer.status,
        headers: {},
        body: null,
        restriction_id: null,
      })
    }
    recordCall(tx, call, { operation: tool.route.id, problem: answer.code })
    return answer
  })
  return toErrorResult(call, tool, problem)
}

function toProposedProblem({
  body,
  is_hidden,
  is_erased,
}: NonNullable<Awaited<ReturnType<typeof findStoredResponse>>>) {
  const proposed = is_hidden || is_erased || body === null ? {} : (JSON.parse(body) as { cr_id?: unknown })
  const { cr_id } = proposed
  if (typeof cr_id !== 'string') return new Problem('transition_not_allowed', 'It was accepted and proposed already.')
  const detail =
    `It was accepted and proposed already: the change request ${cr_id} exists. While it is open, its author withdraws it with ` +
    `POST /api/change-requests/${cr_id}/withdraw.`
  return new Problem('transition_not_allowed', { detail, members: { cr_id } })
}

interface Question {
  readonly expected: string
  readonly binding: StateBinding
  /** What was given in place of `expected`; undefined before anything was given. */
  readonly wrong: string | undefined
  /** It was given as an argument. */
  readonly isRepeated: boolean
}

async function ask(call: ToolCall, tool: Tool, { expected, binding, wrong, isRepeated }: Question) {
  const fault = wrong === undefined ? [] : [`${quote(wrong)} is not ${expected}: nothing was proposed.`]
  if (isRepeated || !canAsk(call.ctx)) {
    const detail = [...fault, `Repeat the call with confirm set to "${expected}".`].join(' ')
    return refuse(call, tool, new Problem('tool_confirmation_required', { detail, members: { confirm: expected } }))
  }
  await recordRefusal(call, tool, 'tool_confirmation_required')
  const message = [
    ...fault,
    `${tool.mark.title}: ${expected}.`,
    ...describeArguments(tool, call.given),
    `Somebody else then approves or rejects it. Type ${expected} to confirm.`,
  ]
  return inputRequired({
    inputRequests: {
      confirm: inputRequired.elicit({
        message: message.join('\n'),
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'string', title: 'Confirm', description: `Type ${expected}` } },
          required: ['confirm'],
        },
      }),
    },
    requestState: encodeRequestState(call.session.kernel.integrity.current('cursor'), binding),
  })
}

/** One line each, with what an argument that was not given means. */
const describeArguments = ({ mark }: Tool, given: Arguments): string[] =>
  Object.entries(mark.confirm_shows ?? {}).flatMap(([name, { title, absent }]) => {
    const value = given[name]
    if (value === undefined) return absent === undefined ? [] : [`${title}: ${absent}`]
    return [`${title}: ${quote(String(value))}`]
  })

/** On one line and without characters that change how the rest reads: the model wrote it, and a person decides on it. */
const quote = (text: string): string =>
  `“${text
    .slice(0, MAX_QUOTED)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '\ufffd')}”`
/** A reason is at most this long. */
const MAX_QUOTED = 2000

/** Whether the client says that it can show a form to a person. Older clients cannot be asked between two messages. */
function canAsk(ctx: ServerContext): boolean {
  const envelope = ctx.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] as { elicitation?: object } | undefined
  const { elicitation } = capabilities ?? {}
  return elicitation !== undefined && (Object.keys(elicitation).length === 0 || 'form' in elicitation)
}
