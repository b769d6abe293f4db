/** Legal holds: what must not be deleted or made unreadable until another person releases it. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import { noteRestriction } from '#kernel/audit/restricted-object.ts'
import { expectPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { emit } from '#kernel/events/emit.ts'
import type { HoldableKind, Module } from '#kernel/module.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { findRestriction } from '#modules/restrictions/index.ts'
import { holdPlaced, holdReleased } from './hold-events.ts'
import { findHold, type HoldRow, insertHold, listHolds, lockHold, updateReleased } from './queries.ts'
import { Hold, HoldPage, HoldParams, HoldQuery, HoldRequest, ReleaseRequest } from './schema.ts'

const readers = ['compliance_officer', 'auditor'] as const
const officers = ['compliance_officer'] as const

const expectOfficer = (principal: string): string =>
  expectPerson(principal, 'Only a person places and releases a hold, not an API key.')

function findKind(modules: readonly Module[], name: string): HoldableKind {
  const kinds = modules.flatMap(({ holdable = [] }) => holdable)
  const names = kinds.map(({ kind }) => kind).join(', ')
  return (
    kinds.find(({ kind }) => kind === name) ??
    fail('conflict', `Objects of this kind cannot be held. These can: ${names}.`)
  )
}

/** The restriction of the object, otherwise the one that the caller names and may see. */
async function chooseRestriction(tx: Tx, own: string | null, named: string | null): Promise<string | null> {
  if (own !== null && named !== null && named !== own)
    fail('conflict', 'The hold is restricted together with its object: restrict the object instead.')
  if (own !== null || named === null) return own
  return assertReferenced(await findRestriction(tx, named), 'restriction with this id').restriction_id
}

/** After the restriction was noted: nothing is written where it is in force. */
const emitHold = (
  { tx, audit }: { readonly tx: Tx; readonly audit: AuditNotes },
  event: typeof holdPlaced | typeof holdReleased,
  { hold_id, object_kind, object_id }: HoldRow,
) =>
  emit(tx, event, {
    object_id: hold_id,
    restriction_id: audit.restriction.restriction_id,
    data: { object_kind, held_object_id: object_id },
  })

export const holdRoutes = [
  tenantRoute('GET /holds', {
    id: 'listHolds',
    summary: 'Legal holds, newest first',
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: HoldQuery,
    reply: [200, HoldPage],
  }).handle((input) =>
    paginate(input, 'listHolds', ['placed_at', 'hold_id'], (after, count) =>
      listHolds(input.tx, input.query, after, count),
    ),
  ),

  tenantRoute('POST /holds', {
    id: 'createHold',
    summary: 'Place a legal hold on an object',
    description:
      'While it is active nothing that belongs to the object can be deleted or erased, by anybody; retention leaves it out. Another person releases it.',
    roles: officers,
    tx: 'write',
    uses: ['modules'],
    body: HoldRequest,
    reply: [201, Hold],
    location: ({ hold_id }) => `/holds/${hold_id}`,
    links: { getHold: { hold_id: 'hold_id' } },
    // not_found: a repeated request, after the access to what it created was revoked.
    problems: ['not_found', 'conflict', 'erased', 'person_required'],
  }).handle(async ({ tx, body, actor, audit, kernel }) => {
    expectOfficer(actor.principal)
    const { object_kind, object_id, reason, authority_reference = null } = body
    const kind = findKind(kernel.modules, object_kind)
    const find = async () => assertReferenced(await kind.find(tx, object_id), `${object_kind} with this id`)
    const { restriction_id: own } = await find()
    const hold = assertFound(
      await insertHold(tx, {
        hold_id: uuidv7(),
        object_kind,
        object_id,
        reason,
        authority_reference,
        restriction_id: await chooseRestriction(tx, own, body.restriction_id ?? null),
        placed_by: actor.principal,
      }),
    )
    // A deletion that the insert waited for may have removed it.
    await find()
    await noteRestriction({ tx, audit }, 'hold', hold.hold_id)
    audit.recordDiff(null, { object_kind, object_id, state: hold.state })
    await emitHold({ tx, audit }, holdPlaced, hold)
    return hold
  }),

  tenantRoute('GET /holds/:hold_id', {
    id: 'getHold',
    summary: 'Get a legal hold',
    roles: readers,
    tx: 'read',
    params: HoldParams,
    reply: [200, Hold],
    problems: ['not_found'],
  }).handle(async ({ tx, params, audit }) => {
    const hold = assertFound(await findHold(tx, params.hold_id))
    await noteRestriction({ tx, audit }, 'hold', hold.hold_id)
    return hold
  }),

  tenantRoute('POST /holds/:hold_id/release', {
    id: 'releaseHold',
    summary: 'Release a hold that another person placed',
    roles: officers,
    tx: 'write',
    params: HoldParams,
    body: ReleaseRequest,
    reply: [200, Hold],
    problems: ['not_found', 'transition_not_allowed', 'approval_own_request', 'person_required'],
  }).handle(async ({ tx, params, body, actor, audit }) => {
    expectOfficer(actor.principal)
    const hold = assertFound(await lockHold(tx, params.hold_id))
    if (hold.state !== 'active') fail('transition_not_allowed', 'The hold is released already.')
    if (hold.placed_by === actor.principal)
      fail('approval_own_request', 'Whoever placed a hold does not release it; another person does.')
    await noteRestriction({ tx, audit }, 'hold', hold.hold_id)
    audit.recordDiff({ state: hold.state }, { state: 'released' })
    await emitHold({ tx, audit }, holdReleased, hold)
    return assertFound(await updateReleased(tx, hold.hold_id, body.reason))
  }),
]
