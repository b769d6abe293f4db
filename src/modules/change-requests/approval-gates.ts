/** What must hold before a change request is approved: the state it was proposed on, its author, and the reviews of other modules. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { hashContent } from '#kernel/request/approval.ts'
import type { ChangeRequestRow } from '#kernel/request/queries.ts'
import { findPresentRoles } from '#modules/access/index.ts'

/** The review that other modules register to hold back the approval of a stored change request. */
export const APPROVAL_REVIEW = 'approval'

export interface ClosedGate {
  readonly gate: string
  readonly detail: string
}

/** What the operation itself names: reviews would ask for what can no longer be done then, such as an impact run. */
export async function listOwnGates(
  tx: Tx,
  kernel: Capabilities<'routes'>,
  request: ChangeRequestRow,
): Promise<readonly ClosedGate[]> {
  const governed = kernel.routes.find(({ id }) => id === request.operation)?.governed
  return (await governed?.findGates?.(tx, { ...request.params })) ?? []
}

/** What the reviews of other modules ask for. */
export async function listReviewGates(
  tx: Tx,
  kernel: Capabilities<'reviews'>,
  request: ChangeRequestRow,
): Promise<readonly ClosedGate[]> {
  const closed: ClosedGate[] = []
  for (const finish of await kernel.reviews.begin(APPROVAL_REVIEW, tx, request))
    closed.push(...((await finish()) as ClosedGate[]))
  return closed
}

const isUnaltered = (request: ChangeRequestRow): boolean =>
  hashContent(request.operation, request) === request.content_hash

/** Whether the stored content or the object it concerns has changed since the proposal. */
export async function isStale(tx: Tx, kernel: Capabilities<'routes'>, request: ChangeRequestRow): Promise<boolean> {
  const route = kernel.routes.find(({ id }) => id === request.operation)
  if (!route?.governed) return true
  if (!isUnaltered(request)) return true
  return (await route.governed.head(tx, { ...request.params })) !== request.head
}

/** Open requests that can no longer be approved, by id. Requests for one object read its head and whether it was archived once. */
export async function findStaleRequests(
  tx: Tx,
  kernel: Capabilities<'routes'>,
  requests: readonly ChangeRequestRow[],
): Promise<Set<string>> {
  const objects = new Map<string, { readonly head: string | null; readonly isRefused: boolean }>()
  const stale = new Set<string>()
  for (const request of requests) {
    const governed = kernel.routes.find(({ id }) => id === request.operation)?.governed
    const object = JSON.stringify([request.operation, request.params])
    if (governed && !objects.has(object)) {
      const gates = (await governed.findGates?.(tx, { ...request.params })) ?? []
      objects.set(object, { head: await governed.head(tx, { ...request.params }), isRefused: gates.length > 0 })
    }
    const found = objects.get(object)
    if (!isUnaltered(request) || found?.head !== request.head || found.isRefused) stale.add(request.cr_id)
  }
  return stale
}

/** Whether the author still holds a role that may call the operation. */
export async function mayAuthorPropose(
  tx: Tx,
  kernel: Capabilities<'routes'>,
  { operation, created_by }: ChangeRequestRow,
): Promise<boolean> {
  const held = await findPresentRoles(tx, created_by)
  if (held === undefined) return true
  return kernel.routes.some(
    ({ id, submits, roles }) =>
      (id === operation || submits === operation) && roles.some((role) => held.includes(role)),
  )
}

export interface ApprovalGate {
  readonly gate: string
  readonly holds: boolean
  readonly detail: string
}

/** A request that has become stale has this gate only: nothing else would help. */
export const STALE_GATES: readonly ApprovalGate[] = [
  {
    gate: 'unchanged',
    holds: false,
    detail:
      'What this change is based on has changed since it was requested. It can no longer be approved: reject it, or have it withdrawn, and request it again.',
  },
]

/** Every condition of an open request that is not stale, with whether it holds now. Approving checks them again. */
export function toApprovalGates(
  { require_impact }: ChangeRequestRow,
  { permitted, refused, reviewed }: GateFindings,
): ApprovalGate[] {
  const gates: ApprovalGate[] = [
    {
      gate: 'unchanged',
      holds: true,
      detail: 'What this change is based on has not changed since it was requested.',
    },
    {
      gate: 'author',
      holds: permitted,
      detail: permitted
        ? 'Its author may still request this change.'
        : 'Its author was deactivated or no longer has a role that may request this change.',
    },
  ]
  if (require_impact && reviewed && !reviewed.some(({ gate }) => gate === 'impact'))
    gates.push({ gate: 'impact', holds: true, detail: 'Its impact has been measured, and the measurement is current.' })
  return [...gates, ...[...refused, ...(reviewed ?? [])].map(({ gate, detail }) => ({ gate, holds: false, detail }))]
}

interface GateFindings {
  /** Whether the author may still propose it. */
  readonly permitted: boolean
  /** What its execution would refuse. */
  readonly refused: readonly ClosedGate[]
  /** Null: not asked, because approval is impossible whatever they say. */
  readonly reviewed: readonly ClosedGate[] | null
}
