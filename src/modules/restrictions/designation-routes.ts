/** The designation of the MLRO: one person proposes it, another confirms it. */
import { expectPerson } from '#kernel/auth/principal.ts'
import { lockMlros } from '#kernel/auth/queries.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  type DesignationRow,
  insertDesignation,
  listDesignations,
  lockDesignation,
  lockPerson,
  updateDesignationDecided,
  updateMlro,
} from './queries.ts'
import {
  DesignationParams,
  DesignationQuery,
  DesignationRequest,
  MlroDesignation,
  MlroDesignationPage,
} from './schema.ts'

const administrators = ['compliance_officer', 'tenant_admin'] as const

const expectDecider = (principal: string): string =>
  expectPerson(principal, 'Only a person decides about the MLRO, not an API key.')

function assertWaiting({ state }: DesignationRow): void {
  if (state !== 'waiting') fail('transition_not_allowed', `The designation is ${state}.`)
}

export const designationRoutes = [
  tenantRoute('GET /mlro-designations', {
    id: 'listMlroDesignations',
    summary: 'Who was designated as MLRO and who no longer is, newest first',
    roles: [...administrators, 'auditor'],
    tx: 'one',
    uses: ['cursors'],
    query: DesignationQuery,
    reply: [200, MlroDesignationPage],
  }).handle((input) =>
    paginate(input, 'listMlroDesignations', ['proposed_at', 'designation_id'], (after, count) =>
      listDesignations(input.tx, input.query.state ?? null, after, count),
    ),
  ),

  tenantRoute('POST /mlro-designations', {
    id: 'createMlroDesignation',
    summary: 'Propose to designate a person as MLRO, or to end the designation',
    description:
      'Has no effect until another person confirms it. The MLRO sees every restriction that does not exclude them.',
    roles: administrators,
    tx: 'write',
    body: DesignationRequest,
    reply: [201, MlroDesignation],
    problems: ['conflict', 'duplicate', 'transition_not_allowed', 'person_required'],
  }).handle(async ({ tx, body, actor, audit }) => {
    expectDecider(actor.principal)
    const person = assertReferenced(await lockPerson(tx, body.user_id), 'active person with this id')
    if (person.is_mlro === (body.effect === 'designate'))
      fail(
        'transition_not_allowed',
        person.is_mlro ? 'The person is designated already.' : 'The person is not designated.',
      )
    const { user_id } = person
    const { effect, reason } = body
    const proposed = assertFound(await insertDesignation(tx, { designation_id: uuidv7(), user_id, effect, reason }))
    audit.recordDiff(null, { user_id, effect })
    return proposed
  }),

  tenantRoute('POST /mlro-designations/:designation_id/confirm', {
    id: 'confirmMlroDesignation',
    summary: 'Confirm a designation that another person proposed',
    roles: administrators,
    tx: 'write',
    params: DesignationParams,
    reply: [200, MlroDesignation],
    problems: ['not_found', 'transition_not_allowed', 'approval_own_request', 'person_required'],
  }).handle(async ({ tx, params, actor, audit }) => {
    expectDecider(actor.principal)
    const designation = assertFound(await lockDesignation(tx, params.designation_id))
    assertWaiting(designation)
    if (designation.proposed_by === actor.principal)
      fail('approval_own_request', 'Nobody confirms their own proposal; another person must.')
    const { user_id, effect } = designation
    if (actor.principal === `user:${user_id}`)
      fail('approval_own_request', 'Nobody confirms a designation of their own; a third person must.')
    if (effect === 'designate' && !(await lockPerson(tx, user_id)))
      fail('transition_not_allowed', 'The person is not active.')
    if (effect === 'end' && (await lockMlros(tx)).every((mlro) => mlro.user_id === user_id))
      fail('transition_not_allowed', 'Designate another MLRO first: somebody must be able to see every restriction.')
    const confirmed = assertFound(await updateDesignationDecided(tx, designation.designation_id, 'confirmed'))
    // The database takes the change from a designation that this transaction confirmed.
    await updateMlro(tx, user_id, effect === 'designate')
    audit.recordDiff({ is_mlro: effect === 'end' }, { user_id, is_mlro: effect === 'designate' })
    return confirmed
  }),

  tenantRoute('POST /mlro-designations/:designation_id/withdraw', {
    id: 'withdrawMlroDesignation',
    summary: 'Withdraw a designation that waits to be confirmed',
    roles: administrators,
    tx: 'write',
    params: DesignationParams,
    reply: [200, MlroDesignation],
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params }) => {
    const designation = assertFound(await lockDesignation(tx, params.designation_id))
    assertWaiting(designation)
    return assertFound(await updateDesignationDecided(tx, designation.designation_id, 'withdrawn'))
  }),
]
