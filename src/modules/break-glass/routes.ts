/** Reviews of emergency changes: lists, an inbox for those who could have approved them, and acknowledgement. */
import { isPerson } from '#kernel/auth/principal.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { findReview, listReviews, lockReview, updateReviewAcknowledged } from './queries.ts'
import {
  Acknowledgement,
  BreakGlassReview,
  BreakGlassReviewPage,
  ReviewInboxQuery,
  ReviewParams,
  ReviewQuery,
} from './schema.ts'

const approvers = ['compliance_officer', 'tenant_admin'] as const

export const breakGlassRoutes = [
  tenantRoute('GET /break-glass-reviews', {
    id: 'listBreakGlassReviews',
    summary: 'Changes made in an emergency without approval, newest first',
    roles: [...approvers, 'auditor'],
    tx: 'one',
    uses: ['cursors'],
    query: ReviewQuery,
    reply: [200, BreakGlassReviewPage],
  }).handle(async (input) =>
    paginate(input, 'listBreakGlassReviews', ['created_at', 'review_id'], (after, count) =>
      listReviews(input.tx, { state: input.query.state ?? null, inbox_of: null }, after, count),
    ),
  ),

  tenantRoute('GET /break-glass-reviews/inbox', {
    id: 'listBreakGlassInbox',
    summary: 'Emergency changes by others that I could have approved and nobody has acknowledged yet',
    roles: approvers,
    tx: 'one',
    uses: ['cursors'],
    query: ReviewInboxQuery,
    reply: [200, BreakGlassReviewPage],
  }).handle(async (input) => {
    const { principal, roles } = input.actor
    return paginate(input, 'listBreakGlassInbox', ['created_at', 'review_id'], (after, count) =>
      listReviews(input.tx, { state: null, inbox_of: { principal, roles } }, after, count),
    )
  }),

  tenantRoute('GET /break-glass-reviews/:review_id', {
    id: 'getBreakGlassReview',
    summary: 'One emergency change: what was done, by whom and why, and who acknowledged it',
    roles: [...approvers, 'auditor'],
    tx: 'one',
    params: ReviewParams,
    reply: [200, BreakGlassReview],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => assertFound(await findReview(tx, params.review_id))),

  tenantRoute('POST /break-glass-reviews/:review_id/acknowledge', {
    id: 'acknowledgeBreakGlassReview',
    summary: 'Acknowledge an emergency change; removes it from every inbox',
    description: 'Only a person with the role that could have approved the change, other than the one who made it.',
    roles: approvers,
    tx: 'write',
    params: ReviewParams,
    body: Acknowledgement,
    reply: [200, BreakGlassReview],
    problems: ['not_found', 'transition_not_allowed', 'approval_own_request'],
  }).handle(async ({ tx, params, body, actor }) => {
    const review = assertFound(await lockReview(tx, params.review_id))
    if (review.state !== 'open')
      fail('transition_not_allowed', `${review.acknowledged_by} has acknowledged it already.`)
    if (actor.principal === review.created_by) {
      fail('approval_own_request', 'Nobody acknowledges an emergency change of their own; somebody else must.')
    }
    if (!isPerson(actor.principal)) fail('approval_own_request', 'Only a person acknowledges; API keys never do.')
    if (!(actor.roles as readonly string[]).includes(review.required_role)) {
      fail('role_required', `Acknowledging this needs the role ${review.required_role}.`)
    }
    return assertFound(await updateReviewAcknowledged(tx, review.review_id, body.note ?? null))
  }),
]
