/**
 * Who may read a change request in full: callers of its operation, its approvers, and auditors. Everybody else sees only that it
 * exists and its state.
 */
import type { Role } from '../auth/roles.ts'
import type { Route } from '../route.ts'
import { closed, type Static, Type } from '../schema.ts'
import { ChangeRequestView } from './approval.ts'
import type { ChangeRequestRow } from './queries.ts'

const { cr_id, action, state, restriction_id } = ChangeRequestView.properties

export const ChangeRequestSummary = closed(
  { cr_id, action, state, restriction_id },
  {
    title: 'ChangeRequestSummary',
    description: 'For callers who may neither call the operation nor approve it, and are not auditors.',
  },
)

/** Both schemas are closed, so that a reply matches exactly one of them. */
export const VisibleChangeRequest = Type.Unsafe<Static<typeof ChangeRequestView> | Static<typeof ChangeRequestSummary>>(
  { anyOf: [ChangeRequestView, ChangeRequestSummary], title: 'VisibleChangeRequest' },
)
export type VisibleChangeRequest = Static<typeof VisibleChangeRequest>

type Subject = Pick<ChangeRequestRow, 'operation' | 'required_role'>

/** By role alone: an author who lost the role cannot read what approvers wrote since. */
export function mayReadChangeRequest(
  routes: readonly Route[],
  held: readonly Role[],
  { operation, required_role }: Subject,
): boolean {
  if (held.includes('auditor') || (held as readonly string[]).includes(required_role)) return true
  return routes.some(
    (route) =>
      (route.id === operation || route.submits === operation) && route.roles.some((role) => held.includes(role)),
  )
}

/** The change request as these roles may read it; the same object where they may read all of it. */
export function toVisibleChangeRequest(
  routes: readonly Route[],
  held: readonly Role[],
  request: VisibleChangeRequest,
): VisibleChangeRequest {
  if (!('operation' in request) || mayReadChangeRequest(routes, held, request)) return request
  return {
    cr_id: request.cr_id,
    action: request.action,
    state: request.state,
    restriction_id: request.restriction_id,
  }
}
