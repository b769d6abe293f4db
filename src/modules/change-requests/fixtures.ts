/** Test fixtures of the change-requests router: one valid call per operation. */
import type { Role } from '#kernel/auth/roles.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import type { Fixture, Fixtures } from '#test/support/operation-fixture.ts'

const createParams = async (t: ExampleTenant, role: Role) => ({ cr_id: await t.newChangeRequest(role) })

const withRequest: Fixture = async (t) => {
  await t.changeRequest()
  return {}
}

export const fixtures: Fixtures = {
  listChangeRequests: withRequest,
  listChangeRequestInbox: withRequest,
  getChangeRequest: async (t) => ({ params: { cr_id: await t.changeRequest() } }),
  listChangeRequestGates: async (t) => ({ params: { cr_id: await t.changeRequest() } }),
  approveChangeRequest: async (t, role) => ({ params: await createParams(t, role), body: {} }),
  rejectChangeRequest: async (t, role) => ({
    params: await createParams(t, role),
    body: { reason: 'The reason for the change is missing' },
  }),
  withdrawChangeRequest: async (t, role) => ({ params: await createParams(t, role), body: {}, principal: t.author }),
}
