/** Test fixtures of the break-glass router: one valid call per operation. */
import type { Fixture, Fixtures } from '#test/support/operation-fixture.ts'

const withReview: Fixture = async (t) => {
  await t.newReview('compliance_officer')
  return {}
}

export const fixtures: Fixtures = {
  listBreakGlassReviews: withReview,
  listBreakGlassInbox: withReview,
  getBreakGlassReview: async (t) => ({ params: { review_id: await t.newReview('compliance_officer') } }),
  acknowledgeBreakGlassReview: async (t, role) => ({ params: { review_id: await t.newReview(role) }, body: {} }),
}
