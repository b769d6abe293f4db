/** Restrictions: who may see what belongs to an object, who read it, and for how long. */
import { expectPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { assertRevision, toContentEtag } from '#kernel/revision.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  findAccess,
  findRestriction,
  hasLastingAccess,
  insertRestriction,
  isMlro,
  listAccess,
  listAccessLog,
  listRestrictions,
  lockPerson,
  lockRestriction,
  removeAccess,
  updateImposed,
  updateLifted,
  upsertAccess,
  upsertBreakGlass,
} from './queries.ts'
import { assertKeepsAccess, assertReader } from './readers.ts'
import {
  AccessListQuery,
  AccessLogPage,
  AccessParams,
  AccessQuery,
  AccessRequest,
  BreakGlassRequest,
  LiftRequest,
  Restriction,
  RestrictionAccess,
  RestrictionAccessPage,
  RestrictionPage,
  RestrictionParams,
  RestrictionQuery,
  RestrictionRequest,
} from './schema.ts'

const readers = ['analyst', 'compliance_officer', 'auditor'] as const
const officers = ['compliance_officer'] as const

const ownAccess = (user_id: string) => ({ user_id, effect: 'grant', until: null, reason: null }) as const

/** Keys are never on an access list. */
const expectOfficer = (principal: string): string =>
  expectPerson(principal, 'Only a person may restrict access, not an API key.')

/** `people` changes without the revision, also by time. */
const toHeaders = (restriction: { readonly revision: number }) => ({ etag: toContentEtag(restriction) })

/** Nobody changes their own access; without this two people could still leave a restriction to nobody. */
async function assertLastingAccess(tx: Tx, restriction_id: string): Promise<void> {
  if (!(await hasLastingAccess(tx, restriction_id)))
    fail('transition_not_allowed', 'Somebody must keep access that does not end.')
}

export const restrictionRoutes = [
  tenantRoute('GET /restrictions', {
    id: 'listRestrictions',
    summary: 'Restrictions that I may see, newest first',
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: RestrictionQuery,
    reply: [200, RestrictionPage],
  }).handle((input) =>
    paginate(input, 'listRestrictions', ['created_at', 'restriction_id'], (after, count) =>
      listRestrictions(input.tx, input.query.is_in_force ?? null, after, count),
    ),
  ),

  tenantRoute('POST /restrictions', {
    id: 'createRestriction',
    summary: 'Create a restriction, with myself as the first person who has access',
    roles: officers,
    tx: 'write',
    body: RestrictionRequest,
    reply: [201, Restriction],
    revisioned: true,
    headers: toHeaders,
    location: ({ restriction_id }) => `/restrictions/${restriction_id}`,
    links: { getRestriction: { restriction_id: 'restriction_id' } },
    // A repeated request, after the access to what it created was revoked.
    problems: ['not_found', 'person_required'],
  }).handle(async ({ tx, body, actor, audit }) => {
    const restriction_id = uuidv7()
    const is_in_force = body.is_in_force ?? true
    const user_id = expectOfficer(actor.principal)
    await insertRestriction(tx, restriction_id, body.purpose)
    await upsertAccess(tx, restriction_id, ownAccess(user_id))
    if (is_in_force) await updateImposed(tx, { restriction_id, revision: 1 })
    audit.belongsTo({ restriction_id, is_in_force })
    audit.recordDiff(null, { is_in_force })
    return assertFound(await findRestriction(tx, restriction_id))
  }),

  tenantRoute('GET /restrictions/:restriction_id', {
    id: 'getRestriction',
    summary: 'Get a restriction',
    description: 'While it is in force, reading it is recorded in its access log.',
    roles: readers,
    tx: 'one',
    params: RestrictionParams,
    reply: [200, Restriction],
    revisioned: true,
    headers: toHeaders,
    problems: ['not_found'],
  }).handle(async ({ tx, params, audit }) => {
    const restriction = assertFound(await findRestriction(tx, params.restriction_id))
    audit.belongsTo(restriction)
    return restriction
  }),

  tenantRoute('POST /restrictions/:restriction_id/impose', {
    id: 'imposeRestriction',
    summary: 'Put a restriction in force',
    description:
      'What belongs to it, past rows included, is hidden from everybody without access. Whoever imposes it gets access.',
    roles: officers,
    tx: 'write',
    params: RestrictionParams,
    reply: [200, Restriction],
    revisioned: true,
    headers: toHeaders,
    problems: ['not_found', 'transition_not_allowed', 'person_required'],
  }).handle(async (input) => {
    const { tx, params, actor, audit } = input
    const restriction = assertFound(await lockRestriction(tx, params.restriction_id))
    assertRevision(restriction.revision, input)
    if (restriction.is_in_force) fail('transition_not_allowed', 'The restriction is in force already.')
    const { restriction_id } = restriction
    const user_id = expectOfficer(actor.principal)
    await assertKeepsAccess(tx, restriction_id, actor.principal)
    const held = await findAccess(tx, restriction_id, user_id)
    if (held?.effect === 'exclude') fail('transition_not_allowed', 'You are excluded from this restriction.')
    // A grant with an end has ended.
    if (!held || held.until !== null) await upsertAccess(tx, restriction_id, ownAccess(user_id))
    await updateImposed(tx, { restriction_id, revision: restriction.revision + 1 })
    audit.belongsTo({ restriction_id, is_in_force: true })
    audit.recordDiff({ is_in_force: false }, { is_in_force: true })
    return assertFound(await findRestriction(tx, restriction_id))
  }),

  tenantRoute('POST /restrictions/:restriction_id/lift', {
    id: 'liftRestriction',
    summary: 'End a restriction: what belongs to it is visible to every role that may read it',
    roles: officers,
    tx: 'write',
    params: RestrictionParams,
    body: LiftRequest,
    reply: [200, Restriction],
    revisioned: true,
    headers: toHeaders,
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async (input) => {
    const { tx, params, body, actor, audit } = input
    const restriction = assertFound(await lockRestriction(tx, params.restriction_id))
    assertRevision(restriction.revision, input)
    if (!restriction.is_in_force) fail('transition_not_allowed', 'The restriction is not in force.')
    await assertKeepsAccess(tx, restriction.restriction_id, actor.principal)
    await updateLifted(tx, restriction.restriction_id, body.reason)
    audit.belongsTo(restriction)
    audit.recordDiff({ is_in_force: true }, { is_in_force: false })
    return assertFound(await findRestriction(tx, restriction.restriction_id))
  }),

  tenantRoute('GET /restrictions/:restriction_id/access', {
    id: 'listRestrictionAccess',
    summary: 'Who has access and who is excluded, oldest first',
    roles: readers,
    tx: 'read',
    uses: ['cursors'],
    params: RestrictionParams,
    query: AccessListQuery,
    reply: [200, RestrictionAccessPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, query, audit } = input
    const restriction = assertFound(await findRestriction(tx, params.restriction_id))
    audit.belongsTo(restriction)
    const { restriction_id } = restriction
    const ended = query.include === 'ended'
    return paginate(
      input,
      `listRestrictionAccess ${restriction_id} ${ended}`,
      ['granted_at', 'user_id'],
      (after, count) => listAccess(tx, { restriction_id, ended }, after, count),
    )
  }),

  tenantRoute('PUT /restrictions/:restriction_id/access/:user_id', {
    id: 'updateRestrictionAccess',
    summary: 'Give a person access, or exclude a person',
    description: 'Replaces what the person had. Takes effect at once, also for requests that wait.',
    roles: officers,
    tx: 'write',
    params: AccessParams,
    body: AccessRequest,
    reply: [200, RestrictionAccess],
    problems: ['not_found', 'transition_not_allowed', 'person_required'],
  }).handle(async ({ tx, params, body, actor, audit }) => {
    expectOfficer(actor.principal)
    const restriction = assertFound(await lockRestriction(tx, params.restriction_id))
    await assertKeepsAccess(tx, restriction.restriction_id, actor.principal)
    const person = assertFound(await lockPerson(tx, params.user_id))
    const { effect, until = null, reason = null } = body
    if (`user:${person.user_id}` === actor.principal)
      fail('transition_not_allowed', 'Nobody changes their own access; another person with access does.')
    if (effect === 'grant') assertReader(person)
    if (until !== null && effect === 'exclude') fail('transition_not_allowed', 'Only a grant can end by itself.')
    if (until !== null && Date.parse(until) <= Date.now()) fail('transition_not_allowed', 'The end is in the past.')
    const access = assertFound(
      await upsertAccess(tx, restriction.restriction_id, {
        user_id: person.user_id,
        effect,
        until,
        reason,
      }),
    )
    await assertLastingAccess(tx, restriction.restriction_id)
    audit.belongsTo(restriction)
    audit.recordDiff(null, { user_id: person.user_id, effect, until })
    return access
  }),

  tenantRoute('DELETE /restrictions/:restriction_id/access/:user_id', {
    id: 'deleteRestrictionAccess',
    summary: 'Revoke the access, or the exclusion, of a person',
    description:
      'Takes effect at once, also for requests that wait. What the person had is kept with its reason: `?include=ended` lists it.',
    roles: officers,
    tx: 'write',
    params: AccessParams,
    reply: [204, null],
    problems: ['not_found', 'transition_not_allowed', 'person_required'],
  }).handle(async ({ tx, params, actor, audit }) => {
    expectOfficer(actor.principal)
    const restriction = assertFound(await lockRestriction(tx, params.restriction_id))
    await assertKeepsAccess(tx, restriction.restriction_id, actor.principal)
    const held = assertFound(await findAccess(tx, restriction.restriction_id, params.user_id))
    if (`user:${held.user_id}` === actor.principal)
      fail('transition_not_allowed', 'Nobody changes their own access; another person with access does.')
    await removeAccess(tx, restriction.restriction_id, held.user_id)
    await assertLastingAccess(tx, restriction.restriction_id)
    audit.belongsTo(restriction)
    audit.recordDiff({ user_id: held.user_id, effect: held.effect, until: held.until }, {})
  }),

  tenantRoute('POST /restrictions/:restriction_id/break-glass', {
    id: 'createBreakGlassAccess',
    summary: 'Give an auditor access for at most eight hours',
    description: 'Only the designated MLRO may do this. The access ends by itself.',
    roles: officers,
    tx: 'write',
    params: RestrictionParams,
    body: BreakGlassRequest,
    reply: [201, RestrictionAccess],
    problems: ['not_found', 'conflict', 'transition_not_allowed', 'role_required'],
  }).handle(async ({ tx, params, body, actor, audit }) => {
    const restriction = assertFound(await lockRestriction(tx, params.restriction_id))
    if (!(await isMlro(tx, actor.principal))) fail('role_required', 'Only the designated MLRO gives an auditor access.')
    const person = assertReferenced(await lockPerson(tx, body.user_id), 'active person with this id')
    if (person.origin === 'built_in' && !person.roles.includes('auditor'))
      fail('transition_not_allowed', 'Access in an emergency is for auditors.')
    const held = await findAccess(tx, restriction.restriction_id, person.user_id)
    if (held?.effect === 'exclude') fail('transition_not_allowed', 'The person is excluded from this restriction.')
    if (held && !held.has_ended) fail('transition_not_allowed', 'The person has access already.')
    const { user_id } = person
    const granted = assertFound(await upsertBreakGlass(tx, restriction.restriction_id, { ...body, user_id }))
    audit.belongsTo(restriction)
    audit.recordDiff(null, { user_id, break_glass: true, until: granted.until })
    return granted
  }),

  tenantRoute('GET /restrictions/:restriction_id/access-log', {
    id: 'listRestrictionAccessLog',
    summary: 'Who read and changed what belongs to a restriction, newest first',
    description: 'From the audit record. Reading the log is itself recorded in it.',
    roles: ['compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['cursors'],
    params: RestrictionParams,
    query: AccessQuery,
    reply: [200, AccessLogPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, audit } = input
    const restriction = assertFound(await findRestriction(tx, params.restriction_id))
    audit.belongsTo(restriction)
    return paginate(input, `listRestrictionAccessLog ${restriction.restriction_id}`, ['event_id'], (after, count) =>
      listAccessLog(tx, restriction.restriction_id, after, count),
    )
  }),
]
