/** Executes an approved change request and records the change under the operation and object it is about. */
import type { MemberChange } from '../audit/member-change.ts'
import { AuditNotesCollector, getAuditedObject, recordEvent } from '../audit/record.ts'
import type { Tx } from '../database/tx.ts'
import type { Capabilities } from '../kernel.ts'
import type { Actor, RequestMetadata, Route } from '../route.ts'
import type { ChangeRequestRow } from './queries.ts'

/** Returns what it changed, member by member; null where the operation names no members. */
export async function executeChangeRequest(
  kernel: Capabilities<'auditKeys' | 'routes' | 'runHandler'>,
  tx: Tx,
  request: ChangeRequestRow,
  by: { readonly actor: Actor; readonly request: RequestMetadata },
): Promise<readonly MemberChange[] | null> {
  const notes = new AuditNotesCollector(kernel.auditKeys)
  const made = await kernel.runHandler(request.operation, {
    tx,
    actor: by.actor,
    audit: notes,
    params: request.params,
    query: request.query,
    body: request.body ?? undefined,
    // The change request was bound to its head; If-Match of this HTTP request is about the change request.
    request: { ...by.request, if_match: undefined, change_request_id: request.cr_id, requested_by: request.created_by },
  })
  const route = kernel.routes.find(({ id }) => id === request.operation) as Route
  recordEvent(tx, kernel.auditKeys, {
    operation: request.operation,
    request_id: by.request.id,
    detail: {
      ...notes.detail,
      executed: request.cr_id,
      proposed_by: request.created_by,
      ...(request.via === 'mcp' && { proposed_via: request.via, proposed_with: request.client }),
      approved_by: [...request.approvals.map(({ approved_by }) => approved_by), tx.actor],
    },
    restriction_id: notes.restriction.restriction_id,
    also_restriction_id: notes.restriction.also_restriction_id,
    ...getAuditedObject(route, request.params, made, tx.tenant_id),
  })
  return notes.changes
}
