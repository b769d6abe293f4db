/** Calls that wait for a person: stored with their exact arguments, run once by the approval, and collected by the caller. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { findObjectRestriction } from '#kernel/audit/queries.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { isUuid, uuidv7 } from '#kernel/uuid.ts'
import {
  type ApprovalRow,
  countNamed,
  findApprovalOfCall,
  hasEvents,
  insertApproval,
  lockApprovalsOfCall,
  updateApprovalCollected,
} from '../queries.ts'
import type { Arguments } from '../tools/arguments.ts'
import type { Tool } from '../tools/catalogue.ts'
import { toToolScope } from './session.ts'
import { recordCall, type ToolCall, toErrorResult, toResult } from './tool-call.ts'

/**
 * The first call asks for approval, the same call asks for its state, and after the approval it returns the result. What the approval
 * did is not done again. The same calls at the same time take turns; those that follow the first within a minute get what it got.
 */
export function requestApproval(call: ToolCall, tool: Tool): Promise<CallToolResult> {
  const { session, given, arguments_hash, client } = call
  const operation = tool.route.id
  return session.kernel.transactions.write(toToolScope(session), async (tx) => {
    await assertNamed(tx, given)
    const same = { tool: tool.mark.name, arguments_hash }
    await lockApprovalsOfCall(tx, same)
    const known = await findApprovalOfCall(tx, same)
    const restriction_id = known ? await findRestrictionId(tx, known) : null
    if (known?.state === 'succeeded' || known?.state === 'failed') {
      await updateApprovalCollected(tx, known.approval_id)
      const problem = known.state === 'failed' ? String((known.outcome as { code?: unknown }).code) : null
      recordCall(tx, call, { operation, problem, approval_id: known.approval_id, value: known.outcome, restriction_id })
      return toCollectedResult(tool, known)
    }
    if (known?.state === 'denied') {
      recordCall(tx, call, { operation, problem: 'tool_declined', approval_id: known.approval_id, restriction_id })
      const reason = known.note === null ? '' : `, who writes: “${known.note}”`
      const detail = `The call was denied by ${known.decided_by}${reason}.`
      return toErrorResult(call, tool, new Problem('tool_declined', { detail, members: { tool: tool.mark.name } }))
    }
    const requested = {
      ...same,
      approval_id: uuidv7(),
      operation,
      arguments: given,
      client,
      requested_roles: [...session.actor.roles],
    }
    const approval = known ?? ((await insertApproval(tx, requested)) as ApprovalRow)
    const { approval_id, state, expires_at } = approval
    recordCall(tx, call, {
      operation,
      problem: 'tool_approval_required',
      approval_id,
      restriction_id: await findRestrictionId(tx, approval),
    })
    const problem = new Problem('tool_approval_required', {
      ...(state === 'approved' && { detail: describeApproved(approval) }),
      members: { approval_id, state, expires_at },
    })
    return toErrorResult(call, tool, problem)
  })
}

/** Of what the call names or worked on, in force or not. */
const findRestrictionId = async (tx: Tx, { approval_id }: ApprovalRow): Promise<string | null> =>
  (await findObjectRestriction(tx, 'mcp_approval', approval_id))?.restriction_id ?? null

/** Arguments that name objects which may be restricted. */
const RESTRICTABLE = /^(investigation|alert|job|call|payload|report|schedule|document|evidence|hold|cr|event)_ids?$/

/**
 * An object that is hidden from assistants is answered like one that does not exist, before its id and what was written about it are
 * stored for others to read.
 */
async function assertNamed(tx: Tx, given: Arguments): Promise<void> {
  // The parameters of a report are its own document; inputs of a decision are values, whatever their names.
  const members = { ...given, ...(given['parameters'] as object | undefined) }
  const ids = Object.entries(members)
    .filter(([name]) => RESTRICTABLE.test(name))
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .map((value) => String(value).toLowerCase())
  const distinct = new Set(ids.filter(isUuid))
  if (distinct.size > 0 && (await countNamed(tx, [...distinct])) < distinct.size) fail('not_found')
  // A search of the audit record names an object of any kind: one of which the caller sees an event.
  const object_id = String(given['object_id'] ?? '').toLowerCase()
  if (isUuid(object_id) && !(await hasEvents(tx, object_id))) fail('not_found')
}

function describeApproved({ running, run_problem, ran_at }: ApprovalRow): string {
  if (running || ran_at !== null) return 'Approved, and running. Repeat the call to get the result.'
  const reason = run_problem === null ? 'its run did not end' : run_problem
  return `Approved, not run yet: ${reason}. A compliance officer can run it again. Repeat the call to get the result.`
}

function toCollectedResult(tool: Tool, { state, outcome }: ApprovalRow): CallToolResult {
  const body = JSON.stringify(outcome)
  if (state === 'succeeded') return toResult(tool, { body })
  return {
    isError: true,
    content: [{ type: 'text', text: body }],
    structuredContent: outcome as Record<string, unknown>,
  }
}
