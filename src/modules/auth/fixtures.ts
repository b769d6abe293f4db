/** Test fixtures of the auth router: one valid call per operation. */
import { type Fixtures, noInput } from '#test/support/operation-fixture.ts'

export const fixtures: Fixtures = {
  createToken: async (t) => ({ body: { api_key: (await t.key()).secret } }),
  revokeToken: () => ({ body: { token_id: 'a token of some issuer', reason: 'lost' } }),
  getMe: noInput,
  getJwks: noInput,
  listSignInProviders: noInput,
  getPermission: () => ({ query: { method: 'GET', path: '/users' } }),
}
