/** Who may see an investigation: the access list of its restriction, reached from the case. */
import { expectPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import { accessLists } from '#modules/restrictions/index.ts'
import { assertCase } from '../lifecycle/case-content.ts'
import { caseReaders } from '../model.ts'
import { findRestrictionState } from '../opening/queries.ts'
import { findInvestigation, type InvestigationRow, lockInvestigation } from '../queries.ts'
import { InvestigationParams } from '../schema.ts'
import { AccessQuery, CaseAccess, CaseAccessRequest, GrantRequest } from './schema.ts'

const officers = ['compliance_officer'] as const
const NO_KEYS = 'Only a person may restrict access, not an API key.'

async function toAccess(tx: Tx, { restriction_id }: Pick<InvestigationRow, 'restriction_id'>, is_restricted: boolean) {
  return { restriction_id, is_restricted, items: await accessLists.listCurrentAccess(tx, restriction_id) }
}

/** A merged case is hidden with the one it was merged into too; its own access list says nothing about that. */
const isRestrictedItself = async (tx: Tx, { restriction_id }: Pick<InvestigationRow, 'restriction_id'>) =>
  (await findRestrictionState(tx, restriction_id))?.is_in_force ?? false

async function assertLasting(tx: Tx, restriction_id: string): Promise<void> {
  if (!(await accessLists.hasLastingAccess(tx, restriction_id)))
    fail('transition_not_allowed', 'Somebody must keep access that does not end.')
}

export const accessRoutes = [
  tenantRoute('GET /investigations/:investigation_id/access', {
    id: 'getInvestigationAccess',
    summary: 'Who may see an investigation',
    roles: officers,
    tx: 'read',
    params: InvestigationParams,
    reply: [200, CaseAccess],
    problems: ['not_found'],
  }).handle(async ({ tx, params, audit }) => {
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    return toAccess(tx, row, await isRestrictedItself(tx, row))
  }),

  tenantRoute('PUT /investigations/:investigation_id/access', {
    id: 'updateInvestigationAccess',
    summary: 'Restrict an investigation to named people, or lift that',
    description: 'I keep access. Takes effect at once, for all that belongs to the case, past rows included.',
    roles: officers,
    tx: 'write',
    params: InvestigationParams,
    body: CaseAccessRequest,
    reply: [200, CaseAccess],
    problems: ['not_found', 'conflict', 'revision_stale', 'transition_not_allowed', 'person_required'],
  }).handle(async (input) => {
    const { tx, params, body, actor, audit } = input
    const user_id = expectPerson(actor.principal, NO_KEYS)
    const row = assertCase(await lockInvestigation(tx, params.investigation_id), audit)
    assertRevision(row.revision, input)
    const { restriction_id } = row
    await accessLists.assertKeepsAccess(tx, restriction_id, actor.principal)
    const { is_restricted, people, reason } = body
    const was_restricted = await isRestrictedItself(tx, row)
    const before = await accessLists.listCurrentAccess(tx, restriction_id)
    const own = before.find((each) => each.user_id === user_id)
    if (own?.effect === 'exclude') fail('transition_not_allowed', 'You are excluded from this investigation.')
    if (people !== undefined) await replaceGrants(tx, restriction_id, { before, people, user_id, reason })
    if (is_restricted) {
      if (own?.until !== null) await grant(tx, restriction_id, user_id, reason)
      await assertLasting(tx, restriction_id)
    }
    if (is_restricted && !was_restricted) await accessLists.imposeAgain(tx, restriction_id)
    if (!is_restricted && was_restricted) await accessLists.updateLifted(tx, restriction_id, reason)
    audit.belongsTo({ restriction_id, is_in_force: is_restricted || row.is_in_force })
    audit.recordDiff({ is_restricted: was_restricted }, { is_restricted, people: people ?? null })
    return toAccess(tx, row, is_restricted)
  }),

  tenantRoute('POST /investigations/:investigation_id/access/grants', {
    id: 'createInvestigationGrant',
    summary: 'Give a person access to an investigation, or exclude a person',
    roles: officers,
    tx: 'write',
    params: InvestigationParams,
    body: GrantRequest,
    reply: [201, accessLists.RestrictionAccess],
    problems: ['not_found', 'conflict', 'transition_not_allowed', 'person_required'],
  }).handle(async ({ tx, params, body, actor, audit }) => {
    expectPerson(actor.principal, NO_KEYS)
    const { restriction_id } = assertCase(await lockInvestigation(tx, params.investigation_id), audit)
    await accessLists.assertKeepsAccess(tx, restriction_id, actor.principal)
    const { effect = 'grant', until = null, reason = null } = body
    const person = assertReferenced(await accessLists.lockPerson(tx, body.user_id), 'active person with this id')
    const { user_id } = person
    if (effect === 'grant') accessLists.assertReader(person, caseReaders)
    if (`user:${user_id}` === actor.principal)
      fail('transition_not_allowed', 'Nobody changes their own access; another person with access does.')
    if (until !== null && (effect === 'exclude' || Date.parse(until) <= Date.now()))
      fail('conflict', 'Only a grant ends by itself, and only in the future.')
    const access = assertFound(await accessLists.upsertAccess(tx, restriction_id, { user_id, effect, until, reason }))
    await assertLasting(tx, restriction_id)
    audit.recordDiff(null, { user_id, effect, until })
    return access
  }),

  tenantRoute('GET /investigations/:investigation_id/access-log', {
    id: 'listInvestigationAccessLog',
    summary: 'Who read and changed an investigation and what belongs to it, newest first',
    description: 'From the audit record. Reads are recorded while its restriction is in force.',
    roles: ['compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['cursors'],
    params: InvestigationParams,
    query: AccessQuery,
    reply: [200, accessLists.AccessLogPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, audit } = input
    const { restriction_id } = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    return paginate(input, `listInvestigationAccessLog ${restriction_id}`, ['event_id'], (after, count) =>
      accessLists.listAccessLog(tx, restriction_id, after, count),
    )
  }),
]

const grant = (tx: Tx, restriction_id: string, user_id: string, reason: string) =>
  accessLists.upsertAccess(tx, restriction_id, { user_id, effect: 'grant', until: null, reason })

async function replaceGrants(
  tx: Tx,
  restriction_id: string,
  given: {
    readonly before: readonly accessLists.RestrictionAccessRow[]
    readonly people: readonly string[]
    readonly user_id: string
    readonly reason: string
  },
): Promise<void> {
  const { before, people, user_id, reason } = given
  for (const each of before)
    if (each.effect === 'grant' && each.user_id !== user_id && !people.includes(each.user_id))
      await accessLists.removeAccess(tx, restriction_id, each.user_id)
  for (const person of people) {
    if (before.some((each) => each.user_id === person && each.effect === 'grant' && each.until === null)) continue
    const known = assertReferenced(await accessLists.lockPerson(tx, person), 'active person with this id')
    accessLists.assertReader(known, caseReaders)
    if (known.user_id !== user_id) await grant(tx, restriction_id, known.user_id, reason)
  }
}
