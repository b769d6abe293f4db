/** The approval queue of all governed changes. The last approval executes the stored request exactly as it was proposed. */

import type { AuditNotes } from '#kernel/audit/record.ts'
import { noteRestriction } from '#kernel/audit/restricted-object.ts'
import { isPerson } from '#kernel/auth/principal.ts'
import { everyone, type Role } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { type RedactionContext, tenantRoute } from '#kernel/declare-route.ts'
import { emit } from '#kernel/events/emit.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { executeChangeRequest } from '#kernel/request/change-request-execution.ts'
import type { ChangeRequestRow } from '#kernel/request/queries.ts'
import { mayReadChangeRequest, toVisibleChangeRequest, VisibleChangeRequest } from '#kernel/request/visibility.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { Actor, RequestMetadata } from '#kernel/route.ts'
import { findRequester } from '#modules/access/index.ts'
import {
  findStaleRequests,
  isStale,
  listOwnGates,
  listReviewGates,
  mayAuthorPropose,
  STALE_GATES,
  toApprovalGates,
} from './approval-gates.ts'
import { changeRequestDecided } from './decided-event.ts'
import {
  findChangeRequest,
  incrementChangeRequestRevision,
  insertApproval,
  listChangeRequests,
  lockChangeRequest,
  updateChangeRequestDecided,
} from './queries.ts'
import { rehearse, toExecutionGates } from './rehearsal.ts'
import {
  ApprovalGates,
  ChangeRequestInboxPage,
  ChangeRequestPage,
  ChangeRequestParams,
  ChangeRequestQuery,
  Decision,
  InboxQuery,
  Rejection,
} from './schema.ts'

const approvers = ['compliance_officer', 'tenant_admin'] as const

const VISIBILITY_NOTE =
  'Shown in full to those who may call its operation, those who may approve it, and auditors; others get `cr_id`, `action` and ' +
  '`state` only.'

const redact = (request: VisibleChangeRequest, { actor, kernel }: RedactionContext<'routes'>): VisibleChangeRequest =>
  toVisibleChangeRequest(kernel.routes, actor.roles, request)

async function lockOpenRequest(
  input: { readonly tx: Tx; readonly audit: AuditNotes; readonly request: RequestMetadata },
  cr_id: string,
): Promise<ChangeRequestRow> {
  const request = assertFound(await lockChangeRequest(input.tx, cr_id))
  await noteRestriction(input, 'change_request', cr_id)
  assertRevision(request.revision, input)
  if (request.state !== 'open') fail('transition_not_allowed', `The change request is ${request.state}.`)
  return request
}

/** The approver must be another person and hold the role that the policy named when the change was proposed. */
async function assertMayApprove(tx: Tx, request: ChangeRequestRow, roles: readonly Role[]): Promise<void> {
  if (!isPerson(tx.actor) || tx.actor === request.created_by) fail('approval_own_request')
  if (tx.actor === (await findRequester(tx, request.created_by))) {
    fail('approval_own_request', 'A key that you asked for proposed this change.')
  }
  if (!(roles as readonly string[]).includes(request.required_role)) {
    fail('role_required', `Deciding this change needs the role ${request.required_role}.`)
  }
}

/** The author must still hold a role that may call the operation. */
async function assertAuthorMayPropose(
  tx: Tx,
  kernel: Capabilities<'routes'>,
  request: ChangeRequestRow,
): Promise<void> {
  if (await mayAuthorPropose(tx, kernel, request)) return
  const { created_by, operation } = request
  fail('author_not_permitted', `The author ${created_by} no longer has a role that may propose ${operation}.`)
}

/** Reports all closed gates together. What the execution would refuse comes first, because no review helps against it. */
async function assertReviewed(
  tx: Tx,
  kernel: Capabilities<'auditKeys' | 'routes' | 'reviews' | 'runHandler'>,
  request: ChangeRequestRow,
  by: { readonly actor: Actor; readonly request: RequestMetadata },
): Promise<void> {
  let gates = await listOwnGates(tx, kernel, request)
  if (gates.length === 0) {
    gates = await listReviewGates(tx, kernel, request)
    const isLast = request.approvals.length + 1 >= request.approvers
    // The last approval executes it anyway.
    if (gates.length > 0 || !isLast) await rehearse(kernel, tx, request, by)
  }
  if (gates.length === 0) return
  fail('gates_closed', { detail: gates.map(({ detail }) => detail).join(' '), members: { gates } })
}

/** Open requests say whether they can still be approved. */
async function markOutdated(tx: Tx, kernel: Capabilities<'routes'>, requests: readonly ChangeRequestRow[]) {
  const open = requests.filter(({ state }) => state === 'open')
  const stale = await findStaleRequests(tx, kernel, open)
  return requests.map((request) =>
    request.state === 'open' ? { ...request, is_outdated: stale.has(request.cr_id) } : request,
  )
}

/** `lockOpenRequest` has noted the restriction. */
const emitDecided = (
  { tx, audit }: { readonly tx: Tx; readonly audit: AuditNotes },
  { cr_id, action }: ChangeRequestRow,
  state: 'approved' | 'rejected' | 'withdrawn',
) =>
  emit(tx, changeRequestDecided, {
    object_id: cr_id,
    restriction_id: audit.restriction.restriction_id,
    data: { action, state },
  })

export const changeRequestRoutes = [
  tenantRoute('GET /change-requests', {
    id: 'listChangeRequests',
    summary: 'Change requests by state and action, newest first',
    description: VISIBILITY_NOTE,
    roles: everyone,
    tx: 'read',
    uses: ['cursors', 'routes'],
    query: ChangeRequestQuery,
    reply: [200, ChangeRequestPage],
    redact: (found, reader) => ({ ...found, items: found.items.map((request) => redact(request, reader)) }),
  }).handle(async (input) => {
    const { state = null, action = null } = input.query
    const requests = await paginate(input, 'listChangeRequests', ['created_at', 'cr_id'], (after, count) =>
      listChangeRequests(input.tx, { state, action, awaiting: null }, after, count),
    )
    return { ...requests, items: await markOutdated(input.tx, input.kernel, requests.items) }
  }),

  tenantRoute('GET /change-requests/inbox', {
    id: 'listChangeRequestInbox',
    summary: 'Change requests that the caller can approve or reject',
    description:
      'With `is_outdated` for those that can no longer be approved, because what they are based on has changed since: somebody ' +
      'has to reject them, or their author withdraws them.',
    roles: ['policy_editor', 'compliance_officer', 'tenant_admin'],
    tx: 'read',
    uses: ['cursors', 'routes'],
    query: InboxQuery,
    reply: [200, ChangeRequestInboxPage],
  }).handle(async (input) => {
    const { principal, roles } = input.actor
    const waiting = await paginate(input, 'listChangeRequestInbox', ['created_at', 'cr_id'], (after, count) =>
      listChangeRequests(input.tx, { state: 'open', action: null, awaiting: { principal, roles } }, after, count),
    )
    return { ...waiting, items: await markOutdated(input.tx, input.kernel, waiting.items) }
  }),

  tenantRoute('GET /change-requests/:cr_id', {
    id: 'getChangeRequest',
    summary: 'One change request: what it would do, who asked, who approved',
    description: VISIBILITY_NOTE,
    roles: everyone,
    tx: 'read',
    uses: ['routes'],
    params: ChangeRequestParams,
    reply: [200, VisibleChangeRequest],
    redact,
    revisioned: true,
    problems: ['not_found'],
  }).handle(async (input) => {
    const request = assertFound(await findChangeRequest(input.tx, input.params.cr_id))
    await noteRestriction(input, 'change_request', request.cr_id)
    return request
  }),

  tenantRoute('GET /change-requests/:cr_id/gates', {
    id: 'listChangeRequestGates',
    summary: 'What must hold before a change request is approved, and whether it does',
    description:
      'For those who may read the change request in full; 404 for others. A request that was decided has no gates. The change is ' +
      'executed and undone, so that what would refuse it is among them; nothing stays of that. Approving checks all of them again.',
    roles: ['compliance_officer', 'tenant_admin', 'auditor', 'policy_editor', 'analyst', 'service'],
    tx: 'self',
    uses: ['auditKeys', 'routes', 'reviews', 'runHandler'],
    params: ChangeRequestParams,
    reply: [200, ApprovalGates],
    problems: ['not_found', 'conflict', 'content_corrupt'],
  }).handle(async ({ read, write, audit, params: { cr_id }, kernel, actor, request: facts }) => {
    const found = await read(async (tx) => {
      const request = assertFound(await findChangeRequest(tx, cr_id))
      await noteRestriction({ tx, audit }, 'change_request', cr_id)
      if (!mayReadChangeRequest(kernel.routes, actor.roles, request)) fail('not_found')
      if (request.state !== 'open') return { request, items: [] }
      if (await isStale(tx, kernel, request)) return { request, items: STALE_GATES }
      const permitted = await mayAuthorPropose(tx, kernel, request)
      return { request, permitted, own: await listOwnGates(tx, kernel, request) }
    })
    const { request } = found
    if (found.items) return { cr_id, items: found.items }
    const { permitted, own } = found
    const refused =
      own.length > 0
        ? own
        : await write((tx) => rehearse(kernel, tx, request, { actor, request: facts })).then(() => [], toExecutionGates)
    const isHopeless = !permitted || refused.length > 0
    const reviewed = isHopeless ? null : await read((tx) => listReviewGates(tx, kernel, request))
    return { cr_id, items: toApprovalGates(request, { permitted, refused, reviewed }) }
  }),

  tenantRoute('POST /change-requests/:cr_id/approve', {
    id: 'approveChangeRequest',
    summary: 'Approve; with the last approval the stored request is executed',
    description:
      'Not possible for the author, for the person who requested the key that is the author, or with an API key. When the object has changed since the proposal, nothing is ' +
      'executed and the answer is 409 `approval_void`. When the author was deactivated, revoked or lost the role, it is 409 ' +
      '`author_not_permitted`. Where the policy requires it, an impact run that still holds must be ' +
      'attached; otherwise 409 `gates_closed` names the gate `impact`.',
    roles: approvers,
    tx: 'write',
    uses: ['auditKeys', 'routes', 'reviews', 'runHandler'],
    params: ChangeRequestParams,
    body: Decision,
    reply: [200, VisibleChangeRequest],
    redact,
    revisioned: true,
    // Includes the problems of the operations that may be executed.
    problems: [
      'not_found',
      'transition_not_allowed',
      'approval_own_request',
      'approval_void',
      'author_not_permitted',
      'conflict',
      'duplicate',
      'last_administrator',
      'gates_closed',
      'list_key_reserved',
      'nothing_in_force',
      'content_corrupt',
      'approvers_missing',
      'version_never_in_force',
    ],
  }).handle(async (input) => {
    const { tx, params, body, actor, kernel, request: facts } = input
    const request = await lockOpenRequest(input, params.cr_id)
    await assertMayApprove(tx, request, actor.roles)
    if (await isStale(tx, kernel, request)) fail('approval_void')
    await assertAuthorMayPropose(tx, kernel, request)
    await assertReviewed(tx, kernel, request, { actor, request: facts })
    await insertApproval(tx, request, body.note ?? null)
    if (request.approvals.length + 1 < request.approvers) {
      await incrementChangeRequestRevision(tx, request.cr_id)
    } else {
      const changes = await executeChangeRequest(kernel, tx, request, { actor, request: facts })
      await updateChangeRequestDecided(tx, request.cr_id, { state: 'approved', note: body.note ?? null, changes })
      await emitDecided(input, request, 'approved')
    }
    return assertFound(await findChangeRequest(tx, request.cr_id))
  }),

  tenantRoute('POST /change-requests/:cr_id/reject', {
    id: 'rejectChangeRequest',
    summary: 'Reject with a reason',
    roles: approvers,
    tx: 'write',
    uses: ['routes'],
    params: ChangeRequestParams,
    body: Rejection,
    reply: [200, VisibleChangeRequest],
    redact,
    revisioned: true,
    problems: ['not_found', 'transition_not_allowed', 'approval_own_request'],
  }).handle(async (input) => {
    const { tx, params, body, actor } = input
    const request = await lockOpenRequest(input, params.cr_id)
    await assertMayApprove(tx, request, actor.roles)
    await updateChangeRequestDecided(tx, request.cr_id, { state: 'rejected', note: body.reason })
    await emitDecided(input, request, 'rejected')
    return assertFound(await findChangeRequest(tx, request.cr_id))
  }),

  tenantRoute('POST /change-requests/:cr_id/withdraw', {
    id: 'withdrawChangeRequest',
    summary: 'Withdraw a change request as its author',
    roles: ['policy_editor', 'compliance_officer', 'tenant_admin', 'analyst', 'service'],
    tx: 'write',
    uses: ['routes'],
    params: ChangeRequestParams,
    body: Decision,
    reply: [200, VisibleChangeRequest],
    redact,
    revisioned: true,
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async (input) => {
    const { tx, params, body, actor } = input
    const request = await lockOpenRequest(input, params.cr_id)
    if (request.created_by !== actor.principal)
      fail('transition_not_allowed', 'Only its author withdraws a change request.')
    await updateChangeRequestDecided(tx, request.cr_id, { state: 'withdrawn', note: body.note ?? null })
    await emitDecided(input, request, 'withdrawn')
    return assertFound(await findChangeRequest(tx, request.cr_id))
  }),
]
