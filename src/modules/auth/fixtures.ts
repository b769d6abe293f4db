/** Test fixtures of the auth router: one valid call per operation. */
import { type Fixtures, noInput } from '#test/support/operation-fixture.ts'

export const fixtures: Fixtures = {
  createToken: async (t) => ({ body: { api_key: (await t.key()).secret } }),
  revokeToken: () => ({ body: { token_id: '0190d7a0-5b1c-7c3e-9f2a-1b2c3d4e5f60', reason: 'Laptop lost' } }),
  getMe: noInput,
  getJwks: noInput,
  listSignInProviders: noInput,
  listDemoPeople: noInput,
  // The analyst of the first demo tenant of the seed.
  createDemoSession: () => ({
    body: { user_id: '00000000-0000-7000-8000-0000000d1002' },
  }),
  getPermission: () => ({ query: { method: 'GET', path: '/users' } }),
}
