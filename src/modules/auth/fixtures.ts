/** Test fixtures of the auth router: one valid call per operation. */
import { type Fixtures, noInput } from '#test/support/operation-fixture.ts'

export const fixtures: Fixtures = {
  createToken: async (t) => ({ body: { api_key: (await t.key()).secret } }),
  revokeToken: () => ({ body: { token_id: '0190d7a0-5b1c-7c3e-9f2a-1b2c3d4e5f60', reason: 'Laptop lost' } }),
  getMe: noInput,
  getJwks: noInput,
  listSignInProviders: noInput,
  getPermission: () => ({ query: { method: 'GET', path: '/users' } }),
}
