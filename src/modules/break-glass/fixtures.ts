/** Test fixtures of the break-glass router: one valid call per operation. */
import { type Fixtures, noInput } from '#test/support/operation-fixture.ts'

export const fixtures: Fixtures = {
  listBreakGlassReviews: noInput,
  listBreakGlassInbox: noInput,
  getBreakGlassReview: async (t) => ({ params: { review_id: await t.newReview('compliance_officer') } }),
  acknowledgeBreakGlassReview: async (t, role) => ({ params: { review_id: await t.newReview(role) }, body: {} }),
}
