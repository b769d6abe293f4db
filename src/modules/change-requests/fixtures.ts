/** Test fixtures of the change-requests router: one valid call per operation. */
import type { Role } from '#kernel/auth/roles.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { type Fixtures, noInput } from '#test/support/operation-fixture.ts'

const createParams = async (t: ExampleTenant, role: Role) => ({ cr_id: await t.newChangeRequest(role) })

export const fixtures: Fixtures = {
  listChangeRequests: noInput,
  listChangeRequestInbox: noInput,
  getChangeRequest: async (t) => ({ params: { cr_id: await t.changeRequest() } }),
  listChangeRequestGates: async (t) => ({ params: { cr_id: await t.changeRequest() } }),
  approveChangeRequest: async (t, role) => ({ params: await createParams(t, role), body: {} }),
  rejectChangeRequest: async (t, role) => ({ params: await createParams(t, role), body: { reason: 'not now' } }),
  withdrawChangeRequest: async (t, role) => ({ params: await createParams(t, role), body: {}, principal: t.author }),
}
