/**
 * One call of a tool: its operation, and what is recorded of it. Every call leaves one audit event and one row of the call log,
 * written together, whatever became of it.
 */
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import { recordEvent } from '#kernel/audit/record.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Problem } from '#kernel/problem.ts'
import type { SerializedResponse } from '#kernel/request/idempotency.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { deferCall } from '../queries.ts'
import { type Arguments, type ToolRequest, toArgumentErrors } from '../tools/arguments.ts'
import { getCatalogue, type Tool } from '../tools/catalogue.ts'
import { getClientName, type Session, toProblemObject, toScope } from './session.ts'

const POLL_AFTER_S = 2

/** Methods of the protocol whose every message is recorded. */
export const RECORDED: readonly string[] = ['tools/call', 'resources/read']
/** In the place of a name that no tool has: it may be any text, and what is recorded here is never erased. No tool can have it. */
const UNKNOWN_TOOL = 'unknown-tool'

/** One call while it is answered. */
export interface ToolCall {
  readonly session: Session
  readonly ctx: ServerContext
  /** As it is recorded: of a tool, or a method of the protocol. */
  readonly name: string
  readonly given: Arguments
  readonly arguments_hash: string
  readonly client: string | null
  readonly started_ms: number
  /** Set where data was read without naming a tool: the URI, or the method of the protocol. */
  readonly resource?: string
  /** Recorded in its place where the call was refused: a key in it may be any text, and an event names only what exists. */
  readonly resource_template?: string
}

export const createCall = (
  session: Session,
  ctx: ServerContext,
  { name, given, ...resource }: { name: string; given: Arguments } & Pick<ToolCall, 'resource' | 'resource_template'>,
): ToolCall => ({
  session,
  ctx,
  name: getCatalogue(session.kernel.routes).has(name) || RECORDED.includes(name) ? name : UNKNOWN_TOOL,
  given,
  arguments_hash: hashArguments(session, name, given),
  client: getClientName(session, ctx),
  started_ms: performance.now(),
  ...resource,
})

/** The operation with everything an HTTP request has, and what is recorded of a call. */
export function callOperation(
  call: ToolCall,
  tool: Pick<Tool, 'route'>,
  { params, query, body, idempotency_key }: Omit<ToolRequest, 'confirm'>,
  approved?: { readonly approval_id: string; readonly approved_by: string; readonly restriction_id: string | null },
): Promise<SerializedResponse> {
  const { session } = call
  return session.kernel.call(
    tool.route.id,
    session.actor,
    { params, query, body },
    {
      via: 'mcp',
      // Several calls may share a request.
      request: { ...session.request, new_id: uuidv7(), assistant: { client: call.client } },
      idempotency_key,
      recorded: {
        detail: {
          ...toEventDetail(call),
          ...(approved && { approval_id: approved.approval_id, approved_by: approved.approved_by }),
        },
        ...(call.resource_template !== undefined && { refused: { resource: call.resource_template } }),
        restriction_id: approved?.restriction_id ?? null,
        onEvent: (tx, { event_id, problem, value, restriction_id }) =>
          deferCallRow(tx, call, {
            event_id,
            operation: tool.route.id,
            problem,
            value,
            approval_id: approved?.approval_id ?? null,
            restriction_id,
          }),
      },
    },
  )
}

export async function refuse(call: ToolCall, tool: Tool, problem: Problem): Promise<CallToolResult> {
  await recordRefusal(call, tool, problem.code)
  return toErrorResult(call, tool, problem)
}

export const recordRefusal = (
  call: ToolCall,
  tool: Pick<Tool, 'route'> | undefined,
  problem: string,
): Promise<void> => {
  chargeRefusal(call.session)
  return call.session.kernel.transactions.write(toScope(call.session), async (tx) =>
    recordCall(tx, call, { operation: tool?.route.id ?? null, problem }),
  )
}

/** A refused call is recorded too, so it counts. Over the limit, the next message is refused before it is read. */
export function chargeRefusal({ kernel, actor }: Session): void {
  const status = kernel.tenantStatusCache.get(actor.tenant_id)
  if (!status || status instanceof Promise) return
  try {
    kernel.limits.takeToolCall(actor.tenant_id, actor.principal, status)
  } catch {
    // The answer to this call is its refusal.
  }
}

/** The event and the row of a call that reached no operation. */
export function recordCall(
  tx: Tx,
  call: ToolCall,
  {
    operation,
    problem,
    approval_id = null,
    value = null,
    restriction_id = null,
  }: {
    operation: string | null
    problem: string | null
    approval_id?: string | null
    value?: unknown
    restriction_id?: string | null
  },
): void {
  const event_id = recordEvent(tx, call.session.kernel.auditKeys, {
    operation: operation ?? 'callTool',
    object_type: 'mcp',
    object_id: tx.tenant_id,
    request_id: call.session.request.id,
    detail: {
      ...toEventDetail(call),
      ...(problem !== null && { problem }),
      ...(problem !== null && call.resource_template !== undefined && { resource: call.resource_template }),
      ...(approval_id !== null && { approval_id }),
    },
    restriction_id,
  })
  deferCallRow(tx, call, { event_id, operation, problem, value, approval_id, restriction_id })
}

const toEventDetail = ({ name, arguments_hash, client, resource }: ToolCall) => ({
  via: 'mcp',
  tool: name,
  ...(resource !== undefined && { resource }),
  arguments_hash,
  ...(client !== null && { client }),
})

function deferCallRow(
  tx: Tx,
  call: ToolCall,
  facts: {
    event_id: string
    operation: string | null
    problem: string | null
    value: unknown
    approval_id: string | null
    restriction_id: string | null
  },
): void {
  const { session, name, arguments_hash, client, started_ms } = call
  const text = facts.problem === null ? JSON.stringify(facts.value ?? null) : null
  deferCall(tx, {
    call_id: facts.event_id,
    client,
    tool: name,
    operation: facts.operation,
    arguments_hash,
    result_hash: text === null ? null : session.kernel.auditKeys.fingerprint(text),
    problem: facts.problem,
    approval_id: facts.approval_id,
    request_id: session.request.id,
    duration_ms: Math.round(performance.now() - started_ms),
    restriction_id: facts.restriction_id,
  })
}

/** Keyed, since arguments may name people. */
export const hashArguments = (
  { kernel, actor }: Pick<Session, 'kernel' | 'actor'>,
  tool: string,
  given: Arguments,
): string => kernel.auditKeys.fingerprint(canonicalJson([actor.tenant_id, tool, given]))

export function toResult(tool: Tool, { body }: Pick<SerializedResponse, 'body'>): CallToolResult {
  const value = JSON.parse(body ?? '{}') as Record<string, unknown>
  if (!tool.route.starts) return { content: [{ type: 'text', text: body ?? '{}' }], structuredContent: value }
  const handle = { job_id: value['job_id'], state: value['state'], poll_after_s: POLL_AFTER_S }
  return { content: [{ type: 'text', text: JSON.stringify(handle) }], structuredContent: handle }
}

export function toErrorResult({ session }: Pick<ToolCall, 'session'>, tool: Tool, problem: Problem): CallToolResult {
  const body = toProblemObject(problem, session)
  const { errors } = problem.extra
  const shown = errors ? { ...body, errors: toArgumentErrors(tool, errors) } : body
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(shown) }], structuredContent: shown }
}
