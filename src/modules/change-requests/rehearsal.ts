/**
 * Executes a change request and undoes it. What the execution would refuse is then known before anybody approves, for every governed
 * operation alike.
 */
import { AuditNotesCollector } from '#kernel/audit/record.ts'
import { isRole } from '#kernel/auth/roles.ts'
import { runAndUndo } from '#kernel/database/savepoint.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem, problems } from '#kernel/problem.ts'
import type { ChangeRequestRow } from '#kernel/request/queries.ts'
import type { Actor, RequestMetadata } from '#kernel/route.ts'
import type { ClosedGate } from './approval-gates.ts'

/** The execution would be refused, as things are. */
export const EXECUTION = 'execution'

/** Throws what the execution would throw. The reader acts with the role of those who approve. */
export async function rehearse(
  kernel: Capabilities<'auditKeys' | 'runHandler'>,
  tx: Tx,
  request: ChangeRequestRow,
  by: { readonly actor: Actor; readonly request: RequestMetadata },
): Promise<void> {
  const { required_role: role, cr_id, created_by } = request
  const roles = isRole(role) && !by.actor.roles.includes(role) ? [...by.actor.roles, role] : by.actor.roles
  await runAndUndo(tx, (part) =>
    kernel.runHandler(request.operation, {
      tx: part,
      actor: { ...by.actor, roles },
      audit: new AuditNotesCollector(kernel.auditKeys),
      params: request.params,
      query: request.query,
      body: request.body ?? undefined,
      request: { ...by.request, if_match: undefined, change_request_id: cr_id, requested_by: created_by },
    }),
  )
}

/** Refusals that can be put right without another request; their own words say how. */
const CURABLE: readonly string[] = ['last_administrator', 'approvers_missing']

/** A refusal as gates; any other failure says nothing about the request and is thrown again. */
export function toExecutionGates(error: unknown): readonly ClosedGate[] {
  if (!(error instanceof Problem) || error.status >= 500) throw error
  const { code, extra } = error
  if (code === 'gates_closed') {
    const gates = extra.members?.['gates'] as readonly ClosedGate[]
    return gates.map(({ gate, detail }) => ({ gate, detail }))
  }
  const why = extra.detail ?? `${problems[code].title}. ${problems[code].advice}`
  const detail = CURABLE.includes(code) ? why : `${why} Reject this request, or have it withdrawn.`
  return [{ gate: CURABLE.includes(code) ? code : EXECUTION, detail }]
}
