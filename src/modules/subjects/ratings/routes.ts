/** The rating of a subject, its history, and overrides of the rating. */
import { canReadCases } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { findSubject, lockSubject } from '../records/queries.ts'
import { historyReaders, readers } from '../records/routes.ts'
import { SubjectParams } from '../records/schema.ts'
import { findLoweringRule, getRiskHead } from './override-approval.ts'
import { insertOverrideEnd, listRatings } from './queries.ts'
import { redactOverrideText } from './redact-override.ts'
import { assertKnownReasonCode, getRisk, overrideRating } from './risk.ts'
import { Override, OverrideEnd, Rating, RatingPage, RatingQuery, Risk } from './schema.ts'

/** What approvers compare an override with: the band in force now, and until when an override holds it. */
const toOverridePreview = ({ band, override }: Awaited<ReturnType<typeof getRisk>>) => ({
  rating: band,
  override_expires_at: override?.expires_at ?? null,
})

const governed = { action: 'risk-override', head: getRiskHead }

export const ratingRoutes = [
  tenantRoute('GET /subjects/:subject_id/risk', {
    id: 'getSubjectRisk',
    summary: 'The rating in force: an override until it expires, otherwise the latest rating',
    description:
      'Factors, matrix and list versions stand in the evaluation that the rating names. The text of an override is for analyst, ' +
      'compliance_officer and auditor; others get its reason code, and not who proposed it.',
    roles: readers,
    tx: 'read',
    params: SubjectParams,
    reply: [200, Risk],
    redact: (risk, { actor }) =>
      canReadCases(actor.roles)
        ? risk
        : { ...risk, override: redactOverrideText(risk.override), rating: redactOverrideText(risk.rating) },
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => {
    assertFound(await findSubject(tx, params.subject_id))
    return getRisk(tx, params.subject_id)
  }),

  tenantRoute('GET /subjects/:subject_id/risk-history', {
    id: 'listSubjectRatings',
    summary: 'Every rating with the cause of the change, newest first',
    roles: historyReaders,
    tx: 'read',
    uses: ['cursors'],
    params: SubjectParams,
    query: RatingQuery,
    reply: [200, RatingPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params } = input
    assertFound(await findSubject(tx, params.subject_id))
    return paginate(input, `listSubjectRatings ${params.subject_id}`, ['recorded_at', 'rating_id'], (after, count) =>
      listRatings(tx, params.subject_id, after, count),
    )
  }),

  tenantRoute('POST /subjects/:subject_id/risk-override', {
    id: 'createRiskOverride',
    summary: 'Override the rating of the matrix until a date',
    description:
      'Replaces an earlier override. One that lowers the rating needs the approval of a compliance officer, unless the approval ' +
      'policy says more, as soon as there is somebody else who could approve.',
    roles: ['analyst', 'compliance_officer'],
    tx: 'write',
    uses: ['caches'],
    params: SubjectParams,
    body: Override,
    reply: [201, Rating],
    governed: {
      ...governed,
      findDefaultRule: (tx, { params, body }) =>
        findLoweringRule(tx, (params as { subject_id: string }).subject_id, (body as { band: string }).band),
    },
    problems: ['not_found', 'conflict', 'transition_not_allowed', 'erased', 'content_corrupt'],
  }).handle(async ({ tx, params, body, kernel, audit, request }) => {
    const before = await getRisk(tx, params.subject_id)
    const rating = await overrideRating(kernel, tx, params.subject_id, {
      ...body,
      cr_id: request.change_request_id ?? null,
    })
    const { band, expires_at, reason } = rating
    audit.recordHashes(null, rating)
    audit.recordPreview(toOverridePreview(before), { rating: band, override_expires_at: expires_at, reason })
    return rating
  }),

  tenantRoute('DELETE /subjects/:subject_id/risk-override', {
    id: 'deleteRiskOverride',
    summary: 'End the override; the latest rating is in force again',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['caches'],
    params: SubjectParams,
    query: OverrideEnd,
    reply: [204, null],
    governed,
    problems: ['not_found', 'conflict', 'erased', 'content_corrupt'],
  }).handle(async ({ tx, params, query, kernel, audit, request }) => {
    await assertKnownReasonCode(kernel, tx, query.reason_code, 'query')
    const subject = assertFound(await lockSubject(tx, params.subject_id))
    const { reason = 'Ended before its time.', reason_code } = query
    const before = await getRisk(tx, params.subject_id)
    const rating = await insertOverrideEnd(tx, uuidv7(), subject.subject_id, {
      reason,
      reason_code,
      cr_id: request.change_request_id,
    })
    if (!rating) return fail('not_found', 'There is no override in force.')
    audit.recordHashes(null, rating)
    audit.recordPreview(toOverridePreview(before), { rating: before.rating?.band ?? null, reason })
    return undefined
  }),
]
