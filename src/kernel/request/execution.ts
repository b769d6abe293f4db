/** Executes an approved change request and records the change under the operation and object it is about. */
import { CollectedNotes, objectOf, recordEvent } from '../audit/record.ts'
import type { Tx } from '../database/tx.ts'
import type { Kernel } from '../kernel.ts'
import type { Actor, RequestFacts, Route } from '../route.ts'
import type { ChangeRequestRow } from './queries.ts'

export async function executeChangeRequest(
  kernel: Kernel,
  tx: Tx,
  request: ChangeRequestRow,
  by: { readonly actor: Actor; readonly request: RequestFacts },
): Promise<void> {
  const notes = new CollectedNotes(kernel.audit)
  const made = await kernel.perform(request.operation, {
    tx,
    actor: by.actor,
    audit: notes,
    params: request.params,
    query: request.query,
    body: request.body ?? undefined,
    // The proposal was bound to its head; preconditions of this HTTP request are about the change request.
    request: { ...by.request, if_match: undefined, approves: request.cr_id, asked_by: request.created_by },
  })
  const route = kernel.routes.find(({ id }) => id === request.operation) as Route
  recordEvent(tx, kernel.audit, {
    operation: request.operation,
    request_id: by.request.id,
    detail: {
      ...notes.detail,
      executed: request.cr_id,
      proposed_by: request.created_by,
      approved_by: [...request.approvals.map(({ approved_by }) => approved_by), tx.actor],
    },
    ...objectOf(route, request.params, made, tx.tenant_id),
  })
}
