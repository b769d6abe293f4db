/** Suppressions: one officer proposes, another confirms, and they end by themselves. */
import { expectPerson } from '#kernel/auth/principal.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { assertAlertReason, loadAlertSettings } from '../policy-lists.ts'
import { findSubjectId } from '../queries.ts'
import { insertSuppression, listSuppressions, lockSuppression, updateConfirmed, updateEnded } from './queries.ts'
import {
  EndRequest,
  Suppression,
  SuppressionPage,
  SuppressionParams,
  SuppressionQuery,
  SuppressionRequest,
} from './schema.ts'

const DAY_MS = 86_400_000
const expectOfficer = (principal: string): string =>
  expectPerson(principal, 'Only a person suppresses alerts, not an API key.')

export const suppressionRoutes = [
  tenantRoute('GET /alerts/suppressions', {
    id: 'listAlertSuppressions',
    summary: 'Reports that are counted and not raised, newest first',
    roles: ['analyst', 'compliance_officer', 'auditor'],
    tx: 'one',
    uses: ['cursors'],
    query: SuppressionQuery,
    reply: [200, SuppressionPage],
  }).handle((input) =>
    paginate(input, 'listAlertSuppressions', ['proposed_at', 'suppression_id'], (after, count) =>
      listSuppressions(input.tx, input.query.state ?? null, after, count),
    ),
  ),

  tenantRoute('POST /alerts/suppressions', {
    id: 'createAlertSuppression',
    summary: 'Propose that reports are counted and not raised until a given time',
    description:
      'Has no effect until another person confirms it. Reports of a higher priority are raised nevertheless, and restricted ones always.',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['caches'],
    body: SuppressionRequest,
    reply: [201, Suppression],
    problems: ['conflict', 'person_required', 'erased'],
  }).handle(async ({ tx, body, actor, kernel, audit }) => {
    expectOfficer(actor.principal)
    const { subject_id = null, dedup_key = null, ...given } = body
    if (subject_id === null && dedup_key === null)
      fail('conflict', 'Name a subject or a dedup_key: a whole source is not suppressed.')
    if (subject_id !== null) assertReferenced(await findSubjectId(tx, subject_id), 'subject with this id')
    await assertAlertReason(kernel, tx, body.reason_code)
    const { max_suppression_days } = (await loadAlertSettings(kernel, tx))(body.up_to_priority)
    const ahead_ms = Date.parse(body.expires_at) - Date.now()
    if (ahead_ms <= 0) fail('conflict', 'The end is in the past.')
    if (ahead_ms > max_suppression_days * DAY_MS)
      fail('conflict', `Up to this priority, reports may be suppressed for at most ${max_suppression_days} days.`)
    const made = assertFound(await insertSuppression(tx, { suppression_id: uuidv7(), subject_id, dedup_key, ...given }))
    audit.recordDiff(null, { source: made.source, up_to_priority: made.up_to_priority, expires_at: made.expires_at })
    return made
  }),

  tenantRoute('POST /alerts/suppressions/:suppression_id/confirm', {
    id: 'confirmAlertSuppression',
    summary: 'Confirm a suppression that another person proposed',
    roles: ['compliance_officer'],
    tx: 'write',
    params: SuppressionParams,
    reply: [200, Suppression],
    problems: ['not_found', 'transition_not_allowed', 'approval_own_request', 'person_required'],
  }).handle(async ({ tx, params, actor, audit }) => {
    expectOfficer(actor.principal)
    const suppression = assertFound(await lockSuppression(tx, params.suppression_id))
    if (suppression.state !== 'proposed') fail('transition_not_allowed', `The suppression is ${suppression.state}.`)
    if (suppression.proposed_by === actor.principal)
      fail('approval_own_request', 'Nobody confirms their own proposal; another person must.')
    audit.recordDiff({ state: 'proposed' }, { state: 'active' })
    return assertFound(await updateConfirmed(tx, suppression.suppression_id))
  }),

  tenantRoute('POST /alerts/suppressions/:suppression_id/end', {
    id: 'endAlertSuppression',
    summary: 'End a suppression, or withdraw a proposed one: reports are raised again',
    roles: ['compliance_officer'],
    tx: 'write',
    params: SuppressionParams,
    body: EndRequest,
    reply: [200, Suppression],
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, audit }) => {
    const suppression = assertFound(await lockSuppression(tx, params.suppression_id))
    const { state } = suppression
    if (state === 'ended') fail('transition_not_allowed', 'The suppression has ended already.')
    audit.recordDiff({ state }, { state: 'ended' })
    return assertFound(await updateEnded(tx, suppression.suppression_id, body.reason))
  }),
]
